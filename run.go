package qsandbox

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/denylog"
	"github.com/qiming-sandbox/qsandbox/internal/event"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/protect"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// run is the report of one request as it grows, and its events.
type run struct {
	host       host.Host
	sink       event.Sink
	report     *report.Report
	fallback   string
	early      []report.Notice // from before there was a plan
	found      protect.Found
	journal    *protect.Journal
	supervisor *supervisor    // nil: none
	log        denylog.Source // nil: none
	spec       *spec.Spec     // of the plan that runs
	told       bool           // sandbox:unavailable was emitted for this resolution
	audit      *event.Log
	auditErr   error // the first failure to write it
	warned     bool  // permissive:used was emitted
	memory     *Memory
}

func newRun(req Request) *run {
	host.Deep()
	h := host.Real()
	return &run{host: h, early: remarks(req.Layers), memory: req.Memory, sink: event.Fan(req.Events), report: &report.Report{
		Version: report.Version, ID: fmt.Sprintf("%016x", rand.Uint64()), // unique, not secret
		Started:  time.Now(),
		Platform: h.GOOS + "/" + h.GOARCH, Command: req.Command,
		Trace: []report.Trace{}, Enforcement: []report.Enforcement{}, Notices: []report.Notice{}, Denials: []report.Denial{},
	}}
}

// remarks are what layers have to tell.
func remarks(layers []policy.Layer) (out []report.Notice) {
	for _, l := range layers {
		for _, text := range l.Remarks {
			out = append(out, report.Notice{Kind: "policy:" + l.Origin.Kind.String(), Text: text})
		}
	}
	return out
}

// bound notes what the policy became on this host.
func (r *run) bound(s *spec.Spec) {
	rep := r.report
	rep.Mode, rep.Workspace, rep.Cwd, rep.Cache, rep.Kernel = s.Policy.Mode.String(), s.Workspace.Path, s.Cwd, s.Cache, s.Kernel.Release
	r.fallback = s.Policy.AutoFallback.String()
}

// chosen notes the backend, and says loudly when it is weaker than was asked for.
func (r *run) chosen(c backend.Choice, p *plan.Plan) {
	rep := r.report
	rep.Backend, rep.Degraded, rep.Reason = p.Backend, c.Degraded, c.Reason
	rep.Enforcement, rep.Notices = p.Enforcement, append(append([]report.Notice{}, r.early...), p.Notices...)
	if c.Degraded && !r.told {
		r.told = true
		rep.Notices = append(rep.Notices, report.Notice{Kind: "degraded", Text: degradedText(c)})
		r.emit(event.Unavailable, map[string]string{"reason": c.Reason, "remedy": c.Remedy, "backend": c.Trace[0].Backend, "fallback": r.fallback})
	}
	if p.Backend == "none" && !c.Degraded {
		rep.Notices = append(rep.Notices, report.Notice{Kind: "none", Text: "the command runs WITHOUT a sandbox, as asked for"})
	}
	if rep.Mode == policy.Permissive.String() {
		rep.Notices = append(rep.Notices, report.Notice{Kind: "permissive:used", Text: "mode permissive isolates nothing; use it to find faults only"})
	}
}

// degradedText names the reason, the remedy, and how to make it an error.
func degradedText(c backend.Choice) string {
	text := "the command runs WITHOUT a sandbox: " + c.Reason
	if c.Remedy != "" {
		text += "; remedy: " + c.Remedy
	}
	return text + "; set autoFallback to manual to make this an error"
}

// started emits what must be known before the command does anything.
func (r *run) started() {
	r.remember()
	fields := map[string]string{"program": filepath.Base(r.report.Command[0]), "workspace": r.report.Workspace}
	if slices.ContainsFunc(r.report.Notices, func(n report.Notice) bool { return n.Kind == spec.HomeNotice }) {
		fields["home"] = "writable"
	}
	r.emit(event.ExecuteStart, fields)
}

// complete settles the report.
func (r *run) complete(exit report.Exit, err error) *report.Report {
	r.unguard()
	r.report.DurationMS = time.Since(r.report.Started).Milliseconds()
	if err != nil {
		return r.fail(err)
	}
	r.report.Exit = &exit
	r.emit(event.ExecuteComplete, r.settled(exit))
	r.unrecorded()
	return r.report
}

// fail puts an error of ours into the report.
func (r *run) fail(err error) *report.Report {
	r.unlisten()
	r.unguard()
	r.report.DurationMS = time.Since(r.report.Started).Milliseconds()
	r.report.Error = &report.Failure{Code: string(fault.CodeOf(err)), Message: err.Error()}
	r.emit(event.ExecuteError, map[string]string{"code": r.report.Error.Code})
	r.unrecorded()
	return r.report
}
