package spec

import (
	"path/filepath"
)

// dropGrants removes rules of our own that would show something below a place
// that the user has hidden: only the user's own entries lift the user's denials.
func (b *binder) dropGrants() {
	for path, r := range b.best {
		if r.Layer == BuiltIn && r.Access >= Read && b.hiddenByUser(path) {
			delete(b.best, path)
		}
	}
}

// hiddenByUser tells whether the nearest entry of the user above a path denies it.
func (b *binder) hiddenByUser(path string) bool {
	for p := filepath.Dir(path); ; p = filepath.Dir(p) {
		if r, ok := b.best[p]; ok && r.Layer == User {
			return r.Access == Deny
		}
		if filepath.Dir(p) == p {
			return false
		}
	}
}

// takeAway applies the rules that only take writing away. It comes last, when
// all else is known.
//
// SECURITY: such a rule counts only where the command could write. If it counted
// as a read rule everywhere, a workspace's denyWrite on ~/.ssh, or a protected
// name below a hidden directory, would show again what is hidden (POL-13).
func (b *binder) takeAway() {
	sortRules(b.limits)
	for _, r := range b.limits {
		if under, ok := longest(b.best, r.Path); ok && under.Access == Write {
			b.add(r)
		}
	}
	b.pinAbove()
}

// pinAbove pins the directories between a writable root and what is hidden or
// read-only in it. The root itself is a mount and cannot be moved.
//
// SECURITY: else "mv sub other" takes a read-only file away, so that another can
// be put in its place, and the next run finds the hidden one under a name that no
// rule knows (FS-02, FS-03). What a pattern hides is found again by the pattern.
func (b *binder) pinAbove() {
	var low []Rule
	for _, r := range b.best {
		if r.Mount && r.Access != Write && r.Kind != Missing && r.Kind != Socket && !(r.Found && r.Access == Deny) {
			low = append(low, r)
		}
	}
	for _, r := range low {
		for dir := filepath.Dir(r.Path); ; dir = filepath.Dir(dir) {
			under, ok := longest(b.best, dir)
			if !ok || under.Access != Write || under.Path == dir {
				break // a root, or pinned already with all above it
			}
			p, err := b.locate("pin", dir)
			if err != nil || p.Kind != Dir || p.Path != dir {
				break
			}
			p.Access, p.Layer, p.Origin, p.Mount, p.Pin = Write, under.Layer, "holds "+r.Origin, true, true
			b.best[dir] = p
		}
	}
}
