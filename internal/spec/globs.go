package spec

import (
	"fmt"
	slashpath "path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// A walk for globs is bounded: a sandbox that needs minutes to start is no use,
// and a tree can be made large on purpose.
const (
	walkEntries = 1_000_000
	walkTime    = 10 * time.Second
)

// glob is one pattern on its way to being expanded.
type glob struct {
	pattern string // absolute
	*policy.Glob
	access   Access
	layer    Layer
	origin   string
	contents *policy.Glob // of a denial that ends in "/**": the directory whose contents are meant
	takes    bool         // only takes writing away
	blocked  string       // of one that shows: a folder that it found, and that is hidden by an entry that is written down
	found    int
}

// globs expands the patterns of readable, denyRead and denyWrite over what exists
// now, one walk per base directory.
func (b *binder) globs() error {
	fs := b.eff.Policy.Filesystem
	shown, taken := map[string][]*glob{}, map[string][]*glob{}
	for _, set := range []struct {
		list    string
		entries []string
		access  Access
	}{{"filesystem.readable", fs.Readable, Read}, {"filesystem.denyRead", fs.DenyRead, Deny}, {"filesystem.denyWrite", fs.DenyWrite, Read}} {
		for i, e := range set.entries {
			if !policy.HasMeta(e) {
				continue
			}
			field := fmt.Sprintf("%s[%d]", set.list, i)
			for _, p := range b.anchor(e) {
				base, rest := policy.SplitBase(p)
				real, missing, err := realPath(b.h, base)
				if err != nil || missing {
					continue
				}
				g, err := newGlob(b.h, slashpath.Join(policy.EscapeLiteral(filepath.ToSlash(real)), rest), set.access, User, b.origin(set.list, e, field), set.list == "filesystem.denyWrite")
				if err != nil {
					return err
				}
				byBase := taken
				if set.list == "filesystem.readable" {
					byBase = shown
				}
				byBase[real] = append(byBase[real], g)
			}
		}
	}
	// SECURITY: what is shown comes first: the walk for what is hidden must go into it.
	for _, byBase := range []map[string][]*glob{shown, taken} {
		for base, list := range byBase {
			if err := b.walk(base, list); err != nil {
				return err
			}
		}
	}
	return nil
}

func newGlob(h host.Host, pattern string, a Access, l Layer, origin string, takes bool) (*glob, error) {
	compile := policy.Compile
	if (foldsCase(h.GOOS) || h.GOOS == "windows") && (a == Deny || takes) {
		compile = policy.CompileFold // SECURITY: what takes away counts in any case, what gives as it is written
	}
	compiled, err := compile(pattern)
	g := &glob{pattern: pattern, Glob: compiled, access: a, layer: l, origin: origin, takes: takes}
	if dir, ok := strings.CutSuffix(pattern, "/**"); ok && err == nil && a == Deny {
		g.contents, err = compile(dir)
	}
	return g, err
}

// anchor makes a pattern absolute. A relative one that starts with "**/" holds
// in every writable root, any other relative one in the workspace.
func (b *binder) anchor(e string) []string {
	if !strings.HasPrefix(e, "**/") {
		return []string{policy.Anchor(e, filepath.ToSlash(b.s.Workspace.Path), filepath.ToSlash(b.s.User.Home))}
	}
	var out []string
	for _, root := range b.given {
		out = append(out, policy.Anchor(e, filepath.ToSlash(root), filepath.ToSlash(b.s.User.Home)))
	}
	return out
}

// walk goes through one tree for several patterns. Links are not followed, and of a
// hidden directory only what a rule of the user shows in it is entered: nothing else
// below it can be seen.
func (b *binder) walk(base string, globs []*glob) error {
	w := &walker{b: b, globs: globs, deadline: time.Now().Add(walkTime), left: walkEntries, depth: depthOf(globs)}
	w.dir(base, 0)
	for _, g := range globs {
		b.s.Patterns = append(b.s.Patterns, Pattern{g.pattern, g.access, g.origin, g.found, g.Glob, g.takes})
	}
	if w.stopped == "" {
		return nil
	}
	why := "the walk below " + base + " stopped at " + w.stopped + "; what lies further is not covered by " + globs[0].origin
	if b.s.Policy.Mode == policy.Strict {
		return fault.New(fault.PolicyUnenforceable, "expand patterns below", base, why)
	}
	b.s.Rows = append(b.s.Rows, report.Enforcement{Requirement: "FS-03", Mechanism: "glob walk", Level: report.Advisory, Why: why})
	b.s.notice("glob:incomplete", why)
	return nil
}

// depthOf bounds how deep the walk must go: unbounded when any pattern has "**".
func depthOf(globs []*glob) int {
	deepest := 0
	for _, g := range globs {
		_, rest := policy.SplitBase(g.pattern)
		if strings.Contains(rest, "**") {
			return 1 << 20
		}
		deepest = max(deepest, strings.Count(rest, "/")+1)
	}
	return deepest
}

type walker struct {
	b        *binder
	globs    []*glob
	deadline time.Time
	left     int
	depth    int
	stopped  string
}

func (w *walker) dir(path string, depth int) {
	hidden := w.match(path, true)
	if depth >= w.depth {
		return
	}
	if hidden {
		w.shownBelow(path, depth)
		return
	}
	entries, err := w.b.h.ReadDir(path)
	if err != nil {
		return // what we cannot list, the command (with no more rights) cannot list either
	}
	for _, e := range entries {
		if w.left--; w.left <= 0 {
			w.stopped = fmt.Sprintf("%d entries", walkEntries)
		} else if w.left%1024 == 0 && time.Now().After(w.deadline) {
			w.stopped = walkTime.String()
		}
		if w.stopped != "" {
			return
		}
		p := filepath.Join(path, e.Name())
		switch {
		case e.IsDir():
			w.dir(p, depth+1)
		default:
			w.match(p, false)
		}
	}
}

// shownBelow enters what the user's own rules show again below a hidden directory.
//
// SECURITY: else a secret that a pattern names would be in sight there: of
// "denyRead: dir/**" with "writable: dir/sub", all that sub holds.
func (w *walker) shownBelow(hidden string, depth int) {
	var again []string
	for p, r := range w.b.best {
		if r.Layer == User && r.Access >= Read && r.Kind != Missing && p != hidden && Within(hidden, p) {
			again = append(again, p)
		}
	}
	sort.Slice(again, func(i, j int) bool { return PathLess(again[i], again[j]) })
	for i, p := range again {
		if i > 0 && Within(again[i-1], p) {
			again[i] = again[i-1] // the walk of the one above comes here, or hides it and asks again
			continue
		}
		below := depth + strings.Count(p[len(hidden):], string(filepath.Separator))
		if w.b.best[p].Kind == Dir {
			w.dir(p, below)
		} else {
			w.match(p, false)
		}
	}
}

// match adds a rule for a path that a pattern names; true when the path is
// hidden with everything below it. "dir/**" hides all contents of dir with one
// empty directory in its place instead of one mount for each.
func (w *walker) match(path string, isDir bool) bool {
	hidden, slashed := false, filepath.ToSlash(path) // patterns have forward slashes, on Windows too
	for _, g := range w.globs {
		empty := isDir && g.contents != nil && g.contents.Match(slashed)
		if !empty && !g.Match(slashed) || g.blocked != "" && Within(g.blocked, path) {
			continue
		}
		g.found++
		r, err := w.b.locate(g.origin, path)
		if err != nil || r.Kind == Missing || g.access >= Read && r.Path != path {
			continue // a link grants nothing: it may have been planted
		}
		r.Access, r.Layer, r.Origin, r.Mount, r.Empty, r.Found = g.access, g.layer, g.origin, true, empty, true
		if g.takes {
			w.b.limits = append(w.b.limits, r)
			continue
		}
		w.b.add(r)
		if g.access >= Read {
			// SECURITY: who hides a folder by name means what is in it, too: "data/**" shows
			// neither data/secret, hidden by name, nor what that holds.
			if isDir && w.b.best[r.Path].Access == Deny {
				g.blocked = path
			}
			continue
		}
		// SECURITY: a folder that is written down (the workspace, a writable root) stays in
		// sight; then what the pattern means lies in it, and is hidden piece by piece.
		hidden = hidden || isDir && w.b.best[r.Path].Access == Deny
	}
	return hidden
}
