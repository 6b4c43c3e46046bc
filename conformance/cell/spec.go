package cell

// Users says whom the people in a cell are outside.
type Users string

// The kinds.
const (
	// Mapped: root and 65535 others, all of whom own nothing outside. For root.
	Mapped Users = "mapped"
	// Own: the caller alone, under its own number, without capabilities.
	Own Users = "own"
	// Real: root itself, with its capabilities. Only for scripts of harmless probes.
	Real Users = "real"
)

// Spec describes a cell.
type Spec struct {
	Users  Users
	Dir    string   // the directory that is the command's to write; empty at first
	Show   []string // paths of the host that are shown, read-only
	Decoys bool     // put harmless files over kernel settings, so that an attempt can be seen to work
	Argv   []string // the command; argv[0] is a path below Show or /usr
	Env    []string

	Outer string // the mount namespace of the caller, which must not be the cell's
	UID   int    // who the command is inside
	GID   int
	Count int // how many people there are
}

// Name is the word with which the program becomes the first process of a cell.
const Name = "cell"

// EnvInside is set for the command in a cell.
const EnvInside = "QSANDBOX_IN_CELL"

// Failed is the exit code of a cell that could not be made.
const Failed = 94
