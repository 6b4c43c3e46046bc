package qsandbox

import (
	"context"
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Values says whether values that may be secrets are shown.
type Values uint8

// The choices. The zero value hides them.
const (
	HideValues Values = iota // names only
	ShowValues
)

// Probing says whether the machine is asked.
type Probing uint8

// The choices. The zero value starts nothing.
const (
	Offline Probing = iota // from a few cheap facts; any backend, also of another system
	Probe                  // the backends' probes start a sandbox each, as doctor does
)

// PlanOptions are what PlanFor can be told. The zero value is offline and hides values.
type PlanOptions struct {
	Values  Values
	Probing Probing
}

// PlanFor says what Run would do with a request, and does nothing of it (POL-14).
//
// Offline, a backend that is named in the policy is planned for even where this
// machine could not run it, and a notice says so; a backend of another system is
// planned for as if the paths of this machine were there. Errors are those of Run
// before the start: POLICY_INVALID, PATH_INVALID, PATH_OUTSIDE_WORKSPACE,
// COMMAND_NOT_FOUND, COMMAND_NOT_EXECUTABLE, POLICY_UNENFORCEABLE,
// SANDBOX_UNAVAILABLE, SANDBOX_UNDETERMINED.
func PlanFor(ctx context.Context, req Request, opt PlanOptions) (*Plan, error) {
	req.Events = nil
	r := newRun(req)
	eff, err := policy.Merge(append([]policy.Layer{policy.BuiltIn()}, req.Layers...)...)
	if err != nil {
		return nil, err
	}
	foreign := r.assumeSystem(eff.Policy)
	sp, err := r.bind(req)
	if err != nil {
		return nil, err
	}
	p, err := r.planned(ctx, sp, opt.Probing, foreign)
	if err != nil {
		return nil, err
	}
	return describe(r.report, sp, p, opt), nil
}

// systemOf gives the system of a backend, "" for one that runs anywhere.
func systemOf(b policy.Backend) string {
	switch b {
	case policy.LinuxBwrap, policy.LinuxNative:
		return "linux"
	case policy.MacosSeatbelt:
		return "darwin"
	case policy.WindowsSandbox:
		return "windows"
	}
	return ""
}

// assumeSystem lets the host pass for the system of the backend that the policy
// names. It tells whether that is another one.
func (r *run) assumeSystem(p policy.Policy) (foreign bool) {
	want := systemOf(p.Backend)
	if !p.Enabled || want == "" || want == r.host.GOOS {
		return false
	}
	r.host.GOOS = want
	return true
}

// planned compiles a spec for the backend that would run it.
func (r *run) planned(ctx context.Context, sp *spec.Spec, probing Probing, foreign bool) (*plan.Plan, error) {
	named := sp.Policy.Enabled && sp.Policy.Backend != policy.Auto && sp.Policy.Backend != policy.None
	if !named || probing == Probe && !foreign {
		return r.plan(ctx, sp, probing == Probe)
	}
	name := sp.Policy.Backend.String()
	b := backendNamed(name)
	if b == nil {
		return nil, fault.New(fault.SandboxUnavailable, "plan for", name, "not part of this build; it has "+backendNames())
	}
	sup, assumed := r.support(b)
	c := backend.Choice{Backend: b, Support: sup, Trace: []report.Trace{{Backend: name, Answer: "chosen", Reason: "named by the policy; not probed"}}}
	r.report.Trace = c.Trace
	p, err := b.Compile(sp, sup)
	if err != nil {
		return nil, err
	}
	r.chosen(c, p)
	if assumed {
		r.notice("plan:assumed", name+" may not work on this machine: this is what would be run where it does; see qsandbox doctor")
	}
	if foreign {
		r.notice("plan:foreign", "planned for "+r.host.GOOS+" with the paths and variables of this machine")
	}
	return p, nil
}

// support takes a backend's word, else supposes a machine on which all works.
func (r *run) support(b backend.Backend) (sup backend.Support, assumed bool) {
	if q, ok := b.(backend.Quick); ok {
		if sup, ok := q.Assume(r.host); ok {
			return sup, false
		}
	}
	return backend.Support{Available: true, Path: "(not found here)", UserNS: true, PrivateMounts: true, NoNet: true}, true
}

func backendNamed(name string) backend.Backend {
	for _, b := range backends() {
		if b.Name() == name {
			return b
		}
	}
	return nil
}

func backendNames() string {
	var names []string
	for _, b := range backends() {
		names = append(names, b.Name())
	}
	return strings.Join(names, ", ")
}

func (r *run) notice(kind, text string) {
	r.report.Notices = append(r.report.Notices, report.Notice{Kind: kind, Text: text})
}
