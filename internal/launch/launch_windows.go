package launch

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
)

// sysProcess is the helper, which builds the sandbox and starts the command.
type sysProcess struct {
	cmd     *exec.Cmd
	job     windows.Handle // ends the helper with us
	records string         // directory of the helper's report
	plan    *plan.Plan
	killed  *atomic.Bool // by us
	sizes   *os.File     // tells the helper the size of the terminal; nil without one
}

var errNoHelper = errors.New("on Windows only the windows-sandbox backend can start commands")

// Start starts the helper. Whether it could build the sandbox is known at its end, from
// its report; it never runs the command without.
func Start(_ context.Context, p *plan.Plan, opt Options) (*Process, error) {
	if p.Outer == nil || p.Outer.Program == "" {
		e := fault.Wrap(fault.SandboxUnavailable, "start the sandbox", "", errNoHelper)
		e.Backend = p.Backend
		return nil, e
	}
	dir, err := os.MkdirTemp("", "qsandbox-")
	if err != nil {
		return nil, launchError(p, "make a directory for the helper's report", err)
	}
	proc, err := startHelper(p, dir, opt)
	if err != nil {
		os.RemoveAll(dir)
		return nil, launchError(p, "start the helper", err)
	}
	return proc, nil
}

func launchError(p *plan.Plan, op string, err error) error {
	e := fault.Wrap(fault.LaunchFailed, op, "", err)
	e.Backend = p.Backend
	return e
}

func startHelper(p *plan.Plan, dir string, opt Options) (*Process, error) {
	job, err := endWithUs()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: p.Outer.Program, Env: p.Env, Dir: p.Cwd}
	proc := &Process{sys: sysProcess{cmd: cmd, job: job, records: dir, plan: p, killed: &atomic.Bool{}}}
	more := []string{"--report", filepath.Join(dir, "report.json")}
	theirs, err := proc.pipes(p)
	if err == nil && p.TTY {
		var sizes *os.File
		if sizes, err = proc.sizePipe(); err == nil {
			theirs, more = append(theirs, sizes), append(more, sizeArgs(opt, sizes.Fd())...)
			cmd.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(sizes.Fd())}}
		}
	}
	if err == nil {
		cmd.Args = append([]string{p.Outer.Program}, helperArgs(p, more)...)
		err = cmd.Start()
	}
	for _, f := range theirs {
		f.Close()
	}
	if err == nil {
		err = proc.adopt()
	}
	if err != nil {
		proc.abandon()
		return nil, err
	}
	proc.PID = cmd.Process.Pid
	return proc, nil
}

// sizePipe makes the pipe by which the helper learns of changes of size; the end that
// it gives is the helper's, and can be inherited.
func (p *Process) sizePipe() (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.sys.sizes = w
	if err := windows.SetHandleInformation(windows.Handle(r.Fd()), windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// sizeArgs tells the helper the first size, and where the others come from.
func sizeArgs(opt Options, pipe uintptr) []string {
	args := []string{"--sizes", strconv.FormatUint(uint64(pipe), 10)}
	if s := sizeOf(opt.Rows, opt.Cols); s != "" {
		args = append(args, "--size", s)
	}
	return args
}

// sizeOf writes a size as the helper reads it; "" when it is none.
func sizeOf(rows, cols uint16) string {
	if rows == 0 || cols == 0 || rows > math.MaxInt16 || cols > math.MaxInt16 {
		return ""
	}
	return strconv.Itoa(int(cols)) + "x" + strconv.Itoa(int(rows))
}

// helperArgs puts more options behind the subcommand.
func helperArgs(p *plan.Plan, more []string) []string {
	var args []string
	for i, a := range p.Outer.Args {
		args = append(args, a.Text)
		if i == 0 {
			args = append(args, more...)
		}
	}
	return args
}

// pipes makes the streams; theirs are the ends that the helper gets.
func (p *Process) pipes(pl *plan.Plan) (theirs []*os.File, err error) {
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	c := p.sys.cmd
	if pl.TTY || pl.Stdin == spec.StdinPipe {
		r, w := pipe()
		if err != nil {
			return theirs, err
		}
		c.Stdin, p.Stdin = r, w
		theirs = append(theirs, r)
	}
	r, w := pipe()
	r2, w2 := pipe()
	if err != nil {
		return theirs, err
	}
	c.Stdout, c.Stderr = w, w2
	if pl.TTY {
		p.TTY, p.Stderr = r, nil
		r2.Close()
	} else {
		p.Stdout, p.Stderr = r, r2
	}
	return append(theirs, w, w2), nil
}

// endWithUs makes a job that ends the helper, and so everything, when we are gone.
func endWithUs() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var l windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	l.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&l)), uint32(unsafe.Sizeof(l))); err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// adopt puts the helper into the job.
func (p *Process) adopt() error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.sys.cmd.Process.Pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.AssignProcessToJobObject(p.sys.job, h)
}

