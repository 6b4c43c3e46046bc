//go:build !linux && !windows && !darwin

package launch

import (
	"context"
	"errors"
	"os"
	"syscall"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
)

// sysProcess is empty: this system has no launcher yet.
type sysProcess struct{}

var errSystem = errors.New("this version starts commands on Linux only; on this system it can plan and explain")

// Start fails: there is no way from here to an unwrapped command.
func Start(_ context.Context, p *plan.Plan, _ Options) (*Process, error) {
	e := fault.Wrap(fault.SandboxUnavailable, "start the sandbox", "", errSystem)
	e.Backend = p.Backend
	return nil, e
}

// Try fails like Start.
func Try(context.Context, *plan.Plan) error { return errSystem }

// Wait has nothing to wait for.
func (p *Process) Wait() (Result, error) { return Result{}, os.ErrProcessDone }

// Signal has nobody to tell.
func (p *Process) Signal(syscall.Signal) error { return os.ErrProcessDone }

// SignalAll has nobody to tell.
func (p *Process) SignalAll(syscall.Signal) error { return os.ErrProcessDone }

// Kill has nobody to end.
func (p *Process) Kill() error { return os.ErrProcessDone }

// Resize has no terminal.
func (p *Process) Resize(uint16, uint16) error { return os.ErrProcessDone }

// EndRun has nothing to end: the tree ends with its keeper, and there are no cgroups.
func EndRun(map[string]string, string) error { return nil }
