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
}
