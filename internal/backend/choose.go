package backend

import (
	"context"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Choice is what Choose settled on.
type Choice struct {
	Backend  Backend
	Support  Support
	Trace    []report.Trace
	Degraded bool
	Reason   string
	Remedy   string // against the reason
}

// Quick is what a backend adds when it can tell from a few cheap facts that a
// start is worth trying. The start is then the probe: when it fails, Choose is
// asked again with probing.
type Quick interface {
	Assume(h host.Host) (Support, bool)
}

// Candidates gives the backends that a policy's choice stands for, in order (POL-03).
func Candidates(want policy.Backend, goos string) []string {
	if want != policy.Auto {
		return []string{want.String()}
	}
	switch goos {
	case "darwin":
		return []string{"macos-seatbelt"}
	case "windows":
		return []string{"windows-sandbox"}
	}
	return []string{"linux-bwrap", "linux-native"}
}

// Chooser picks a backend for a policy.
type Chooser struct {
	Backends []Backend
	Host     host.Host
	Probing  bool // really probe; otherwise take a backend's word where it has one

	// Sandboxed says that the session which this run belongs to has run a command in a
	// sandbox already: losing the sandbox is then more than starting without one (POL-06).
	Sandboxed bool
}

// Choose picks the first available candidate (POL-03 to POL-06). Errors:
// SANDBOX_UNAVAILABLE, SANDBOX_UNDETERMINED.
//
// SECURITY: "none" is reached by name, by enabled=false, or by a declared
// fallback after a firm no from every candidate; never from strict and never
// from "could not tell" (POL-05).
func (c Chooser) Choose(ctx context.Context, p policy.Policy) (Choice, error) {
	if !p.Enabled {
		return c.none(Choice{}, false, "")
	}
	var ch Choice
	var undetermined error
	for _, name := range Candidates(p.Backend, c.Host.GOOS) {
		b := c.find(name)
		if b == nil {
			ch.Trace = append(ch.Trace, report.Trace{Backend: name, Answer: "unavailable", Reason: "not part of this build"})
			continue
		}
		sup, err := c.ask(ctx, b)
		switch {
		case err != nil:
			ch.Trace = append(ch.Trace, report.Trace{Backend: name, Answer: "could-not-tell", Reason: err.Error()})
			undetermined = err
		case !sup.Available:
			ch.Trace = append(ch.Trace, report.Trace{Backend: name, Answer: "unavailable", Reason: sup.Reason, Remedy: sup.Remedy})
		default:
			ch.Trace = append(ch.Trace, report.Trace{Backend: name, Answer: "chosen"})
			ch.Backend, ch.Support = b, sup
			return ch, nil
		}
	}
	return c.unavailable(p, ch, undetermined)
}

func (c Chooser) unavailable(p policy.Policy, ch Choice, undetermined error) (Choice, error) {
	if undetermined != nil {
		return ch, fault.Wrap(fault.SandboxUndetermined, "choose a backend", "", undetermined).
			WithHint("whether a sandbox can be built here could not be told; this never leads to an unconfined run")
	}
	reason, remedy := lastReason(ch.Trace)
	if p.AutoFallback == policy.Manual || p.Mode == policy.Strict {
		return ch, fault.New(fault.SandboxUnavailable, "choose a backend", p.Backend.String(), join(reason, remedy))
	}
	if p.AutoFallback == policy.StartupOnly && c.Sandboxed {
		return ch, fault.New(fault.SandboxUnavailable, "choose a backend", p.Backend.String(),
			join(join(reason, remedy), "this session has run in a sandbox, and autoFallback startup-only allows to go without one from the start only"))
	}
	ch.Remedy = remedy
	return c.none(ch, true, reason)
}

func (c Chooser) none(ch Choice, degraded bool, reason string) (Choice, error) {
	b := c.find("none")
	if b == nil {
		return ch, fault.New(fault.SandboxUnavailable, "choose a backend", "none", "not part of this build")
	}
	ch.Backend, ch.Degraded, ch.Reason = b, degraded, reason
	ch.Support = Support{Available: true}
	ch.Trace = append(ch.Trace, report.Trace{Backend: "none", Answer: "chosen", Reason: reason})
	return ch, nil
}

func (c Chooser) find(name string) Backend {
	for _, b := range c.Backends {
		if b.Name() == name {
			return b
		}
	}
	return nil
}

func (c Chooser) ask(ctx context.Context, b Backend) (Support, error) {
	if q, ok := b.(Quick); ok && !c.Probing {
		if sup, ok := q.Assume(c.Host); ok {
			return sup, nil
		}
	}
	return b.Probe(ctx, c.Host)
}

func lastReason(trace []report.Trace) (reason, remedy string) {
	for _, t := range trace {
		if t.Reason != "" {
			reason = join(reason, t.Backend+": "+t.Reason)
		}
		if t.Remedy != "" {
			remedy = join(remedy, t.Remedy)
		}
	}
	return reason, remedy
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
