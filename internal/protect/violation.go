package protect

// Change is how a protected entry differs from before the run.
type Change uint8

// The changes.
const (
	New     Change = iota // it was not there
	Changed               // another entry, or another content
	Gone                  // it was there; nothing is left to move
)

// String gives the word that reports use.
func (c Change) String() string { return [...]string{"new", "changed", "gone"}[c] }

// Violation is a protected entry that the run left new or changed.
type Violation struct {
	Path   string // real path
	Name   string // row of policy/protected.json
	Change Change
	Why    string // for people; quotes what comes from inside
	// Move asks for Quarantine. It is false for what is gone, and for a file that was
	// changed in place under a read-only item: that change came from outside the
	// sandbox (an editor of the user), unless the backend did not enforce the item.
	Move bool
}

// Moved says where Quarantine put an entry.
type Moved struct {
	From, To string
	Restore  string // the shell command that moves it back
}

// Meta is what a journal says about its run.
type Meta struct {
	RunID     string // [A-Za-z0-9._-]{1,128}
	Workspace string
}

// Journal is the record of a run that is going on.
type Journal struct {
	path string
}

// Record is the journal of a run whose launcher is dead.
type Record struct {
	Meta
	Found Found
	path  string
}

// Grant is what a linked worktree gets outside the workspace (FS-08). All paths are real paths.
type Grant struct {
	Writable []string // X, and of the common folder C: objects, refs, logs
	ReadOnly []string // inside Writable: X/commondir, X/gitdir, X/config.worktree
	Readable []string // C
	Create   []string // among Writable, missing folders to make before the start
	Roots    []string // to be given to Scan besides the workspace: X
	Notice   string   // why nothing is granted, or ""
}
