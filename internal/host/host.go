// Package host is the only reader of the machine: its system, paths, links,
// environment and kernel features. Everything else gets a Host and can be
// tested with a fake one.
package host

import (
	"io/fs"
	"os"
	"time"
)

// Host is a view of one machine. Its functions must be safe for concurrent use.
type Host struct {
	GOOS   string
	GOARCH string
	User   User // who the launcher runs as

	Lookup  func(key string) (string, bool) // environment
	Environ func() []string
	Getwd   func() (string, error)

	Stat     func(path string) (Info, error)             // follows links
	Lstat    func(path string) (Info, error)             // does not
	Exists   func(path string) bool                      // Lstat without an answer
	Readlink func(path string) (string, error)           //
	RealPath func(path string) (string, error)           // every link resolved; the path must exist
	ReadDir  func(path string) ([]fs.DirEntry, error)    // unsorted
	Names    func(path string) ([]string, error)         // of a directory, unsorted
	ReadFile func(path string, max int) ([]byte, error)  // regular files only: no link as last part, no FIFO, bounded (FS-10)
	Writable func(path string) bool                      // may this process write there (access(2))
	UserByID func(name string) (User, error)             // by name or decimal id
	Sockets  func() ([]string, error)                    // paths of listening AF_UNIX sockets
	Kernel   func() Kernel                               // features; read once
	Cgroup   func() CgroupState                          // controllers that can be used; read once, and only when asked for
	Within   func(d time.Duration, f func() error) error // runs f, gives ErrTimeout when it does not return in time (LNX-12)
}

// User is an account.
type User struct {
	UID, GID int
	Groups   []int
	Name     string
	Home     string // from the account database
	Shell    string
}

// Info is what Stat and Lstat give.
type Info struct {
	Dev, Ino uint64 // identity; zero where the system has none
	Mode     fs.FileMode
	UID      int
	Nlink    uint64
	Size     int64
	Modified time.Time // of the contents
	Changed  time.Time // of the entry itself (ctime); zero where the system has none
}

// IsDir, IsLink, IsSocket tell the type.
func (i Info) IsDir() bool    { return i.Mode.IsDir() }
func (i Info) IsLink() bool   { return i.Mode&fs.ModeSymlink != 0 }
func (i Info) IsSocket() bool { return i.Mode&fs.ModeSocket != 0 }

// Kernel is what the kernel offers. Off Linux only Release is set.
type Kernel struct {
	Release     string // uname -r
	LandlockABI int    // 0: none
	LandlockWhy string // why none: not built in, not in the lsm= list …
	Seccomp     bool
	Notify      bool   // calls can be handed to a supervisor, and wait for it uninterrupted (Linux 5.19)
	UserNS      Tri    // may this process make user namespaces
	UserNSWhy   string // the gate that is shut, and its remedy
	UserNSFix   string
	PidMaxNS    bool      // kernel.pid_max is per pid namespace (Linux 6.14)
	IDMap       []IDRange // /proc/self/uid_map, for identity maps
	GIDMap      []IDRange // /proc/self/gid_map
}

// IDRange is one line of an id map: inside ids [Inside, Inside+Size).
type IDRange struct{ Inside, Outside, Size int }

// CgroupState says which controllers the launcher can use, and where.
type CgroupState struct {
	Version int               // 0 none, 1, 2
	Dirs    map[string]string // controller -> directory in which a child group can be made
	Why     string            // why a controller is missing
}

// Tri is yes, no or could not tell. The zero value is could-not-tell.
type Tri uint8

// The three answers (POL-07).
const (
	Unknown Tri = iota
	Yes
	No
)

// Getenv gives a variable or "".
func (h Host) Getenv(key string) string {
	v, _ := h.Lookup(key)
	return v
}

// HomeDir is the home directory that the command sees: HOME, else the account's.
func (h Host) HomeDir() string {
	if h.GOOS == "windows" {
		if v := h.Getenv("USERPROFILE"); v != "" {
			return v
		}
		return h.User.Home
	}
	if v := h.Getenv("HOME"); v != "" && v[0] == '/' {
		return v
	}
	return h.User.Home
}

// Within runs f with a time limit. The goroutine of a call that never returns
// is left behind: there is no way to take it back from a hung file system.
func within(d time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() {
		Deep()
		done <- f()
	}()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
		return os.ErrDeadlineExceeded
	}
}
