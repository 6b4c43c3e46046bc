package protect

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// gitDirs bounds the folders listed inside git folders, apart from Limits: a tree
// with many folders must not keep us from looking at the repositories.
const gitDirs = 1024

// survey is one walk over the roots. Scan keeps what it finds as items; Check runs
// the same walk again and compares.
type survey struct {
	names
	h      host.Host
	f      Found
	before *before // nil in Scan
	queue  []job
	left   Limits // budget
	heavy  Limits // budget of new folders that tools fill
	leftIn int    // budget inside git folders

	listings map[string][]fs.DirEntry
	repos    map[string]*repo
	order    []*repo
	pointers []*gitFile
	trees    []*repo // repositories whose worktrees are still to be looked at
	claimed  map[string]bool
	global   []setting // of the user's and the machine's git config
	globalOK bool
	heavies  map[string]int
	tooDeep  int
	unlisted int
}

// job is a folder to be listed. fresh: it was made during the run.
type job struct {
	path  string
	depth int
	fresh bool
	heavy bool // in a folder that tools fill: repositories alone are looked for
}

// Scan finds the protected names that exist in the roots, which are real paths, as
// are the homes: home directories in which a root lies, or which lie in a root, or
// (for links from there into a root) any other of the user's. allow names rows of
// policy/protected.json that may be written after all.
//
// It changes nothing, follows no link in the tree without noting it, and is bounded
// by limits: what was not walked is in NotWalked.
func Scan(h host.Host, roots, homes, allow []string, limits Limits) Found {
	s := newSurvey(h, roots, homes, allow, limits.orDefault())
	s.run()
	s.pin()
	s.f.Items, s.f.Covered = sortItems(s.f.Items), sortItems(s.f.Covered)
	s.notes()
	s.f.Linked = secondNames(s.f)
	return s.f
}

func newSurvey(h host.Host, roots, homes, allow []string, limits Limits) *survey {
	return &survey{
		names: names{allow: allow}, h: h, left: limits, leftIn: gitDirs,
		f:        Found{Roots: outermost(roots), Given: nested(roots), Homes: homes, Allow: allow, Limits: limits, Since: now()},
		listings: map[string][]fs.DirEntry{}, repos: map[string]*repo{}, claimed: map[string]bool{}, heavies: map[string]int{},
	}
}

