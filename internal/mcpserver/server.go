package mcpserver

import (
	"context"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Options are what the host decides. Nothing of it can be changed by a request.
type Options struct {
	Layers  []policy.Layer    // the policy, as qsandbox.Layers gives it
	Cwd     string            // inside the workspace; "" is the workspace
	Env     map[string]string // for every command
	User    string            // as root: run as this user
	Version string            // of the server, for the client to show
	Log     func(line string) // nil: discarded. Never the protocol's own stream

	run runner   // nil: qsandbox.Run
	sh  []string // nil: the shell of this system
}

// runner runs one command to its end.
type runner func(context.Context, qsandbox.Request) (*report.Report, error)

// Bounds of one connection.
const (
	maxRunning  = 32              // commands at once; further calls wait their turn
	maxCalls    = 256             // calls that run or wait; one more is refused
	maxAnswers  = 16              // answers of calls that are held in memory at once
	linger      = 2 * time.Second // after the end of the input: for commands that are about to end
	writeLinger = 2 * time.Second // and then for the peer to read what is left
)

// Server is what all connections share: the policy and the shell.
type Server struct {
	opt    Options
	sh     []string
	facts  facts
	memory qsandbox.Memory // of the session that its commands are (POL-06)
}

// facts are what the client is told about the sandbox.
type facts struct {
	workspace, cwd, backend, mode, network string
	timeout                                time.Duration // of the policy; 0: none
}

// New reads the policy and finds the shell. Nothing is started. Errors are those of
// qsandbox.PlanFor: a bad policy is found before a client connects.
func New(ctx context.Context, opt Options) (*Server, error) {
	s := &Server{opt: opt}
	if s.opt.run == nil {
		s.opt.run = qsandbox.Run
	}
	if s.opt.Log == nil {
		s.opt.Log = func(string) {}
	}
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// settle finds the facts and the shell.
func (s *Server) settle(ctx context.Context) error {
	view, err := qsandbox.EffectivePolicy(s.opt.Layers, qsandbox.HideValues)
	if err != nil {
		return err
	}
	for _, f := range view.Fields {
		switch v, _ := asString(f.Value); f.Name {
		case "network.mode":
			s.facts.network = v
		case "limits.timeout":
			s.facts.timeout, _ = time.ParseDuration(v) // "": none
		}
	}
	if s.opt.sh != nil { // only tests name one
		s.sh = s.opt.sh
		return nil
	}
	plan, err := s.shell(ctx)
	if err != nil {
		return err
	}
	s.facts.workspace, s.facts.cwd, s.facts.backend, s.facts.mode = plan.Workspace, plan.Cwd, plan.Backend, plan.Mode
	return nil
}
