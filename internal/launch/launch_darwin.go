package launch

import (
	"context"
	"os"
	"syscall"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/keeper"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
)

// A launcher starts its own binary as the keeper.
func init() {
	if len(os.Args) > 0 && os.Args[0] == keeper.Name {
		keeper.Main()
	}
}

// sysProcess is the macOS part of a Process.
type sysProcess struct{ kept *kept }

// Start carries a plan out up to the command's first instruction.
// Errors: LAUNCH_FAILED, COMMAND_NOT_FOUND, COMMAND_NOT_EXECUTABLE, PATH_INVALID.
func Start(ctx context.Context, p *plan.Plan, opt Options) (*Process, error) {
	k, err := startKept(ctx, p, opt)
	if err != nil {
		return nil, err
	}
	out := &Process{Stdout: k.proc.Stdout, Stderr: k.proc.Stderr, TTY: k.proc.TTY, PID: k.proc.PID, sys: sysProcess{k}}
	switch {
	case k.proc.TTY != nil:
		// What is shown comes from the terminal; the pipes carried sandbox-exec's words.
		k.proc.Stdout.Close()
		k.proc.Stderr.Close()
		out.Stdout, out.Stderr, out.Stdin = nil, nil, k.proc.TTY
	case k.proc.Stdin != nil:
		out.Stdin = k.proc.Stdin
	}
	return out, nil
}

// Try starts the plan's command in its sandbox and waits for its end (POL-07).
func Try(ctx context.Context, p *plan.Plan) error { return tryKept(ctx, p) }

// Wait waits until the command has ended, and what it started as far as it was found.
func (p *Process) Wait() (Result, error) { return p.sys.kept.wait(), nil }

// Signal sends a signal to the command's process group.
func (p *Process) Signal(sig syscall.Signal) error { return p.sys.kept.proc.Signal(sig) }

// SignalAll sends a signal to every process that descends from the command.
func (p *Process) SignalAll(sig syscall.Signal) error { return p.sys.kept.proc.SignalAll(sig) }

// Kill ends the whole tree at once.
func (p *Process) Kill() error { return p.sys.kept.proc.Kill() }

// Resize tells the terminal its new size.
func (p *Process) Resize(rows, cols uint16) error {
	if p.TTY == nil {
		return fault.New(fault.UsageInvalid, "resize", "", "there is no terminal")
	}
	return p.sys.kept.proc.Resize(rows, cols)
}

// EndRun has nothing to end: the tree ends with its keeper, and there are no cgroups.
func EndRun(map[string]string, string) error { return nil }