// outermost drops roots that lie in another one.
func outermost(roots []string) []string {
	var out []string
	for _, r := range roots {
		if !slices.ContainsFunc(roots, func(o string) bool { return strictly(o, r) }) && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// nested gives the roots that lie in another one.
func nested(roots []string) []string {
	outer := outermost(roots)
	return slices.DeleteFunc(slices.Clone(roots), func(r string) bool { return slices.Contains(outer, r) })
}

func (s *survey) run() {
	for _, r := range s.f.Roots {
		s.queue = append(s.queue, job{path: r})
	}
	for len(s.queue) > 0 {
		j := s.queue[0]
		s.queue = s.queue[1:]
		s.folder(j)
	}
	for _, home := range s.f.Homes {
		s.home(home)
	}
	s.settle()
	s.targets()
}

// folder looks at the entries of one folder.
func (s *survey) folder(j job) {
	entries, ok := s.listTree(j)
	if !ok {
		return
	}
	bare := s.looksLikeGit(entries)
	if bare {
		s.repository(j.path, bareRepo, "")
	}
	for _, e := range entries {
		name := e.Name()
		switch row, found := s.anywhere(j.path, name); {
		case folded(name) == ".git":
			s.dotGit(j.path, e)
		case found && !j.heavy && (!row.file || !e.IsDir()):
			s.row(j.path, e, row.name)
		case bare && gitInside(name, j.depth == 0):
		default:
			s.below(j, e)
		}
	}
}

// below queues a folder, or notes why it is not walked.
func (s *survey) below(j job, e fs.DirEntry) {
	name := e.Name()
	lead, leads := s.leads(j.path, name)
	if leads && e.Type()&fs.ModeSymlink != 0 {
		s.add(j.path, e, Item{Name: lead.name})
		return
	}
	if !e.IsDir() {
		return
	}
	path := join(j.path, name)
	fresh := j.fresh || s.before != nil && s.before.isNewFolder(j.path, path)
	tools := j.heavy || heavy(name) && !s.f.Limits.Heavy
	switch {
	case tools && !(fresh && s.newHeavy(path)):
		s.heavies[name]++
		s.f.Heavies = append(s.f.Heavies, path)
	// SECURITY: what is new is the command's work, and only the budget bounds its depth:
	// a folder that is left out for that is told (unseen), one that is too deep is not.
	case j.depth >= s.f.Limits.Depth && !leads && !fresh:
		s.tooDeep++
	default:
		s.queue = append(s.queue, job{path, j.depth + 1, fresh, tools})
	}
}

// newHeavy tells of a folder that tools fill whether the command made it.
//
// SECURITY: git on the host goes into a repository there when the index above names it
// as a submodule. Other protected names are used by who opens that very folder; packages
// bring many of them.
func (s *survey) newHeavy(path string) bool {
	return s.before != nil && !s.before.Partial && !slices.Contains(s.before.Heavies, path)
}

// row takes an entry that a row of policy/protected.json names. Links inside it that
// lead to other places in the roots are followed: the folder being read-only does
// not cover those.
func (s *survey) row(dir string, e fs.DirEntry, name string) {
	path := join(dir, e.Name())
	if _, in := s.rootOf(path); s.add(dir, e, Item{Name: name}) && e.IsDir() && in {
		s.linksIn(path, name, 2)
		s.givenIn(path)
	}
}

// givenIn queues the roots at or below a protected folder: they are writable all the
// same, so protected names in them are looked for.
func (s *survey) givenIn(path string) {
	for _, g := range s.f.Given {
		if root, ok := s.rootOf(g); ok && within(path, g) {
			s.queue = append(s.queue, job{path: g, depth: strings.Count(slashed(g[len(root):]), "/")})
		}
	}
}

func (s *survey) linksIn(dir, name string, depth int) {
	entries, ok := s.listInside(dir)
	if !ok {
		return
	}
	for _, e := range entries {
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			s.follow(join(dir, e.Name()), Item{Name: name})
		case e.IsDir() && depth > 1:
			s.linksIn(join(dir, e.Name()), name, depth-1)
		}
	}
}

// rootOf gives the root that a path lies strictly inside.
func (s *survey) rootOf(path string) (string, bool) {
	for _, r := range s.f.Roots {
		if strictly(r, path) {
			return r, true
		}
	}
	return "", false
}

// inRoots tells whether a path is a root or lies in one.
func (s *survey) inRoots(path string) bool {
	return slices.ContainsFunc(s.f.Roots, func(r string) bool { return within(r, path) })
}

// pin adds each folder between an item and its root: if it could be renamed, the
// item could be replaced by way of it.
func (s *survey) pin() {
	seen := map[string]bool{}
	for _, it := range s.f.Items {
		root, ok := s.rootOf(it.Path)
		if it.Action == Watch || !ok {
			continue
		}
		for dir := filepath.Dir(it.Path); dir != root && !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			if e, ok := s.entryAt(dir); ok && e.IsDir() {
				if fi, err := e.Info(); err == nil {
					s.f.Items = append(s.f.Items, Item{Path: dir, Name: it.Name, Action: Pin, Dir: true, Stamp: stampOf(dir, fi)})
				}
			}
		}
	}
}

// notes says in words what was not walked.
func (s *survey) notes() {
	note := func(format string, args ...any) { s.f.NotWalked = append(s.f.NotWalked, fmt.Sprintf(format, args...)) }
	if s.tooDeep > 0 {
		note("%d folders more than %d below a writable root", s.tooDeep, s.f.Limits.Depth)
	}
	if s.unlisted > 0 {
		note("%d folders, after %d were listed", s.unlisted, len(s.f.Walked))
	}
	var heavies []string
	for name, n := range s.heavies {
		heavies = append(heavies, fmt.Sprintf("%d of the name %s", n, name))
	}
	sort.Strings(heavies)
	s.f.NotWalked = append(s.f.NotWalked, heavies...)
	for _, dir := range s.f.Hidden {
		note("%q, which cannot be listed", dir)
	}
}

// secondNames finds the protected files that have a name which is not protected.
//
// SECURITY: the read-only mount is on the names that we know. By another one in a
// writable place the same file can be written.
func secondNames(f Found) (out []string) {
	names := map[Stamp]uint64{}
	for _, list := range [][]Item{f.Items, f.Covered} {
		for _, it := range list {
			if it.Links > 1 {
				names[it.Stamp]++
			}
		}
	}
	for _, it := range f.Items {
		if it.Links > 1 && names[it.Stamp] < it.Links {
			out = append(out, it.Path)
		}
	}
	return out
}
