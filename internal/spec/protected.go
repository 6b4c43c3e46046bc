package spec

import (
	"path/filepath"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/protect"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// worktree opens the git folder of a linked worktree, when the pointer is
// confirmed from both sides (FS-08).
func (b *binder) worktree() error {
	if !b.s.Isolated() {
		return nil
	}
	g, err := protect.Worktree(b.h, b.s.Workspace.Path)
	if err != nil {
		return err
	}
	if g.Notice != "" {
		b.s.notice("worktree:refused", g.Notice)
	}
	const origin = "git folder of the linked worktree"
	for _, p := range g.Readable {
		b.addPath(p, Read, BuiltIn, origin)
	}
	for _, p := range g.Writable {
		r, err := b.locate(origin, p)
		if err != nil || r.Path != p {
			continue // a link put there since: it grants nothing
		}
		r.Access, r.Origin, r.Mount, r.Create = Write, origin, true, r.Kind == Missing
		b.add(r)
	}
	for _, p := range g.ReadOnly {
		b.addPath(p, Read, BuiltIn, origin)
	}
	b.gitRoots = g.Roots
	return nil
}

// protected makes what runs later on the host read-only, and pins the
// directories above it (FS-04).
func (b *binder) protected() error {
	if !b.s.Isolated() {
		return nil
	}
	var roots []string
	for _, r := range b.roots {
		// SECURITY: one that is not there is made for the command, and what comes to be in it
		// is looked at like all else.
		if r.Kind == Dir || r.Create {
			roots = append(roots, r.Path)
		}
	}
	roots = append(roots, b.gitRoots...)
	b.s.Protected = protect.Scan(b.h, roots, b.realHomes(), b.eff.Policy.Filesystem.AllowProtected, b.walkLimits())
	if r, err := b.locate("cache", CacheRoot(b.h)); err == nil && CacheRoot(b.h) != "" {
		b.s.Protected.Unwatched = []string{r.Path}
	}
	for _, r := range b.roots[1:] { // a workspace in a git folder makes nothing in it the user's entry
		b.s.Protected.Written = append(b.s.Protected.Written, r.Path)
	}
	for _, it := range b.s.Protected.Items {
		if it.Action == protect.Watch {
			continue
		}
		r, err := b.locate("protected", it.Path)
		if err != nil || r.Kind == Missing || r.Path != it.Path {
			continue // gone or replaced since: Check will tell
		}
		r.Access, r.Origin, r.Mount = Read, "protected: "+it.Name, true
		if it.Action == protect.Pin {
			r.Access, r.Pin = Write, true
		}
		b.limits = append(b.limits, r)
	}
	if n := b.s.Protected.NotWalked; len(n) > 0 {
		b.s.notice("protected:not-walked", "protected names were not looked for in: "+strings.Join(n, "; "))
	}
	if l := b.s.Protected.Linked; len(l) > 0 {
		b.s.notice("protected:linked", "protected files have a second name (hard link), by which a command may change them: "+strings.Join(l, "; ")+"; cp FILE NEW && mv NEW FILE parts them")
	}
	return nil
}

// walkLimits bounds the walk for protected names. Strict takes the time to look at
// whole projects: it refuses to start where something was not looked at.
func (b *binder) walkLimits() protect.Limits {
	if b.s.Policy.Mode == policy.Strict {
		return protect.Limits{Depth: protect.HeavyDepth, Dirs: protect.HeavyDirs, Entries: protect.HeavyEntries, Heavy: true}
	}
	return protect.Limits{}
}

// realHomes gives the home directories by their real paths.
func (b *binder) realHomes() []string {
	var out []string
	for _, h := range b.homes {
		if real, err := b.h.RealPath(filepath.Clean(h)); err == nil {
			out = appendUnique(out, real)
		}
	}
	return out
}
