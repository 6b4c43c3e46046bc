package mcpserver

import (
	"slices"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// bash runs a command to its end, or starts a job.
func (c *session) bash(k *call) *outcome {
	args, err := c.srv.bashArgs(k)
	if err != nil {
		return failed(err)
	}
	if args.background {
		return c.startJob(k, args)
	}
	stop := c.progress(k, args)
	defer stop()
	if !k.hold(c.slots) {
		return dropped()
	}
	r := newRecording()
	k.note(r)
	rep, err := c.srv.opt.run(k.ctx, c.srv.request(args, r))
	stop()
	if !k.hold(c.answers) && c.ctx.Err() == nil {
		return dropped()
	}
	return r.outcome(rep, err, ended)
}

// recording is the output of a command.
type recording struct {
	stdout, stderr *tape
	began          time.Time
}

func newRecording() *recording {
	return &recording{stdout: newTape(maxOutput), stderr: newTape(maxOutput), began: time.Now()}
}

// request makes what the library runs. Workspace, directory, policy and variables are
// the host's.
//
// SECURITY: the model's words become one argument of the shell inside, and a layer
// that can only narrow. Stdin is nil: the command never reads the server's own input,
// which is the protocol (PROC-01).
func (s *Server) request(args bashArgs, r *recording) qsandbox.Request {
	layers := s.opt.Layers
	if args.timeout > 0 {
		layers = append(slices.Clone(layers), policy.Layer{
			Origin: policy.Origin{Kind: policy.OriginFlags, Name: "call"}, NarrowOnly: true, Limits: policy.LayerLimits{Timeout: &args.timeout},
		})
	}
	return qsandbox.Request{
		Layers: layers, Command: append(slices.Clone(s.sh), args.command), Cwd: s.opt.Cwd, Env: s.opt.Env, User: s.opt.User,
		Stdout: r.stdout, Stderr: r.stderr, Events: s.event, Memory: &s.memory,
	}
}

// event tells the host's log what the user must know about a run.
func (s *Server) event(e qsandbox.Event) {
	switch e.Name {
	case qsandbox.EventUnavailable:
		s.opt.Log("a command runs WITHOUT a sandbox: " + inline(e.Fields["reason"]))
	case qsandbox.EventPermissiveUsed:
		s.opt.Log("a command runs in mode permissive, which isolates nothing")
	case qsandbox.EventPolicyViolation:
		s.opt.Log("a command left something that runs later on the host: " + inline(e.Fields["path"]) + " (" + inline(e.Fields["rule"]) + ")")
	}
}

// exitOf is what a shell would say: qsandbox run ends with the same code.
func exitOf(x *report.Exit) int {
	switch x.Cause {
	case report.TimedOut, report.MemoryLimit, report.CPULimit:
		return 124
	}
	return x.Code
}
