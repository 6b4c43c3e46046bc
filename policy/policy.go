// Package policy is step 1 of 5: what the user wants.
//
// A Policy is an immutable value. It comes from layers: built-in, stored,
// file, workspace file, flags (POL-13). Parsing, merging and validation do no
// I/O; reading files is the caller's work.
package policy

import "time"

// Mode is how closed the sandbox is. The zero value is the strictest.
type Mode uint8

// The modes (POL-01).
const (
	Strict     Mode = iota // only system directories and the workspace are there
	Compat                 // the whole file system, read-only
	Permissive             // no isolation; for finding faults, always with a warning
)

// Backend names what carries out a plan. The zero value is Auto.
type Backend uint8

// The backends (POL-02).
const (
	Auto Backend = iota
	LinuxBwrap
	LinuxNative
	MacosSeatbelt
	WindowsSandbox
	Docker
	None // no sandbox: by name only, or by a declared fallback
)

// AutoFallback says what happens when the backend is unavailable (POL-05, POL-06).
type AutoFallback uint8

// The fallbacks. The zero value never degrades.
const (
	Manual AutoFallback = iota
	StartupOnly
	Session
)

// WindowsMode is the helper's sub-mode. The zero value grants no writes.
type WindowsMode uint8

// The helper's sub-modes (WIN-02).
const (
	ReadOnly WindowsMode = iota
	WorkspaceWrite
)

// NetworkMode is what the command may reach. The zero value is nothing.
type NetworkMode uint8

// The network modes (NET-01).
const (
	NetworkOff NetworkMode = iota
	NetworkOn
	NetworkAllow
)

// NewNames says what is done about protected names that a command would make anew
// (FS-04). The zero value does not let them come into being.
type NewNames uint8

// The ways: a supervisor that makes the creating calls, or a look after the run.
const (
	PreventNew NewNames = iota
	DetectNew
)

// Policy is a complete, merged policy. Make one with Default and Merge.
type Policy struct {
	Version      int
	Enabled      bool
	Backend      Backend
	Mode         Mode
	AutoFallback AutoFallback
	WindowsMode  WindowsMode
	Workspace    string // from the host side only, never from a request
	Filesystem   Filesystem
	Network      Network
	Env          Env
	Limits       Limits
	Exec         Exec
	Docker       DockerOptions
	Macos        MacosOptions
	Windows      WindowsOptions
}

// Filesystem holds path rules. Entries are paths or globs; "~" is the home directory,
// a relative entry is taken from the workspace.
type Filesystem struct {
	Writable       []string // may be written; the workspace is added always
	Readable       []string // may be read although a less specific rule denies it
	DenyRead       []string // is hidden, files and trees
	DenyWrite      []string // takes writing away inside a writable tree; never gives reading back
	AllowProtected []string // names of policy/protected.json that may be written after all
	NewProtected   NewNames // what is done about new protected names; strict always prevents
}

// Network says what may be reached.
type Network struct {
	Mode        NetworkMode
	Allow       []string // name, *.name, name:port
	Deny        []string // wins over Allow
	UnixSockets []string // host sockets that may be reached, by path
	LocalPorts  []int    // host loopback ports that may be reached
	Upstream    string   // corporate proxy, a URL
}

// Env says which variables the command gets beyond the safe list (VAR-01, VAR-02).
type Env struct {
	Pass       []string          // names passed on from the host
	Set        map[string]string // values set by the user
	AllowHooks []string          // loader and interpreter hooks that may pass: LD_*, NODE_OPTIONS …
}

// Limits bounds the run. Zero means no limit, but a Grace of zero kills at once.
type Limits struct {
	Timeout   time.Duration // wall time
	Grace     time.Duration // between TERM and KILL
	Memory    Size
	Processes int
	CPUs      float64
	Output    Size // bytes kept of each of stdout and stderr
	Tmp       Size // size of /tmp and of /dev/shm, each
}

// Size is a number of bytes.
type Size int64

// Exec says what may be executed.
type Exec struct {
	StartupAllowlist []string // macOS, compat: more executables
	Nested           bool     // new user namespaces inside
}

// DockerOptions is for the docker backend.
type DockerOptions struct {
	Image   string
	Pull    string // never | missing | always
	Runtime string
	Host    string
	Keep    bool
}

// MacosOptions is for the macos-seatbelt backend.
type MacosOptions struct {
	Services []string // named groups of mach services
}

// WindowsOptions is for the windows-sandbox backend.
type WindowsOptions struct {
	Audit string // best-effort | enforce
}
