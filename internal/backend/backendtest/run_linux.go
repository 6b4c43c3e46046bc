package backendtest

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/internal/event"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Setup is what a case runs on.
type Setup struct {
	Backend policy.Backend
	Mode    policy.Mode
}

// String names a subtest.
func (s Setup) String() string { return s.Backend.String() + "/" + s.Mode.String() }

// Native is the setup that most tests of streams and processes need.
var Native = Setup{policy.LinuxNative, policy.Compat}

// None is no sandbox: the control.
var None = Setup{policy.None, policy.Compat}

// Policy is the part of a policy that cases change; entries are expanded by Place.Expand.
type Policy struct {
	Writable, Readable, DenyRead, DenyWrite, Sockets, Pass, Hooks []string
	Set                                                           map[string]string
	Network                                                       policy.NetworkMode
	Limits                                                        policy.LayerLimits
}

// Layer makes the policy's layer for a place.
func (s Setup) Layer(p *Place, pol Policy) policy.Layer {
	l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &p.WS, Backend: &s.Backend, Mode: &s.Mode, Limits: pol.Limits}
	l.Filesystem = policy.LayerFilesystem{Writable: p.expandAll(pol.Writable), Readable: p.expandAll(pol.Readable), DenyRead: p.expandAll(pol.DenyRead), DenyWrite: p.expandAll(pol.DenyWrite)}
	l.Network.UnixSockets, l.Network.Mode = p.expandAll(pol.Sockets), &pol.Network
	l.Env.Pass, l.Env.AllowHooks = p.expandAll(pol.Pass), p.expandAll(pol.Hooks)
	if pol.Set != nil {
		l.Env.Set = &pol.Set
	}
	return l
}

// Call is one command to run.
type Call struct {
	Policy   Policy
	Script   string   // run by bash, or
	Command  []string // this
	Cwd      string
	Env      map[string]string
	User     string
	Stdin    io.Reader
	Terminal *qsandbox.Terminal
	Context  context.Context
	Started  func(*qsandbox.Session)
	Events   func(event.Event)
	Stdout   io.Writer     // instead of Result.Out
	Limit    time.Duration // instead of callLimit
}

// Result is what came of it.
type Result struct {
	*report.Report
	Err      error
	Out, Msg string
}

// OK tells whether the command ran and gave 0.
func (r Result) OK() bool { return r.Err == nil && r.Exit != nil && r.Exit.Code == 0 }

// callLimit ends a command that hangs, so that one bug does not stop them all.
const callLimit = 60 * time.Second

// Run runs a command in a place. Scripts see the variables of Place.Expand.
func (s Setup) Run(t testing.TB, p *Place, c Call) Result {
	t.Helper()
	var out, msg bytes.Buffer
	ctx := c.Context
	if ctx == nil {
		ctx = t.Context()
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Limit, callLimit))
	defer cancel()
	env := p.vars()
	env["EXPECT_HOME"] = env["HOME"]
	delete(env, "HOME")
	for k, v := range c.Env {
		env[k] = v
	}
	argv := c.Command
	if argv == nil {
		argv = []string{"/bin/bash", "-c", c.Script}
	}
	req := qsandbox.Request{
		Layers: []policy.Layer{s.Layer(p, c.Policy)}, Command: argv, Cwd: c.Cwd, Env: env, User: c.User,
		Stdin: c.Stdin, Stdout: &out, Stderr: &msg, Terminal: c.Terminal, Started: c.Started, Events: c.Events,
	}
	if c.Stdout != nil {
		req.Stdout = c.Stdout
	}
	rep, err := qsandbox.Run(ctx, req)
	return Result{Report: rep, Err: err, Out: out.String(), Msg: msg.String()}
}

// Must runs a command that must give 0, and gives its output.
func (s Setup) Must(t testing.TB, p *Place, c Call) string {
	t.Helper()
	r := s.Run(t, p, c)
	if !r.OK() {
		t.Fatalf("%v: the command should work\n%s\n%s", s, c.Script, r.Describe())
	}
	return r.Out
}

// MustFail runs a command that must run and not give 0.
func (s Setup) MustFail(t testing.TB, p *Place, c Call) Result {
	t.Helper()
	r := s.Run(t, p, c)
	if r.Err != nil {
		t.Fatalf("%v: the command should run and be refused, but it did not run\n%s\n%s", s, c.Script, r.Describe())
	}
	if r.OK() {
		t.Fatalf("%v: the command should be refused, but it worked\n%s\n%s", s, c.Script, r.Describe())
	}
	return r
}
