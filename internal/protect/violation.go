package protect

// Change is how a protected entry differs from before the run.
type Change uint8

// The changes.
const (
	New     Change = iota // it was not there
	Changed               // another entry, or another content
	Gone                  // it was there; nothing is left to move
	Unseen                // it cannot be looked at any more
)

// String gives the word that reports use.
func (c Change) String() string { return [...]string{"new", "changed", "gone", "unseen"}[c] }

// Rule names what was broken, for reports. What cannot be listed has no row: anything
// may be in it.
func (v Violation) Rule() string {
	if v.Name == "" {
		return "protected names: not looked for"
	}
	return "protected: " + v.Name
}

// Violation is a protected entry that the run left new or changed.
type Violation struct {
	Path   string // real path
	Name   string // row of policy/protected.json; "" when Unseen
	Change Change
	Why    string // for people; quotes what comes from inside
	// Move asks for Quarantine. It is false for what is gone, and for a file that was
	// changed in place under a read-only item: that change came from outside the
	// sandbox (an editor of the user), unless the backend did not enforce the item.
	Move bool
}
