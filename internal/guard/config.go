package guard

// Config says what a Guard watches over. A command that may mount (exec.nested) cannot
// be watched: it can give every path another name.
type Config struct {
	Roots  []string // writable roots: real paths, the same inside and outside
	Given  []string // writable entries of the user's below a root: what they name is no protected name by being there
	Homes  []string // home directories, for rows of scope home
	Allow  []string // rows of policy/protected.json that are not protected (filesystem.allowProtected)
	Places []string // where names may be made at all, Roots included; empty: wherever the mounts let them
	User   *User    // nil: the caller's own ids

	// Watched are real paths that no mount can keep, with their rows: what protected links
	// and git settings lead to that is not there, and links on the way. Neither they nor
	// anything below them comes to be.
	Watched map[string]string

	// Protected, if set, is asked too, for paths relative to a root.
	Protected func(rel string) (rule string, bad bool)
	// OnDenied, if set, is told of each refusal, one at a time. It may block: of a
	// flood, refusals that find the queue full are only counted.
	OnDenied func(Denial)
}

// User is the identity of the command where it is not the launcher's (--user).
type User struct {
	UID, GID int
	Groups   []int
}

// Denial is one refused call.
type Denial struct {
	Op   string // the system call
	Path string // absolute, as seen inside; where the kernel does not tell the folder, words in brackets for it
	Rule string // row of policy/protected.json, or "places"
}
