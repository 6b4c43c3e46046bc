package protect

import (
	"io/fs"
	"path/filepath"
)

// gitFile is a .git file.
type gitFile struct {
	path   string
	target string // real path of the git folder it names, "" when there is none
}

// settle takes what the walk left for its end: where .git files lead, and worktrees.
func (s *survey) settle() {
	for i := 0; i < len(s.pointers) || len(s.trees) > 0; {
		if i < len(s.pointers) {
			p := s.pointers[i]
			i++
			s.point(p)
			continue
		}
		r := s.trees[0]
		s.trees = s.trees[1:]
		s.worktrees(r)
	}
}

// point reads a .git file. The git folder it names is one of ours if it lies in the roots.
func (s *survey) point(p *gitFile) {
	dir := filepath.Dir(p.path)
	name, err := readPointer(s.h, p.path)
	if err != nil {
		return
	}
	real, err := s.h.RealPath(absolute(dir, name))
	if err != nil || !s.inRoots(real) {
		return
	}
	p.target = real
	s.claimed[real] = true
	if filepath.Base(filepath.Dir(real)) == "worktrees" {
		common := filepath.Dir(filepath.Dir(real))
		if inner, ok := s.listInside(common); ok && s.inRoots(common) && s.looksLikeGit(inner) {
			r := s.repository(common, pointedRepo, "") // most often known by now
			r.tops = append(r.tops, dir)
			s.repository(real, treeRepo, common).tops = []string{dir}
			return
		}
	}
	r := s.repository(real, pointedRepo, "")
	r.tops = append(r.tops, dir)
}

// nearTrees is how many worktree folders of one repository are looked into to learn
// whether the worktree lies in the roots; for any more only the walk tells.
const nearTrees = 8

// worktrees takes the worktree folders of a repository. One whose worktree lies
// outside the roots is of no use inside, so that it is read-only as a whole: one
// mount instead of four, however many there are.
func (s *survey) worktrees(r *repo) {
	dir := join(r.path, "worktrees")
	entries, _ := s.listInside(dir)
	looked := 0
	for _, e := range entries {
		path := join(dir, e.Name())
		if !e.IsDir() {
			if e.Type()&fs.ModeSymlink != 0 {
				s.add(dir, e, Item{Name: "git-worktree-pointers"})
			}
			continue
		}
		if _, done := s.repos[path]; done {
			continue
		}
		looked++
		if s.claimed[path] || looked <= nearTrees || s.before != nil && !s.before.unchanged(path, e) {
			if t := s.repository(path, treeRepo, r.path); !t.covered {
				continue
			}
		}
		s.add(dir, e, Item{Name: "git-worktree-pointers", part: farWorktree})
	}
}

// farTree tells whether a worktree folder's worktree lies outside the roots.
func (s *survey) farTree(path string) bool {
	if s.claimed[path] {
		return false
	}
	place, err := readLine(s.h, join(path, "gitdir"))
	if err != nil {
		return true
	}
	return !s.inRoots(s.realOrMissing(absolute(path, place)))
}
