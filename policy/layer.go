package policy

import (
	"encoding/json"
	"time"
)

// CurrentVersion is the version of the policy file that this package writes and
// understands. It grows when a default or the meaning of a value changes (POL-11).
const CurrentVersion = 1

// WorkspaceFile is the name of the policy file in the top folder of a workspace.
// It comes with code that is not trusted, and may only narrow (POL-13).
const WorkspaceFile = ".qsandbox.json"

// OriginKind says which kind of layer a value came from. The order is the order of layers.
type OriginKind uint8

// The kinds of layers, lowest first (POL-13).
const (
	OriginBuiltIn   OriginKind = iota // compiled in
	OriginStored                      // the user's stored policy
	OriginFile                        // a file named with --policy
	OriginWorkspace                   // WorkspaceFile in the workspace: narrows only
	OriginFlags                       // options of this run
)

var originNames = spelling{"origin", []string{"built-in", "stored", "file", "workspace", "flags"}}

// String gives built-in, stored, file, workspace or flags.
func (k OriginKind) String() string { return originNames.text(uint8(k)) }

// MarshalText is String; a number that is no kind is an error.
func (k OriginKind) MarshalText() ([]byte, error) { return originNames.marshal(uint8(k)) }

// Origin says where a value came from.
type Origin struct {
	Kind OriginKind `json:"kind"`
	Name string     `json:"name,omitempty"` // the path of the file, where there is one
}

// String gives "workspace /src/app/.qsandbox.json", or the kind alone.
func (o Origin) String() string {
	if o.Name == "" {
		return o.Kind.String()
	}
	return o.Kind.String() + " " + o.Name
}

// Layer is a policy of which any part may be left out. nil keeps what the layer
// below says; an empty list is an empty list.
type Layer struct {
	Origin     Origin
	NarrowOnly bool // the file lies where the sandbox can write: it may only narrow, like a workspace file

	Version      *int
	Enabled      *bool
	Backend      *Backend
	Mode         *Mode
	AutoFallback *AutoFallback
	WindowsMode  *WindowsMode
	Workspace    *string
	Filesystem   LayerFilesystem
	Network      LayerNetwork
	Env          LayerEnv
	Limits       LayerLimits
	Exec         LayerExec
	Docker       LayerDocker
	Macos        LayerMacos
	Windows      LayerWindows

	// Remarks are what reading the layer changed or could not use; whoever runs with it
	// is told.
	Remarks []string

	kept []keptField // stored policies only: what this version does not know
}

// LayerFilesystem is the part "filesystem" of a Layer.
type LayerFilesystem struct {
	Writable, Readable, DenyRead, DenyWrite, AllowProtected *[]string
	NewProtected                                            *NewNames
}

// LayerNetwork is the part "network" of a Layer.
type LayerNetwork struct {
	Mode                     *NetworkMode
	Allow, Deny, UnixSockets *[]string
	LocalPorts               *[]int
	Upstream                 *string
}

// LayerEnv is the part "env" of a Layer.
type LayerEnv struct {
	Pass       *[]string
	Set        *map[string]string
	AllowHooks *[]string
}

// LayerLimits is the part "limits" of a Layer.
type LayerLimits struct {
	Timeout, Grace      *time.Duration
	Memory, Output, Tmp *Size
	Processes           *int
	CPUs                *float64
}

// LayerExec is the part "exec" of a Layer.
type LayerExec struct {
	StartupAllowlist *[]string
	Nested           *bool
}

// LayerDocker is the part "docker" of a Layer.
type LayerDocker struct {
	Image, Pull, Runtime, Host *string
	Keep                       *bool
}

// LayerMacos is the part "macos" of a Layer.
type LayerMacos struct{ Services *[]string }

// LayerWindows is the part "windows" of a Layer.
type LayerWindows struct{ Audit *string }

// NarrowsOnly reports whether the layer may only narrow what is below it.
func (l *Layer) NarrowsOnly() bool { return l.NarrowOnly || l.Origin.Kind == OriginWorkspace }

// Default is the built-in policy: the workspace is writable, the network off, the
// environment safe, and a backend that is not available is an error (POL-05).
func Default() Policy {
	return Policy{
		Version:      CurrentVersion,
		Enabled:      true,
		Backend:      Auto,
		Mode:         Compat,
		AutoFallback: Manual,
		WindowsMode:  WorkspaceWrite,
		Workspace:    ".",
		Filesystem:   Filesystem{NewProtected: DetectNew},
		Limits:       Limits{Grace: 2 * time.Second, Processes: 4096, Tmp: 2 << 30},
		Docker:       DockerOptions{Pull: "never"},
		Windows:      WindowsOptions{Audit: "best-effort"},
	}
}

// BuiltIn is Default as the lowest layer, with every field set.
func BuiltIn() Layer {
	l := Layer{Origin: Origin{Kind: OriginBuiltIn}}
	p := Default()
	for _, f := range Fields() {
		f.ops.lower(&l, &p)
	}
	return l
}

// MarshalJSON writes the fields that are set, as a policy file has them.
func (l Layer) MarshalJSON() ([]byte, error) {
	var t tree
	for _, f := range Fields() {
		if !f.ops.has(&l) {
			continue
		}
		raw, err := json.Marshal(f.ops.layerJSON(&l))
		if err != nil {
			return nil, err
		}
		t.put(f.path(), raw)
	}
	return t.bytes(), nil
}

// MarshalJSON writes the whole policy, as a policy file has it.
func (p Policy) MarshalJSON() ([]byte, error) {
	var t tree
	for _, f := range Fields() {
		raw, err := json.Marshal(f.ops.policyJSON(&p))
		if err != nil {
			return nil, err
		}
		t.put(f.path(), raw)
	}
	return t.bytes(), nil
}
