// Package plan is the spec in one backend's own words: ordered, typed
// operations, the argument vector, the environment, and a row per requirement
// that says how it is kept. A plan is data; it is never a shell string.
package plan

import (
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Plan is what a backend will do. It is made by Backend.Compile and carried out by package launch.
type Plan struct {
	Backend     string
	Mode        string
	Exe         string   // the command's program, absolute
	Argv        []string // the command
	Env         []string
	Cwd         string
	User        spec.Identity
	Stdin       spec.StdinMode
	TTY         bool
	Isolation   Isolation
	Create      []string // missing directories that are made before the start
	Mounts      []Mount  // general before special
	Outer       *Outer   // a program of the system that builds the sandbox (bwrap, sandbox-exec), or nil
	Profile     *Profile // of macOS, or nil
	Seccomp     []byte   // struct sock_filter array, or nil
	Landlock    *Landlock
	Supervised  bool // calls that create names go to a supervisor in the launcher (FS-04)
	Limits      Limits
	Kernel      Kernel
	Enforcement []report.Enforcement
	Notices     []report.Notice
}

// Isolation says which namespaces are made.
type Isolation struct {
	User, Mount, PID, UTS, IPC, Cgroup, Net bool
	PrivateMounts                           bool // nothing mounted on the host later appears inside (LNX-11)
	Direct                                  bool // no isolation at all: permissive and none
}

// MountKind is what a mount operation does.
type MountKind string

// The operations. All destinations are absolute and free of links.
const (
	RootHost  MountKind = "root-host"  // the host's whole tree becomes the root
	RootEmpty MountKind = "root-empty" // an empty root, to be filled
	Bind      MountKind = "bind"       // a path of the host, recursively
	Tmpfs     MountKind = "tmpfs"      // a fresh file system in memory
	HideFile  MountKind = "hide-file"  // a file that cannot be opened
	HideDir   MountKind = "hide-dir"   // a directory in which there is nothing
	Dev       MountKind = "dev"        // a private /dev
	Proc      MountKind = "proc"       // a private /proc, kernel settings read-only
	Symlink   MountKind = "symlink"    // a link in an empty root
	Seal      MountKind = "seal"       // makes a fresh file system read-only, after it was filled
)

// Mount is one operation of the file-system set-up.
type Mount struct {
	Kind     MountKind
	Src      string // for Bind: path on the host
	Dst      string
	ID       spec.ID // for Bind and Hide*: what must stand there (FS-06)
	Dir      bool    // what stands there is a directory
	ReadOnly bool
	Make     bool   // the place to mount on must be made first: it lies in a fresh file system
	Size     int64  // Tmpfs: bytes, 0 is the kernel's default (half of memory)
	Mode     uint32 // Tmpfs, HideDir: permission bits
	Target   string // Symlink: where to
	Origin   string // the rule behind it
}

// Outer is a program that builds the sandbox, with its arguments.
type Outer struct {
	Program string
	Args    []OuterArg
	ByFD    bool // arguments are handed over by a descriptor, not on the process list
}

// Profile is a sandbox profile of macOS. Tmp, Run, Dir and TTY are the names of
// parameters that the launcher fills in with the places it makes for the run: the
// private temporary directory, that of the profile, the one that holds both, and
// the command's terminal.
type Profile struct {
	Text               string
	Tmp, Run, Dir, TTY string
}

// OuterArg is one argument. With Open set it stands for the number of a
// descriptor that the launcher opens on that path, checked against ID.
type OuterArg struct {
	Text string
	Open string
	ID   spec.ID
}

// Limits in the plan's words. Zero means none, except Core.
type Limits struct {
	Timeout   time.Duration
	Grace     time.Duration
	Memory    int64
	Processes int
	CPUs      float64
	Output    int64
	Tmp       int64
	How       Mechanisms
}

// Mechanisms says what keeps each limit.
type Mechanisms struct {
	PidMax    bool              // kernel.pid_max of the pid namespace
	NProc     bool              // RLIMIT_NPROC in a user namespace
	Data      bool              // RLIMIT_DATA
	CgroupDir map[string]string // controller -> parent directory
	CgroupVer int
	Group     string // name of the group: the run's, so that the run's record leads to it after a crash (FS-07)
}

// Landlock is a ruleset in the words of internal/landlock.
type Landlock struct {
	ABI    int
	Attr   []byte         // struct landlock_ruleset_attr
	Rules  []LandlockRule // may be empty: a ruleset with scopes only
	Makes  []string       // the directories in which it lets names be made
	Scoped uint64
}

// LandlockRule allows Access beneath Path.
type LandlockRule struct {
	Path   string
	Access uint64
}

// Kernel is what the launcher needs to know of the kernel.
type Kernel struct {
	UIDMap, GIDMap []IDRange // identity maps to write, inside == outside
}

// IDRange is a run of ids.
type IDRange struct{ First, Size int }
