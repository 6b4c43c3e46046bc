package conformance

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// The drivers: what runs a case that one command cannot show. Count is of sessions or
// runs; a soak has none, but a length.
const (
	driveSessions    = "sessions"     // all alive at once, then all released
	driveRuns        = "runs"         // all at once, each with its own output and code
	driveLeak        = "leak"         // made and released one after the other
	driveSoakSession = "soak-session" // one, for long
	driveSoakRuns    = "soak-runs"    // one after the other, for long
	ownSandbox       = "own-sandbox"  // these four are about the account's own policy; see own
	ownHidden        = "own-hidden"
	ownClosed        = "own-closed"
	ownOpen          = "own-open"
)

// shortSoak is the length of a soak when none is asked for.
const shortSoak = time.Second

// driver is one such case in one place, in a process that does nothing else.
type driver struct {
	t             *trier
	ctx           context.Context
	stop          context.Context // its end is the end of a soak; what was begun goes on by ctx
	c             *Case
	p             *place
	m             *gauge
	backend, mode string
	told          []string // what was done and measured, for the notes
}

// soaks tells whether a case takes the length of --soak.
func (c *Case) soaks() bool { return c.Driver == driveSoakSession || c.Driver == driveSoakRuns }

// drive runs a case that one command cannot show.
func (t *trier) drive(ctx context.Context, c *Case, backend, mode string, run results.Run) results.Run {
	if !t.inCell && !t.alone {
		if _, foreign := t.box.(wrapper); foreign {
			return t.elsewhere(ctx, c, run)
		}
		return t.apart(ctx, c, backend, mode, run)
	}
	p, err := t.g.place(c)
	defer p.remove()
	if err != nil {
		run.Status, run.Notes = results.Invalid, "the place could not be made: "+err.Error()
		return run
	}
	m, err := newGauge(t.g, p)
	if err != nil {
		return skipped(run, "it cannot be measured here: "+err.Error())
	}
	d := &driver{t: t, ctx: context.WithoutCancel(ctx), stop: ctx, c: c, p: p, m: m, backend: backend, mode: mode}
	v := d.perform(&run)
	run.Resolved = backend
	run.Status, run.Leak, run.Notes = v.status, v.leak, strings.Join(append([]string{v.notes}, d.told...), "; ")
	run.Notes = strings.TrimPrefix(run.Notes, "; ")
	run.Steps = append(run.Steps, results.Step{Name: "driver " + c.Driver, Where: "inside", Script: fmt.Sprintf("count %d", d.count()), Output: run.Notes})
	return run
}

// perform makes what is made once, drives, and looks at what is left and what grows.
func (d *driver) perform(run *results.Run) verdict {
	if err := d.warm(); err != nil {
		return failed("the first rounds: %v", err)
	}
	before, err := d.m.read()
	if err != nil {
		return failed("measure: %v", err)
	}
	if err := d.action()(); err != nil {
		return failed("%v", err)
	}
	left, err := d.m.settled(before, cmp.Or(d.t.patience, patience))
	if err != nil {
		return failed("measure: %v", err)
	}
	if len(d.m.times) > 0 {
		run.Samples = d.m.series()
		d.tell("%s", memoryText(run.Samples[0]))
	}
	if len(left) > 0 {
		return verdict{results.Fail, "something is left: " + joined(left), left[0].leak()}
	}
	if grown := growth(run.Samples); grown != "" {
		return failed("%s", grown)
	}
	d.tell("nothing is left")
	return verdict{status: results.Pass}
}

func (d *driver) action() func() error {
	return map[string]func() error{
		driveSessions: d.sessions, driveRuns: d.runs, driveLeak: d.leak, driveSoakSession: d.soakSession, driveSoakRuns: d.soakRuns,
	}[d.c.Driver]
}

// warmRounds make what is made once: caches, the runtime's own descriptors and threads.
const warmRounds = 2

func (d *driver) warm() error {
	for i := range warmRounds {
		if err := d.oneRun(fmt.Sprint("warm", i), i); err != nil {
			return err
		}
		if _, ok := d.t.box.(opener); ok {
			if err := d.round(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// count is how many: the real number when a real length is asked for.
func (d *driver) count() int {
	if d.t.soak > 0 && d.c.Full > 0 {
		return d.c.Full
	}
	return d.c.Count
}

func (d *driver) tell(format string, args ...any) {
	d.told = append(d.told, fmt.Sprintf(format, args...))
}

// argv is a command of the driver's. The place's word is in it, by which an orphan is known.
func (d *driver) argv(own, script string) []string {
	return []string{"/bin/sh", "-c", script, "TAG-" + d.p.u, own}
}

func (d *driver) call(own, script string) call {
	return call{c: d.c, p: d.p, backend: d.backend, mode: d.mode, argv: d.argv(own, script), limit: d.c.limit()}
}

// sound says what is wrong with how a run was made, whatever the command did.
func (d *driver) sound(in inside) error {
	d.m.ran(in.run)
	switch {
	case in.err != nil:
		return fmt.Errorf("the sandbox could not be had: %w", in.err)
	case in.degraded:
		return fmt.Errorf("it was run WITHOUT a sandbox: %s", in.reason)
	case in.backend != d.backend:
		return fmt.Errorf("it was run by %q", in.backend)
	}
	return nil
}

func joined(left []excess) string {
	var out []string
	for _, e := range left {
		out = append(out, e.String())
	}
	return strings.Join(out, ", ")
}

// leak says which kind of thing is left.
func (e excess) leak() results.Leak {
	switch e.what {
	case processes:
		return results.LeakProcess
	case tempfiles, mounts, ownMounts, cgroups:
		return results.LeakFile
	}
	return results.LeakHandle
}

// memoryText is what the notes say of this process' memory.
func memoryText(s results.SampleSeries) string {
	first, last := s.Values[0], s.Values[len(s.Values)-1]
	return fmt.Sprintf("memory %.1f MiB, then %.1f MiB: %s", first/(1<<20), last/(1<<20), s.Note)
}
