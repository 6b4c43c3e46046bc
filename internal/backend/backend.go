// Package backend is the seam between a spec and the systems that can carry it
// out. A backend probes the machine and compiles a spec into a plan; it starts
// no command of the user.
package backend

import (
	"context"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Backend is one way of keeping a policy.
type Backend interface {
	// Name is stable and shown to users: "linux-bwrap".
	Name() string
	// Probe does the real thing (starts a process in a sandbox) and gives yes or
	// no with a reason and a remedy. An error means: could not tell (POL-07).
	Probe(ctx context.Context, h host.Host) (Support, error)
	// Compile is pure: no files, no environment, no clock, no GOOS.
	Compile(s *spec.Spec, sup Support) (*plan.Plan, error)
}

// Support is a probe's answer.
type Support struct {
	Available bool
	Reason    string // why not
	Remedy    string // what a person can do
	Version   string // of the program behind it, if any
	Path      string // of the program behind it, if any

	UserNS        bool // a user namespace can be made
	PrivateMounts bool // the set-up can be shielded from later mounts of the host
	NoNet         bool // a network namespace can be made
	Facts         map[string]string
}

// Judge is what a backend adds when it can answer from its own plan whether
// something is allowed; explain then gives that answer.
type Judge interface {
	Judge(s *spec.Spec, q spec.Query) (spec.Verdict, error)
}

// Trial is how a probe starts things. It is handed in, so that backends do not
// depend on package launch: compiling must stay pure.
type Trial struct {
	Try     func(ctx context.Context, p *plan.Plan) error                          // builds the sandbox, starts no command
	Firm    func(error) bool                                                       // a failure that means "not on this machine"
	Program func(ctx context.Context, path string, args ...string) (string, error) // runs a program of the system, empty environment
	Beside  func(name string) string                                               // path of a program in our own directory
}

// ProbeSpec is the smallest isolated spec: what a probe builds is what a run builds.
func ProbeSpec(h host.Host) *spec.Spec {
	s := &spec.Spec{GOOS: "linux", GOARCH: h.GOARCH, Policy: policy.Default(), Cwd: "/", Argv: []string{"true"}, Exe: "/bin/true", Kernel: h.Kernel(), Launcher: h.User}
	s.User = spec.Identity{UID: h.User.UID, GID: h.User.GID}
	if h.GOOS == "darwin" {
		s.GOOS, s.Exe = h.GOOS, "/usr/bin/true"
		return s
	}
	for _, d := range []string{"/dev", "/proc", "/tmp"} {
		s.Rules = append(s.Rules, spec.Rule{Path: d, Given: d, Access: spec.Private, Kind: spec.Dir, Mount: true})
	}
	return s
}
