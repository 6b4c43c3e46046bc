package protect

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// repoKind is how a git folder was met. It decides what its parts may say.
type repoKind uint8

const (
	dotGitRepo  repoKind = iota
	bareRepo             // looks like one; git uses it wherever it stands
	moduleRepo           // .git/modules/<name>
	treeRepo             // .git/worktrees/<name>
	pointedRepo          // a .git file names it
)

// repo is one git folder.
type repo struct {
	path     string
	kind     repoKind
	common   string    // of treeRepo: the repository it belongs to
	covered  bool      // read-only as a whole: its parts need no mounts
	settings []setting // of config, config.worktree and what they include
	tops     []string  // folders of its working trees, from which relative settings are taken
}

// looksLikeGit is git's own rule (setup.c: is_git_directory), from names alone:
// what is inside HEAD does not matter here, as it can be changed later.
func (n names) looksLikeGit(entries []fs.DirEntry) bool {
	var head, objects, refs, common bool
	for _, e := range entries {
		switch name := folded(e.Name()); {
		case name == "head":
			head = true
		case name == "objects":
			objects = true
		case name == "refs":
			refs = true
		case name == "commondir":
			common = true
		}
	}
	return head && (objects && refs || common)
}

// gitInside tells whether the walk leaves out a folder of a bare repository. In a
// root it leaves out only what git itself fills: the names may be there to hide others.
func gitInside(name string, isRoot bool) bool {
	switch name {
	case "objects", "refs":
		return true
	case "logs", "hooks", "modules", "worktrees", "lfs", "rebase-merge", "rebase-apply":
		return !isRoot
	}
	return false
}

// dotGit takes an entry named .git: the folder is pinned, the file is read-only.
func (s *survey) dotGit(dir string, e fs.DirEntry) {
	it := Item{Name: "git-pointer"}
	path := join(dir, e.Name())
	switch {
	case e.IsDir():
		it.Action, it.part = Pin, gitFolder
		s.repository(path, dotGitRepo, "")
	case e.Type()&fs.ModeSymlink != 0:
		if real, err := s.h.RealPath(path); err == nil && s.inRoots(real) {
			s.repository(real, dotGitRepo, "")
		}
		s.follow(path, it)
		return
	case e.Type().IsRegular():
		it.part = pointer
		s.pointers = append(s.pointers, &gitFile{path: path})
	}
	s.add(dir, e, it)
}

// repository takes the parts of a git folder that exist.
func (s *survey) repository(path string, kind repoKind, common string) *repo {
	if r, done := s.repos[path]; done {
		return r
	}
	r := &repo{path: path, kind: kind, common: common}
	if kind == treeRepo {
		r.covered = s.farTree(path)
	}
	s.repos[path], s.order = r, append(s.order, r)
	entries, _ := s.listInside(path)
	for _, e := range entries {
		s.partOf(r, e)
	}
	return r
}

// partOf takes one entry of a git folder.
func (s *survey) partOf(r *repo, e fs.DirEntry) {
	it := Item{repo: r, Name: r.row("git-config")}
	name := folded(e.Name())
	path := join(r.path, e.Name())
	switch name {
	case "hooks":
		it.Name = r.row("git-hooks")
		s.hooks(r.path, e, it)
	case "config", "config.worktree":
		if name == "config.worktree" {
			it.Name = r.row("git-config-worktree")
		}
		s.config(r, e, it)
	case "commondir":
		it.Name, it.part = r.row("git-commondir"), commonFile
		s.add(r.path, e, it)
	case "gitdir":
		it.Name, it.part = r.row("git-gitdir"), placeFile
		s.add(r.path, e, it)
	case "rebase-apply":
		it.Name, it.part = "git-rebase-apply", applyFolder
		s.add(r.path, e, it)
	case "remotes", "branches":
		it.Name = "git-remotes"
		s.hooks(r.path, e, it)
	case "rebase-merge", "sequencer", "modules", "worktrees":
		if !e.IsDir() {
			s.add(r.path, e, it) // a link, where git makes a folder
			return
		}
		switch name {
		case "rebase-merge", "sequencer":
			s.interrupted(r, path)
		case "modules":
			s.modules(path, 0)
		case "worktrees":
			s.trees = append(s.trees, r)
		}
	}
}

// row gives the name of the row for a part of this kind of git folder.
func (r *repo) row(name string) string {
	switch {
	case r.kind == moduleRepo && name == "git-hooks":
		return "git-module-hooks"
	case r.kind == moduleRepo && strings.HasPrefix(name, "git-"):
		return "git-module-config"
	case r.kind == treeRepo && name != "git-hooks" && name != "git-config":
		return "git-worktree-pointers"
	}
	return name
}

// hooks takes a folder of hooks. Its entries are covered by the folder; those that
// git would run are remembered, so that Check tells old from new.
func (s *survey) hooks(dir string, e fs.DirEntry, it Item) {
	it.part = hookFolder
	if !s.add(dir, e, it) || !e.IsDir() || s.allowed(it.Name) {
		return
	}
	s.hookEntries(join(dir, e.Name()), it)
}

func (s *survey) hookEntries(dir string, it Item) {
	entries, _ := s.listInside(dir)
	for _, h := range entries {
		if h.Type()&fs.ModeSymlink != 0 {
			s.follow(join(dir, h.Name()), Item{Name: it.Name}) // often to a file of the worktree
			continue
		}
		if it.Name != "git-remotes" && (strings.HasSuffix(h.Name(), ".sample") || strings.HasSuffix(h.Name(), ".lock")) || len(s.f.Covered) > 4*DefaultEntries {
			continue
		}
		if fi, err := h.Info(); err == nil {
			s.f.Covered = append(s.f.Covered, Item{Path: join(dir, h.Name()), Name: it.Name, Stamp: stampOf(join(dir, h.Name()), fi), repo: it.repo})
		}
	}
}

// interrupted takes what git goes on with after a stop: of a rebase, and of a sequence
// of picks or reverts (sequencer.c).
func (s *survey) interrupted(r *repo, dir string) {
	entries, _ := s.listInside(dir)
	for _, e := range entries {
		it := Item{Name: "git-rebase-todo", repo: r}
		if folded(filepath.Base(dir)) == "sequencer" {
			it.Name = "git-sequencer"
		}
		switch folded(e.Name()) {
		case "git-rebase-todo", "git-rebase-todo.backup", "todo":
			it.part = todoFile
			if data, err := s.h.ReadFile(join(dir, e.Name()), configMax); err == nil {
				for _, line := range execLines(data) {
					it.Known = append(it.Known, hashLine(line))
				}
			}
		case "strategy":
			it.part = strategyFile
		case "opts":
			it.part = optsFile
		default:
			continue
		}
		s.add(dir, e, it)
	}
}

// modules finds the git folders of submodules; a name may have slashes.
func (s *survey) modules(dir string, depth int) {
	entries, _ := s.listInside(dir)
	for _, e := range entries {
		path := join(dir, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			s.add(dir, e, Item{Name: "git-module-config"})
			continue
		}
		if !e.IsDir() {
			continue
		}
		inner, ok := s.listInside(path)
		switch {
		case !ok:
		case s.looksLikeGit(inner):
			s.repository(path, moduleRepo, "")
		case depth < 16:
			s.modules(path, depth+1)
		default:
			s.add(dir, e, Item{Name: "git-module-config"}) // read-only as a whole
		}
	}
}
