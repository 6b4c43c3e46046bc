package protect

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// Check walks again after the run and gives what is new or changed since Scan, in
// the order of paths. Of what lies in an entry that is to be moved nothing is told
// again. before may come from a Journal.
func Check(h host.Host, f Found) []Violation {
	b := newBefore(f)
	s := newSurvey(h, slices.Concat(f.Roots, f.Given, folders(h, f.Written)), f.Homes, f.Allow, f.Limits)
	s.before, s.f.Unwatched = b, f.Unwatched
	s.f.Limits.Heavy = f.Limits.Heavy && !f.Partial
	s.left = Limits{Dirs: 4 * f.Limits.Dirs, Entries: 4 * f.Limits.Entries} // for new folders; those of Scan are free
	if f.Partial {
		s.left = Limits{Dirs: f.Limits.Dirs / 2, Entries: f.Limits.Entries} // new ones cannot be told from others
	}
	s.heavy = Limits{Dirs: HeavyDirs, Entries: HeavyEntries}
	s.run()
	c := &checker{survey: s, before: b, now: map[string]bool{}}
	for _, list := range [][]Item{s.f.Items, s.f.Covered} {
		for _, it := range list {
			c.now[it.Path] = true
			c.item(it)
		}
	}
	c.gone()
	c.turned()
	c.ledAway()
	c.unseen()
	return topmost(c.out)
}

// folders gives those of the paths that are folders.
func folders(h host.Host, paths []string) (out []string) {
	for _, p := range paths {
		if fi, err := h.Lstat(p); err == nil && fi.IsDir() {
			out = append(out, p)
		}
	}
	return out
}

type checker struct {
	*survey
	before *before
	now    map[string]bool
	out    []Violation
}

func (c *checker) report(it Item, change Change, move bool, why string) {
	if c.written(it) {
		return
	}
	c.out = append(c.out, Violation{Path: it.Path, Name: it.Name, Change: change, Why: why, Move: move})
}

// written tells whether an entry of the user's names what is protected here, or a part
// of it: a longer path, and so what counts (FS-02). What is protected within it is not.
func (c *checker) written(it Item) bool {
	if it.Action == Watch || it.Name == "" {
		return false
	}
	name := it.Path
	if strings.HasSuffix(it.Name, "-hooks") && it.part == plain { // what is protected is the folder
		name = filepath.Dir(name)
	}
	return slices.ContainsFunc(c.before.Written, func(w string) bool { return within(w, it.Path) && within(name, w) })
}

// item compares one entry with what it was.
func (c *checker) item(it Item) {
	was := c.before.items[it.Path]
	known := was.Stamp != Stamp{}
	switch {
	case it.Stamp == Stamp{}, known && was.Stamp == it.Stamp && was.Target == it.Target:
		return
	case it.part == gitFolder:
		if known && !was.Stamp.same(it.Stamp) {
			c.report(it, Changed, false, "another folder stands in its place; its parts are looked at")
		}
		return
	case !known && it.repo != nil && c.before.states[it.Stamp]:
		return // a folder above was moved: what is in here is as it was
	case !known && !c.before.has(it.Path) && !c.before.isNew(it.Path, it.Stamp):
		return // there before, where Scan did not look
	}
	if it.part == plain || it.Action == Watch {
		c.plain(it, was, known)
		return
	}
	why, ok := c.judge(it, was)
	switch second := it.Links > max(was.Links, 1); {
	case ok && second && known: // no command can link what is mounted: the host did
		c.report(it, Changed, false, secondName)
		return
	case ok && second:
		why = secondName
	case ok:
		return
	}
	change := New
	if known {
		change = Changed
	}
	c.report(it, change, true, why)
}

// secondName is why a file in order is not left: a later command could change it by
// the name that no mount covers.
const secondName = "it has a second name, by which a later command could change it"

// plain takes an entry whose being there, or being another one, is the violation.
func (c *checker) plain(it, was Item, known bool) {
	switch {
	case !known:
		c.report(it, New, true, runs(it))
	case !was.Stamp.same(it.Stamp) || was.Target != it.Target:
		c.report(it, Changed, true, "another entry stands in its place; "+runs(it))
	default:
		c.report(it, Changed, false, "changed in place; "+runs(it))
	}
}

// judge looks at the content of a part of a git folder.
func (c *checker) judge(it, was Item) (why string, ok bool) {
	switch it.part {
	case hookFolder, farWorktree:
		return "", true // their entries are items too
	case pointer:
		return c.pointer(it)
	case configFile:
		return c.configFile(it, was)
	case commonFile:
		return c.commonFile(it)
	case placeFile:
		return c.placeFile(it)
	case todoFile:
		return c.todoFile(it, was)
	case strategyFile:
		return c.strategyFile(it)
	case optsFile:
		return c.optsFile(it)
	case applyFolder:
		return c.applyFolder(it)
	}
	return runs(it), false
}

// gone tells of a .git that is there no more. Other names may go: what is missing
// runs nothing.
func (c *checker) gone() {
	for _, it := range c.before.Items {
		if it.Name == "git-pointer" && folded(filepath.Base(it.Path)) == ".git" && !c.now[it.Path] {
			c.report(it, Gone, false, "it was there before the run")
		}
	}
}

// turned tells of what stands where a link led to something protected, or on the way
// to it. To replace the link is to replace that, wherever the name leads now.
func (c *checker) turned() {
	for _, it := range c.before.Items {
		if it.Action != Watch || it.Target == "" || c.now[it.Path] {
			continue
		}
		if e, there := c.entryAt(it.Path); there && e.Type()&fs.ModeSymlink == 0 {
			c.report(it, Changed, true, "it stands where a link was; "+runs(it))
		}
	}
}

// unseen tells of what could be looked at before and cannot be now.
func (c *checker) unseen() {
	for _, dir := range c.f.Hidden {
		fresh := !c.before.walked[dir] && c.before.isNew(dir, Stamp{})
		if !slices.Contains(c.before.Hidden, dir) && (fresh || c.before.walked[dir]) {
			c.report(Item{Path: dir}, Unseen, fresh, "it cannot be listed, so that anything may be in it")
		}
	}
	if c.unlisted > 0 && !c.before.Partial {
		for _, r := range c.f.Roots {
			c.report(Item{Path: r}, Unseen, false, fmt.Sprintf("the run left too many folders: %d in all roots were not looked at", c.unlisted))
		}
	}
}

// topmost sorts, and drops doubles and what is moved with a folder above it.
func topmost(list []Violation) []Violation {
	slices.SortStableFunc(list, func(a, b Violation) int { return strings.Compare(a.Path, b.Path) })
	var out []Violation
	moved := map[string]bool{}
	for i, v := range list {
		if i > 0 && list[i-1].Path == v.Path || movedAbove(moved, v.Path) {
			continue
		}
		out = append(out, v)
		if v.Move {
			moved[v.Path] = true
		}
	}
	return out
}

func movedAbove(moved map[string]bool, path string) bool {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if moved[dir] {
			return true
		}
	}
	return false
}
