package qsandbox

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/launch"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/internal/supervise"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Request is one command to run.
type Request struct {
	Layers  []policy.Layer    // over the built-in policy, lowest first (POL-13)
	Command []string          // program and arguments; no shell parses them
	Cwd     string            // inside the workspace; "" is the workspace
	Env     map[string]string // given explicitly (VAR-02)
	User    string            // as root: run as this user

	Stdin    io.Reader // nil: the command's input is empty
	Stdout   io.Writer // nil: discarded
	Stderr   io.Writer
	Terminal *Terminal // not nil: the command gets a terminal, Stdout all it shows

	Memory *Memory // of the session that the run belongs to; nil: it is one by itself

	Started func(*Session) // called by Run once the command runs; nil: not
	Events  func(Event)    // nil: none
}

// Terminal is the size of a terminal in characters.
type Terminal struct{ Rows, Cols uint16 }

// Session is a command that runs in its sandbox. Many can run at once, each
// with its own policy: there is no global state (PROC-05).
type Session struct {
	run   *run
	inner *supervise.Session
}

// Run starts a command and waits for its end. The report is never nil; when the
// error is not nil the command did not run, or its sandbox failed.
func Run(ctx context.Context, req Request) (*report.Report, error) {
	s, rep, err := start(ctx, req)
	if err != nil {
		return rep, err
	}
	if req.Started != nil {
		req.Started(s)
	}
	return s.Wait()
}

// Start starts a command. When ctx ends, the whole tree is ended.
func Start(ctx context.Context, req Request) (*Session, error) {
	s, _, err := start(ctx, req)
	return s, err
}

// Wait waits for the end of the command and of everything it started.
func (s *Session) Wait() (*report.Report, error) {
	exit, err := s.inner.Wait()
	s.run.heard(s.inner)
	s.run.logged(s.inner, exit)
	return s.run.complete(exit, err), err
}

// Signal passes a signal on to the command's process group.
func (s *Session) Signal(sig syscall.Signal) error { return s.inner.Signal(sig) }

// Stop ends the tree: TERM, then KILL after the policy's grace.
func (s *Session) Stop() { s.inner.Stop() }

// Resize tells the terminal its new size.
func (s *Session) Resize(t Terminal) error { return s.inner.Resize(t.Rows, t.Cols) }

// Done is closed when everything has ended.
func (s *Session) Done() <-chan struct{} { return s.inner.Done() }

// attempts bounds how often a start is tried again because the workspace
// changed while the sandbox was being built.
const attempts = 4

func start(ctx context.Context, req Request) (*Session, *report.Report, error) {
	r := newRun(req)
	if err := launch.Room(); err != nil {
		return nil, r.fail(err), err
	}
	r.record()
	r.recover()
	for i := range attempts {
		s, err := r.attempt(ctx, req)
		if err == nil {
			return s, r.report, nil
		}
		if !changed(err) || i == attempts-1 || ctx.Err() != nil {
			return nil, r.fail(err), err
		}
		if errors.Is(err, spec.ErrChanged) {
			time.Sleep(90 * time.Millisecond) // a link that was made just before the start is old enough by the last attempt
		}
		time.Sleep(time.Duration(i) * time.Millisecond)
	}
	panic("unreachable")
}

// changed tells whether a start failed because a path is no longer what it was
// when the policy was bound: then binding again is the right answer.
func changed(err error) bool {
	if errors.Is(err, spec.ErrChanged) {
		return true
	}
	if fault.CodeOf(err) != fault.LaunchFailed {
		return false
	}
	for _, words := range []string{"Can't mkdir parents", "Can't find source path", "Race condition binding"} { // bwrap has no errno for us
		if strings.Contains(err.Error(), words) {
			return true
		}
	}
	return (errors.Is(err, syscall.ESTALE) || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR))
}

// alter weakens a plan on purpose, to see that the conformance cases notice. Only
// the tests of this package can set it: nothing that is built into a program does.
var alter func(*plan.Plan)

// attempt is one way through the steps: bind, choose, compile, launch, supervise.
func (r *run) attempt(ctx context.Context, req Request) (*Session, error) {
	sp, err := r.bind(req)
	if err != nil {
		return nil, err
	}
	for _, probing := range []bool{false, true} {
		p, err := r.plan(ctx, sp, probing)
		if err != nil {
			return nil, err
		}
		p.Limits.How.Group = r.report.ID
		if alter != nil {
			alter(p)
		}
		opt := launchOptions(req)
		before := func() error {
			if err := r.guard(sp.Protected); err != nil {
				return err
			}
			return r.permissive()
		}
		if launch.Overlaps {
			opt.Meanwhile = before
		} else if err := before(); err != nil {
			return nil, err
		}
		opt.Listener = r.supervise(p, sp)
		r.spec = sp
		r.listen(p)
		proc, err := launch.Start(ctx, p, opt)
		if err != nil {
			r.unsupervise()
			// A quick choice is only a guess: let the probes say what can be had.
			if !probing && r.setupFailed(err) {
				continue
			}
			return nil, err
		}
		r.started()
		inner := supervise.Start(ctx, proc, supervise.Options{
			Stdin: req.Stdin, Stdout: req.Stdout, Stderr: req.Stderr,
			Timeout: p.Limits.Timeout, Grace: p.Limits.Grace, Output: p.Limits.Output, Direct: p.Isolation.Direct || p.Profile != nil, // without a pid namespace somebody may get away with our pipes
			Cwd: sp.Cwd, Judge: r.judge(sp),
		})
		r.viewed(sp, req.Terminal != nil)
		return &Session{run: r, inner: inner}, nil
	}
	panic("unreachable")
}

// setupFailed tells whether another backend may succeed where this one failed.
func (r *run) setupFailed(err error) bool {
	return fault.CodeOf(err) == fault.LaunchFailed && !changed(err) && r.report.Backend != "none"
}

func launchOptions(req Request) launch.Options {
	if req.Terminal == nil {
		return launch.Options{}
	}
	return launch.Options{Rows: req.Terminal.Rows, Cols: req.Terminal.Cols}
}

func (r *run) bind(req Request) (*spec.Spec, error) {
	eff, err := policy.Merge(append([]policy.Layer{policy.BuiltIn()}, req.Layers...)...)
	if err != nil {
		return nil, err
	}
	cmd := spec.Command{Argv: req.Command, Cwd: req.Cwd, Env: req.Env, User: req.User, TTY: req.Terminal != nil}
	if req.Stdin != nil || req.Terminal != nil {
		cmd.Stdin = spec.StdinPipe
	}
	sp, err := spec.Bind(r.host, eff, cmd)
	if err == nil {
		err = r.memory.settled(sp)
	}
	if err != nil {
		return nil, err
	}
	r.bound(sp)
	return sp, nil
}

// plan chooses a backend and compiles the spec for it.
func (r *run) plan(ctx context.Context, sp *spec.Spec, probing bool) (*plan.Plan, error) {
	choice, err := backend.Chooser{Backends: backends(), Host: r.host, Probing: probing, Sandboxed: r.memory.ranSandboxed()}.Choose(ctx, sp.Policy)
	r.report.Trace = choice.Trace
	if err != nil {
		return nil, err
	}
	p, err := choice.Backend.Compile(sp, choice.Support)
	if err != nil {
		return nil, err
	}
	r.chosen(choice, p)
	return p, nil
}
