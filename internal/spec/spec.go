// Package spec is step 2 of 5: a policy bound to one host, workspace and command.
//
// Bind reads the machine (through host.Host only) and gives a Spec: every path
// resolved, every rule with its origin, the exact environment. Decide answers
// from a Spec alone whether something is allowed, and by which rule.
package spec

import (
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/protect"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Access is what a rule gives. The zero value is the strictest.
type Access uint8

// The accesses, from least to most.
const (
	Deny    Access = iota // hidden: can be neither read nor written
	Private               // a fresh place of the sandbox's own: writable, empty at the start
	Read                  // may be read and executed
	Write                 // may be read, executed and written
)

// String gives the word that explain and plan print.
func (a Access) String() string { return [...]string{"deny", "private", "read", "write"}[a] }

// Kind is what stands at a rule's path.
type Kind uint8

// The kinds.
const (
	Missing Kind = iota
	File
	Dir
	Socket
)

// Layer is where a rule comes from. A higher layer replaces a lower one for the same path (FS-02).
type Layer uint8

// The layers.
const (
	BuiltIn Layer = iota
	User
)

// ID is the identity of a file: what was checked is what is mounted (FS-06).
type ID struct{ Dev, Ino uint64 }

// Rule is one path with the access it gets.
type Rule struct {
	Path   string // real path: absolute, no links in it
	Given  string // as it was written, after ~ and relative parts; differs when links were followed
	Access Access
	Kind   Kind
	ID     ID
	Layer  Layer
	Origin string // for people: "filesystem.denyRead[0] (policy.json)", "credential ~/.ssh"
	Empty  bool   // for Deny on a directory: shown as an empty directory rather than an unreadable one
	Mount  bool   // false for a rule that only explains (a missing credential)
	Pin    bool   // the directory itself must not be renamed or replaced (FS-04)
	Found  bool   // by a pattern: a later run finds it again wherever it was moved
	Create bool   // missing and wanted: made before the start
}

// Pattern is a glob that was expanded over what exists; it also answers for names that do not exist yet.
type Pattern struct {
	Glob   string // absolute
	Access Access
	Origin string
	Found  int
	glob   *policy.Glob
	takes  bool // only takes writing away
}

// Identity is who the command runs as.
type Identity struct {
	UID, GID int
	Groups   []int
	Name     string
	Home     string
	Shell    string
	Switch   bool // differs from the launcher: --user
}

// StdinMode says what the command reads.
type StdinMode uint8

// The modes. The zero value gives an empty input.
const (
	StdinNone StdinMode = iota
	StdinPipe
)

// Command is what the caller wants to run.
type Command struct {
	Argv  []string
	Cwd   string            // "" is the workspace
	Env   map[string]string // given explicitly by the caller (VAR-02)
	User  string            // --user: name or number; "" is the launcher's user
	Stdin StdinMode
	TTY   bool
	Ask   bool // no command is wanted: the spec only answers Decide
}

// Spec is a policy bound to one host, workspace and command.
type Spec struct {
	GOOS      string
	GOARCH    string
	Policy    policy.Policy
	Workspace Rule
	Cwd       string
	Argv      []string
	Exe       string   // resolved argv[0]
	Env       []string // KEY=value, sorted
	User      Identity
	Rules     []Rule        // one per path, general before special
	Patterns  []Pattern     // for explain
	System    []Rule        // strict: the read-only directories and links of the system
	Execs     []Rule        // macOS: what may be executed beyond SystemExecs and writable paths (MAC-01)
	Protected protect.Found // what runs later on the host, as it was at the start (FS-04)
	Cache     string        // private cache on the host, "" when it lies in the private /tmp
	Stdin     StdinMode
	TTY       bool
	Kernel    host.Kernel
	Cgroup    host.CgroupState // empty where no limit needs it
	Launcher  host.User
	Rows      []report.Enforcement // what binding itself could not keep fully
	Notices   []report.Notice
}

// Notice adds a remark.
func (s *Spec) notice(kind, text string) {
	s.Notices = append(s.Notices, report.Notice{Kind: kind, Text: text})
}

// bare tells whether what no rule names is not there at all. On macOS there is one
// file system for all, and strict can only take from it (MAC-01).
func (s *Spec) bare() bool { return s.Policy.Mode == policy.Strict && s.GOOS != "darwin" }

// Isolated tells whether the mode asks for isolation at all (LNX-05).
func (s *Spec) Isolated() bool { return s.Policy.Mode != policy.Permissive }