// abandon ends what was begun.
func (p *Process) abandon() {
	if p.sys.cmd.Process != nil {
		p.sys.cmd.Process.Kill()
		p.sys.cmd.Wait() //nolint:errcheck // it was killed
	}
	windows.CloseHandle(p.sys.job)
	if p.Stdin != nil {
		p.Stdin.Close()
	}
	for _, f := range []*os.File{p.Stdout, p.Stderr, p.TTY, p.sys.sizes} {
		if f != nil {
			f.Close()
		}
	}
}

// Try starts nothing: the probe of windows-sandbox asks the helper itself.
func Try(context.Context, *plan.Plan) error { return errNoHelper }

// Wait waits for the helper's end, and says whether it was its own or the command's.
func (p *Process) Wait() (Result, error) {
	waitErr := p.sys.cmd.Wait()
	windows.CloseHandle(p.sys.job)
	if p.sys.sizes != nil {
		p.sys.sizes.Close()
	}
	defer os.RemoveAll(p.sys.records)
	r := Result{Code: p.sys.cmd.ProcessState.ExitCode()}
	var exited *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exited) {
		return r, launchError(p.sys.plan, "wait for the helper", waitErr)
	}
	if p.sys.killed.Load() {
		return r, nil // the session knows why; a killed helper leaves no report
	}
	return r, p.failure()
}

// failure reads the helper's report: an error there is ours, not the command's.
func (p *Process) failure() error {
	data, err := os.ReadFile(filepath.Join(p.sys.records, "report.json"))
	if err != nil || len(data) == 0 {
		return fault.New(fault.HelperProtocol, "read the helper's report", "", "the helper ended without one: it was killed, or refused its command line")
	}
	var rep struct {
		Error *struct{ Code, Message string }
	}
	if err := json.Unmarshal(data, &rep); err != nil {
		return fault.Wrap(fault.HelperProtocol, "read the helper's report", "", err)
	}
	if rep.Error == nil {
		return nil
	}
	e := fault.Wrap(fault.Code(rep.Error.Code), "run the helper", "", errors.New(rep.Error.Message))
	e.Backend = p.sys.plan.Backend
	return e
}

// Signal has no like on Windows.
func (p *Process) Signal(syscall.Signal) error { return syscall.EWINDOWS }

// SignalAll has no like on Windows: a tree ends by Kill.
func (p *Process) SignalAll(syscall.Signal) error { return syscall.EWINDOWS }

// Kill ends the helper, whose job ends everything else.
func (p *Process) Kill() error {
	p.sys.killed.Store(true)
	return p.sys.cmd.Process.Kill()
}

// Resize tells the helper the terminal's new size.
func (p *Process) Resize(rows, cols uint16) error {
	s := sizeOf(rows, cols)
	if p.sys.sizes == nil || s == "" {
		return syscall.EINVAL
	}
	_, err := p.sys.sizes.WriteString(s + "\n")
	return err
}

// EndRun has nothing to end: the tree ends with its keeper, and there are no cgroups.
func EndRun(map[string]string, string) error { return nil }
