//go:build darwin || linux

package launch

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/keeper"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
)

// kept is a command under a keeper, with what was made for it. It is how macOS
// starts commands; here, so that its tests run on Linux as well.
type kept struct {
	proc *keeper.Process
	dir  *runDir // nil without a profile
	plan *plan.Plan
}

// startKept carries out a plan that has a profile, or none at all.
//
// SECURITY: a plan with a profile is only ever started through its outer program;
// one that says it isolates something and has no profile is not started.
func startKept(ctx context.Context, p *plan.Plan, opt Options) (*kept, error) {
	k := &kept{plan: p}
	if (p.Profile == nil) != (p.Outer == nil) || p.Profile == nil && !p.Isolation.Direct {
		return nil, k.wrap("start the sandbox", errors.New("this plan is for another system"))
	}
	if p.User.Switch {
		return nil, k.wrap("change the user", errors.New("qsandbox cannot do that on this system; start it as that user"))
	}
	if err := k.prepare(); err != nil {
		return nil, err
	}
	job := keeper.Job{Path: []byte(p.Exe), Argv: keeper.Bytes(p.Argv), Env: keeper.Bytes(p.Env), Dir: []byte(p.Cwd), TTY: p.TTY}
	proc, err := keeper.Start(ctx, job, keeper.Options{
		Stdin: p.Stdin == spec.StdinPipe, Rows: opt.Rows, Cols: opt.Cols, Prepare: k.enclose,
	})
	if err != nil {
		k.dir.remove()
		return nil, k.failed(ctx, err)
	}
	k.proc = proc
	return k, nil
}

// prepare makes the directories of a run.
func (k *kept) prepare() (err error) {
	for _, path := range k.plan.Create {
		if err := makeDirs(path); err != nil {
			return fault.Wrap(fault.PathInvalid, "make", path, err)
		}
	}
	if k.plan.Profile == nil {
		return nil
	}
	root := runRoot(k.plan.Profile.Root)
	if k.dir, err = newRunDir(root); err != nil {
		return k.wrap("make the directory of this run", err)
	}
	reap(filepath.Dir(k.dir.dir))
	return nil
}

// enclose puts the outer program before the command, once the terminal is known.
// Without a profile the command stays alone.
func (k *kept) enclose(j *keeper.Job, terminal string) error {
	p := k.plan
	if p.Profile == nil {
		return nil
	}
	file, err := k.dir.write(p.Profile.Text)
	if err != nil {
		return k.wrap("write the profile", err)
	}
	argv := []string{filepath.Base(p.Outer.Program), "-f", file}
	for _, d := range [][2]string{{p.Profile.Tmp, k.dir.tmp}, {p.Profile.Run, k.dir.run}, {p.Profile.Dir, k.dir.dir}, {p.Profile.TTY, terminal}} {
		argv = append(argv, "-D", d[0]+"="+d[1])
	}
	argv = append(argv, "--", p.Exe)
	j.Path, j.Argv = []byte(p.Outer.Program), keeper.Bytes(append(argv, p.Argv[1:]...))
	j.Wrapper = filepath.Base(p.Outer.Program)
	if !p.Isolation.Direct {
		j.Env = keeper.Bytes(append(slices.Clone(p.Env), "TMPDIR="+k.dir.tmp))
	}
	return nil
}

// failed turns a failed start into an error with a code.
func (k *kept) failed(ctx context.Context, err error) error {
	var f *keeper.Failure
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return err
	case ctx.Err() != nil:
		return k.wrap("start the sandbox", context.Cause(ctx))
	case !errors.As(err, &f):
		return k.wrap("start the sandbox", err)
	case k.plan.Outer != nil:
		return k.outerFailed(f)
	case errors.Is(f.Err, syscall.ENOENT):
		return fault.Wrap(fault.CommandNotFound, "execute", k.plan.Exe, f.Err)
	case f.Err != nil && strings.HasPrefix(f.Step, "execute "):
		return fault.Wrap(fault.CommandNotExecutable, "execute", k.plan.Exe, f.Err)
	}
	return k.wrap("start the command", f)
}

// outerFailed reads what sandbox-exec said. Its words are all there is: it ends with
// 65 (the profile is refused), 71 (execvp or sandbox_apply failed).
func (k *kept) outerFailed(f *keeper.Failure) error {
	said := f.Error()
	switch {
	case strings.Contains(said, "execvp() of") && strings.Contains(said, "No such file"):
		return fault.Wrap(fault.CommandNotFound, "execute", k.plan.Exe, syscall.ENOENT).WithHint("it is not there, or its interpreter is not")
	case strings.Contains(said, "execvp() of"):
		return fault.Wrap(fault.CommandNotExecutable, "execute", k.plan.Exe, syscall.EACCES).
			WithHint("the profile allows programs of the system, of writable places and of known places alone: see qsandbox explain exec, and exec.startupAllowlist")
	case strings.Contains(said, "sandbox_apply"):
		// A process in a sandbox cannot apply another one.
		return k.wrap(said, syscall.EPERM)
	}
	return k.wrap("apply the profile", f)
}

func (k *kept) wrap(op string, err error) error {
	e := fault.Wrap(fault.LaunchFailed, op, "", err)
	e.Backend = k.plan.Backend
	return e
}

// wait waits for the end, and removes what was made.
func (k *kept) wait() Result {
	res := k.proc.Wait()
	k.dir.remove()
	if res.Lost {
		return Result{Lost: true, Code: 128 + int(syscall.SIGKILL), Signal: int(syscall.SIGKILL)}
	}
	r := Result{Code: res.Status.ExitStatus(), PIDs: res.PIDs}
	r.Usage.MaxRSSKiB, r.Usage.UserMicros, r.Usage.SystemMicros = res.MaxRSS, res.User, res.System
	if res.Status.Signaled() {
		r.Signal = int(res.Status.Signal())
		r.Code = 128 + r.Signal
	}
	return r
}

// tryKept starts the plan's command and wants it to end well.
func tryKept(ctx context.Context, p *plan.Plan) error {
	k, err := startKept(ctx, p, Options{})
	if err != nil {
		return err
	}
	defer k.proc.Stdout.Close()
	defer k.proc.Stderr.Close()
	stop := context.AfterFunc(ctx, func() { _ = k.proc.Kill() })
	defer stop()
	switch r := k.wait(); {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.Code != 0:
		return k.wrap("try the sandbox", errors.New("the command that was tried did not end well"))
	}
	return nil
}
