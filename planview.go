package qsandbox

import "github.com/qiming-sandbox/qsandbox/report"

// PlanVersion is the version of the JSON form of Plan. It grows when a field changes meaning.
const PlanVersion = 1

// Plan describes what would be run, and how. It is plain data for people and
// programs to read; only Run carries a plan out.
type Plan struct {
	Version     int                  `json:"version"`
	Platform    string               `json:"platform"` // GOOS/GOARCH that the plan is for
	Backend     string               `json:"backend"`
	Mode        string               `json:"mode"`
	Degraded    bool                 `json:"degraded"` // no sandbox, by a declared fallback
	Reason      string               `json:"reason,omitempty"`
	Trace       []report.Trace       `json:"trace"`
	Command     []string             `json:"command"`
	Program     string               `json:"program"` // what command[0] stands for
	Workspace   string               `json:"workspace"`
	Cwd         string               `json:"cwd"`
	Cache       string               `json:"cache,omitempty"`
	User        PlanUser             `json:"user"`
	Stdin       string               `json:"stdin"` // none | pipe | terminal
	Env         []PlanVariable       `json:"env"`
	Namespaces  []string             `json:"namespaces"`
	Create      []string             `json:"create"` // directories that are made before the start
	Mounts      []PlanMount          `json:"mounts"` // general before special
	Outer       *PlanOuter           `json:"outer,omitempty"`
	Profile     string               `json:"profile,omitempty"` // sandbox profile of macOS
	Seccomp     int                  `json:"seccomp"`           // instructions of the system call filter
	Landlock    *PlanLandlock        `json:"landlock,omitempty"`
	Limits      []PlanLimit          `json:"limits"`
	Enforcement []report.Enforcement `json:"enforcement"`
	Notices     []report.Notice      `json:"notices"`
}

// PlanUser is who the command runs as.
type PlanUser struct {
	Name   string `json:"name"`
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
	Switch bool   `json:"switch"` // another user than the caller
}

// PlanVariable is one variable of the command's environment.
type PlanVariable struct {
	Name  string  `json:"name"`
	Value *string `json:"value,omitempty"` // nil: hidden
}

// PlanMount is one operation of the file-system set-up.
type PlanMount struct {
	Kind     string `json:"kind"` // root-host, root-empty, bind, tmpfs, hide-file, hide-dir, dev, proc, symlink, seal
	Src      string `json:"src,omitempty"`
	Dst      string `json:"dst"`
	ReadOnly bool   `json:"ro"`             // the command cannot write there
	Size     int64  `json:"size,omitempty"` // bytes, of a tmpfs
	Target   string `json:"target,omitempty"`
	Origin   string `json:"origin,omitempty"` // the rule behind it
}

// PlanOuter is the program of the system that builds the sandbox.
type PlanOuter struct {
	Program string   `json:"program"`
	Args    []string `json:"args"` // "fd:PATH" stands for a descriptor opened on PATH
	Hidden  bool     `json:"hidden_args"`
}

// PlanLandlock is the Landlock ruleset.
type PlanLandlock struct {
	ABI    int      `json:"abi"`
	Paths  []string `json:"paths"`
	Scoped bool     `json:"scoped"`
}

// PlanLimit is one limit and what keeps it.
type PlanLimit struct {
	Name  string `json:"name"`  // a field of the policy: "limits.memory"
	Value string `json:"value"` // "none", "90s", "512MiB", "4096"
	How   string `json:"how,omitempty"`
}
