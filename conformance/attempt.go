package conformance

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/qiming-sandbox/qsandbox/conformance/cell"
	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// Exit codes of the script that tries both sides in one start. No sandbox gives
// them by itself.
const (
	notDenied = 95
	noTwin    = 96
	allFine   = 97
)

// notThere is the exit code of a requires section when the machine has not what the
// case is about. Any other but 0 says that it could not be told.
const notThere = 1

// trier runs cases as one identity.
type trier struct {
	g        *ground
	box      sandbox
	who      Identity
	soak     time.Duration
	cannot   map[string]string // backend -> why this identity cannot use it
	inCell   bool              // this process is in a cell of its own for the one case it has
	alone    bool              // this process is there for one driver
	patience time.Duration     // for what is on its way out; 0: the usual
	mu       sync.Mutex
	controls map[string]func() shownBare
}

// shownBare is what a case showed without the sandbox.
type shownBare struct {
	status results.Status // "" when it worked, or was not needed
	notes  string
	steps  []results.Step
}

// try runs one case on one backend in one mode.
func (t *trier) try(ctx context.Context, c *Case, backend, mode string) (run results.Run) {
	began := time.Now()
	run = results.Run{As: string(t.who), Steps: []results.Step{}}
	defer func() { run.DurationMS = time.Since(began).Milliseconds() }()
	if why := t.box.cannot(c); why != "" {
		return skipped(run, why)
	}
	if why := t.cannot[backend]; why != "" {
		return skipped(run, why)
	}
	if c.Driver != "" {
		return t.drive(ctx, c, backend, mode, run)
	}
	if !t.inCell {
		k := t.control(ctx, c)
		run.Steps = append(run.Steps, k.steps...)
		if k.status != "" {
			run.Status, run.Notes = k.status, k.notes
			return run
		}
		if _, foreign := t.box.(wrapper); foreign {
			return t.elsewhere(ctx, c, run)
		}
	}
	p, err := t.g.place(c)
	defer p.remove()
	if err != nil {
		run.Status, run.Notes = results.Invalid, "the place could not be made: "+err.Error()
		return run
	}
	a := attempt{t: t, ctx: ctx, c: c, p: p, run: &run, backend: backend, mode: mode}
	defer a.cleanup()
	if c.Setup != "" && !a.step("setup", "set -e\n"+c.Setup) {
		run.Status, run.Notes = results.Invalid, "the set-up failed"
		return run
	}
	a.inside()
	return run
}

func skipped(run results.Run, why string) results.Run {
	run.Status, run.Notes = results.Skip, why
	return run
}

// control gives what a case shows without the sandbox; it is tried once.
func (t *trier) control(ctx context.Context, c *Case) shownBare {
	t.mu.Lock()
	ask := t.controls[c.ID]
	if ask == nil {
		ask = sync.OnceValue(func() shownBare { return t.makeControl(ctx, c) })
		t.controls[c.ID] = ask
	}
	t.mu.Unlock()
	return ask()
}

func (t *trier) makeControl(ctx context.Context, c *Case) shownBare {
	for _, n := range c.Needs {
		if _, err := exec.LookPath(n); err != nil {
			return shownBare{status: results.Skip, notes: n + " is not installed"}
		}
	}
	run := results.Run{}
	p, err := t.g.place(c)
	defer p.remove()
	if err != nil {
		return shownBare{status: results.Invalid, notes: "the place could not be made: " + err.Error()}
	}
	a := attempt{t: t, ctx: ctx, c: c, p: p, run: &run}
	if status, notes := a.ask("requires", c.Requires); status != "" {
		return shownBare{status, notes, run.Steps}
	}
	if c.Want != Denied {
		return shownBare{}
	}
	var k shownBare
	switch {
	case c.Shown == byRequires:
		return shownBare{steps: run.Steps}
	case c.Shown == byDecoys && !cell.Possible:
		bare := t.bare(ctx, c)
		k = shownBare{bare.Status, bare.Notes, bare.Steps}
	default:
		k = t.shown(ctx, c)
	}
	k.steps = append(run.Steps, k.steps...)
	for i := range k.steps {
		k.steps[i].Name = strings.Replace("control: "+k.steps[i].Name, "control: control", "control", 1)
	}
	return k
}

// ask runs a section that tells whether a case can be tried: 0 is yes, 1 is no, and
// anything else is a section that is broken, which must not look like a no.
func (a *attempt) ask(name, script string) (results.Status, string) {
	if script == "" || a.step(name, script) {
		return "", ""
	}
	last := a.run.Steps[len(a.run.Steps)-1]
	if last.Exit != notThere {
		return results.Invalid, fmt.Sprintf("the section %s ended with code %d, which is neither yes (0) nor no (1)", name, last.Exit)
	}
	return results.Skip, lastLine(last.Output, "what the case requires is not there")
}

