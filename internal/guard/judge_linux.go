//go:build amd64 || arm64

package guard

import (
	"strings"

	"golang.org/x/sys/unix"
)

// made is what a call would make of a name.
type made uint8

const (
	madeFile made = iota // a file, FIFO or socket
	madeFolder
	madeLink // a symbolic link
	moved    // nothing: what is there goes away
	linked   // nothing: what is there gets a second name
)

// verdict is a decision with its reason. Where opens is set, the folder that is made
// is a new git folder and remembered as one.
type verdict struct {
	decision decision
	rule     string
	dir      string // real path of the directory
	opens    bool
}

// judge decides about one name. The directory's lock must be held: its path holds
// good only as long as nothing is renamed.
func (c *call) judge(p *place, what made) (verdict, unix.Errno) {
	dir, e := c.w.path(p.fd)
	if e == unix.ENAMETOOLONG {
		dir, e = tooDeep, 0
	}
	if e != 0 {
		return verdict{}, e
	}
	if p.tree.proc {
		if _, e := c.mayTouch(p.fd); e != 0 {
			return verdict{}, e
		}
	}
	v := c.judgeAt(p, joined(dir, p.bare()), what)
	v.dir = dir
	return v, 0
}

// tooDeep stands for a directory whose path is longer than the kernel tells.
const tooDeep = "/\x00"

// deepRule decides by the last part alone: every name is refused that is a protected
// one in some folder, or a folder that holds protected ones. Such a folder could be
// moved to a shorter path inside another one, where nobody looks into it any more.
func (g *Guard) deepRule(path string) (rule string, bad bool) {
	base, deep := strings.CutPrefix(path, tooDeep+"/")
	if !deep {
		return "", false
	}
	base = g.names.folded(base)
	for _, above := range [][]string{{}, {".git"}, {".git", "rebase-merge"}} {
		if git := gitOf(append(above, base), 0); git.row != "" {
			return git.row, true
		}
	}
	if rules := g.names.rules[base]; len(rules) > 0 {
		return rules[0].row, true
	}
	for _, r := range g.names.leads[base] {
		if !r.home {
			return r.row, true
		}
	}
	return g.names.match(relPath{parts: []string{base}}, relPath{})
}

// judgeAt decides by the real path.
func (c *call) judgeAt(p *place, path string, what made) verdict {
	if p.special() {
		return verdict{decision: allow} // the kernel refuses, with its own error
	}
	if !c.g.inPlaces(path) && what != linked {
		return verdict{rule: "places"}
	}
	if rule, bad := c.g.deepRule(path); bad {
		return verdict{rule: rule}
	}
	out := verdict{decision: allow}
	for _, root := range c.g.rootsOf(path) {
		v := c.judgeIn(p, root, path, what)
		out.opens = out.opens || v.opens
		if v.decision < out.decision {
			out.decision, out.rule = v.decision, v.rule
		}
	}
	if what == linked && out.decision == record { // by a second name a later run could change it
		return verdict{rule: out.rule}
	}
	return out
}

// judgeIn decides for one writable root. docs/adr/0003-create-supervisor.md has it
// as a table.
func (c *call) judgeIn(p *place, root, path string, what made) verdict {
	g := c.g
	rel := below(root, path)
	in, home := g.inRoot(root, path), g.inHome(path)
	if g.cfg.Protected != nil {
		if rule, bad := g.cfg.Protected(rel); bad {
			return verdict{rule: rule}
		}
	}
	if row, ok := g.watched(path); ok && what != moved && what != linked {
		return verdict{rule: row}
	}
	if row, ok := g.names.match(in, home); ok {
		return verdict{rule: row}
	}
	// By the whole path: a root may lie inside a git folder (FS-08).
	git := gitOf(strings.Split(g.names.folded(path[1:]), "/"), g.cfg.givenParts(path))
	if git.row != "" && g.names.allow[git.row] {
		return verdict{decision: allow, opens: git.opens}
	}
	if what == madeLink && (git.class == gitPointer || git.class == gitFolder || g.names.lead(in.parts, home.parts)) {
		return c.ofGit(p, git, "link-to-protected")
	}
	switch git.class {
	case gitPointer:
		return c.pointer(p, git, what)
	case gitPart:
		if git.opens && what == madeFolder { // rebase-apply, by git am
			return verdict{decision: record, rule: git.row, opens: true}
		}
		return c.ofGit(p, git, git.row)
	}
	return verdict{decision: allow, opens: git.opens}
}

// watched gives the row of a path that is watched, or lies below one that is.
func (g *Guard) watched(path string) (row string, ok bool) {
	path = g.names.folded(path)
	for w, row := range g.cfg.Watched {
		if within(g.names.folded(w), path) {
			return row, true
		}
	}
	return "", false
}

// pointer decides about .git itself. A new folder is a new repository and a new file
// leads to one: both are judged by content after the run. What was there stays.
func (c *call) pointer(p *place, git gitPath, what made) verdict {
	if what == moved || what == linked {
		if id, ok := identity(p.fd, p.bare(), 0); ok && !c.g.fresh.has(id) {
			return verdict{rule: git.row}
		}
	}
	return verdict{decision: record, rule: git.row, opens: true}
}

// ofGit decides about the inside of a git folder: in one that was made in this run
// everything may be made, and is judged by content after it; in others nothing.
func (c *call) ofGit(p *place, git gitPath, rule string) verdict {
	if git.class != gitPointer && c.inFresh(p.fd, git.above) {
		return verdict{decision: record, rule: rule, opens: git.opens}
	}
	return verdict{rule: rule}
}

// inFresh tells whether one of the folders from fd up to the git folder was made in
// this run.
func (c *call) inFresh(fd, above int) bool {
	for n := 0; n < above; n++ {
		id, ok := identity(fd, "", unix.AT_EMPTY_PATH)
		if ok && c.g.fresh.has(id) {
			return true
		}
		var e unix.Errno
		if fd, e = openat(fd, "..", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); e != 0 {
			return false
		}
		c.hold(fd)
	}
	return false
}

// rootsOf gives the writable roots that a path lies in.
func (g *Guard) rootsOf(path string) []string { return g.cfg.rootsOf(path) }

// inPlaces stands in for the command's Landlock domain, which a worker does not have.
func (g *Guard) inPlaces(path string) bool {
	if len(g.cfg.Places) == 0 || strings.HasPrefix(path, tooDeep) { // too deep to tell: the mounts hold
		return true
	}
	for _, p := range g.cfg.Places {
		if within(p, path) {
			return true
		}
	}
	for _, r := range g.cfg.Roots {
		if within(r, path) {
			return true
		}
	}
	return false
}

// inRoot gives a path relative to a root.
func (g *Guard) inRoot(root, path string) relPath { return g.cfg.inRoot(g.names, root, path) }

// inHome gives a path relative to the innermost home directory that it lies in.
func (g *Guard) inHome(path string) relPath { return g.cfg.inHome(g.names, path) }