// bare makes the attempt without a sandbox.
//
// SECURITY: it is called in a cell, or for a case that touches nothing but decoys.
func (t *trier) bare(ctx context.Context, c *Case) (run results.Run) {
	run.Steps = []results.Step{}
	invalid := func(notes string) results.Run {
		run.Status, run.Notes = results.Invalid, notes
		return run
	}
	p, err := t.g.place(c)
	defer p.remove()
	if err != nil {
		return invalid("the place could not be made: " + err.Error())
	}
	a := attempt{t: t, ctx: ctx, c: c, p: p, run: &run}
	defer a.cleanup()
	if run.Status, run.Notes = a.ask("available", c.Available); run.Status != "" {
		return run
	}
	if c.Setup != "" && !a.step("setup", "set -e\n"+c.Setup) {
		return invalid("the set-up failed")
	}
	if !a.control(c.bareScript()) {
		return invalid("without the sandbox the attempt does not work: it shows nothing")
	}
	if c.Effect != "" && !a.step("effect", c.Effect) {
		return invalid("without the sandbox the attempt has no effect that can be seen")
	}
	return run
}

// bareScript is what is tried without the sandbox.
func (c *Case) bareScript() string {
	if c.Control != "" {
		return c.Control
	}
	return c.Command
}

func lastLine(s, none string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if l := lines[len(lines)-1]; l != "" {
		return l
	}
	return none
}

// attempt is one case in one place.
type attempt struct {
	t             *trier
	ctx           context.Context
	c             *Case
	p             *place
	run           *results.Run
	backend, mode string
}

// step runs a script outside and keeps it as evidence.
func (a *attempt) step(name, script string) bool {
	tr := a.p.outside(a.ctx, script, a.c.limit())
	return a.keep(name, "outside", script, tr)
}

// control runs the attempt without the sandbox; on a terminal of its own if the case has one.
func (a *attempt) control(script string) bool {
	argv := []string{"/bin/sh", "-c", script}
	if a.c.Terminal {
		argv = append([]string{a.p.g.probe, "probe", "terminal"}, argv...)
	}
	return a.keep("control", "outside", script, a.p.outsideArgv(a.ctx, argv, a.c.Stdin, a.c.limit()))
}

func (a *attempt) keep(name, where, script string, tr trace) bool {
	a.run.Steps = append(a.run.Steps, results.Step{Name: name, Where: where, Script: script, Exit: tr.exit, Output: tr.out})
	return tr.exit == 0
}

// script makes the one script that tries both sides.
func (c *Case) script() string {
	if c.Want != Denied {
		return c.Command
	}
	if c.Judged == byEffect {
		return "(\n" + c.Command + ")\n(\n" + c.Twin + ") || exit " + fmt.Sprint(noTwin) + "\nexit " + fmt.Sprint(allFine) + "\n"
	}
	s := "if (\n" + c.Command + "); then exit " + fmt.Sprint(notDenied) + "; fi\n"
	return s + "(\n" + c.Twin + ") || exit " + fmt.Sprint(noTwin) + "\nexit " + fmt.Sprint(allFine) + "\n"
}

// inside runs the case in the sandbox and judges it.
func (a *attempt) inside() {
	script := a.c.script()
	in := a.t.box.run(a.ctx, call{c: a.c, p: a.p, backend: a.backend, mode: a.mode, argv: []string{"/bin/sh", "-c", script}, limit: a.c.limit()})
	a.run.Events, a.run.Resolved = in.events, in.backend
	a.run.Degraded, a.run.Reason = in.degraded, in.reason
	out := in.out
	if in.err != nil {
		out += in.err.Error()
	} else {
		a.run.ExitCode = &in.code
	}
	a.keep(a.c.where(), a.c.where(), script, trace{in.code, out})
	v := a.judge(in)
	// Always: it also takes away what an attempt left that worked.
	if after := a.afterwards(); v.status == results.Pass {
		v = after
	}
	// Only the attempt itself, which worked, is what the limit says. All else is a failure.
	if limit := a.c.LimitFor(a.backend); limit != "" && v.status == results.Fail && in.err == nil && in.code == notDenied {
		v.status, v.notes, v.leak = results.KnownLimit, limit+" ("+v.notes+")", results.LeakNone
	}
	a.run.Status, a.run.Notes, a.run.Leak = v.status, v.notes, v.leak
}

// cleanup removes what a case left beside its place, however it ended. A case that
// passed and cannot be cleaned up after has not passed.
func (a *attempt) cleanup() {
	if a.c.Cleanup == "" {
		return
	}
	a.ctx = context.WithoutCancel(a.ctx)
	if !a.step("cleanup", a.c.Cleanup) && a.run.Status == results.Pass {
		a.run.Status, a.run.Notes, a.run.Leak = results.Fail, "what the case left could not be removed", a.c.residue()
	}
}

// afterwards looks outside at what the attempt left.
func (a *attempt) afterwards() verdict {
	c := a.c
	done := c.Effect != "" && a.step("effect", c.Effect)
	clean := c.After == "" || a.step("after", c.After)
	switch {
	case done && (c.Want == Denied || c.Want == Refused):
		return verdict{results.Fail, "the attempt was refused, and yet it had its effect outside", c.leak()}
	case c.Effect != "" && !done && (c.Want == Works || c.Want == Ends):
		return verdict{results.Fail, "the command ended as it should, and yet its effect is missing outside", results.LeakNone}
	case !clean:
		return verdict{results.Fail, "afterwards something is not as it should be outside", c.residue()}
	}
	if !strings.Contains(c.Policy, "$OUT") && !strings.Contains(c.Setup, "$OUT") {
		if why := a.p.touched(); why != "" {
			return verdict{results.Fail, "outside: " + why, results.LeakViolation}
		}
	}
	return verdict{status: results.Pass}
}
