package winsandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// exitTimeout is what a command that the time limit ended is said to have ended with.
const exitTimeout = 124

// start starts the command, copies its streams, and ends everything it started.
func (r *run) start(ctx context.Context, token windows.Token) error {
	job, err := makeJob(r.Request, runtime.NumCPU())
	if err != nil {
		return err
	}
	defer windows.CloseHandle(job)
	desk, err := makeDesktop(r.wish.DefaultDACL())
	if err != nil {
		return err
	}
	defer desk.close()
	s := start{program: r.program, line: r.line, env: r.env, cwd: r.cwd, token: token, job: job, desktop: desk.name}
	if r.TTY {
		return r.onConsole(ctx, s)
	}
	return r.onPipes(ctx, s)
}

// pipes are the three streams with our ends.
type pipes struct {
	child [3]*os.File
	ours  [3]*os.File
}

func makePipes() (p pipes, err error) {
	for i := range 3 {
		rd, wr, err := os.Pipe()
		if err != nil {
			p.close()
			return p, fault.Wrap(fault.LaunchFailed, "make pipes", "", err)
		}
		p.child[i], p.ours[i] = wr, rd
		if i == 0 {
			p.child[i], p.ours[i] = rd, wr
		}
	}
	return p, nil
}

func (p pipes) close() {
	for i := range 3 {
		for _, f := range []*os.File{p.child[i], p.ours[i]} {
			if f != nil {
				f.Close()
			}
		}
	}
}

func (r *run) onPipes(ctx context.Context, s start) error {
	p, err := makePipes()
	if err != nil {
		return err
	}
	defer p.close()
	s.std = p.child
	proc, _, err := spawn(s)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(proc)
	for _, f := range p.child {
		f.Close()
	}
	go feed(p.ours[0], r.Stdin)
	var copies sync.WaitGroup
	copies.Go(func() { drain(r.Stdout, p.ours[1]) })
	copies.Go(func() { drain(r.Stderr, p.ours[2]) })
	err = r.wait(ctx, proc, s.job)
	// Everything is gone now, and with it every writer: the copies come to their end.
	copies.Wait()
	return err
}

// feed passes the input on, and closes it at its end.
func feed(w *os.File, in io.Reader) {
	if in != nil {
		io.Copy(w, in) //nolint:errcheck // the command may stop reading at any time
	}
	w.Close()
}

// drain takes all that comes, also when nobody wants it any more: the command must not
// hang on a full pipe.
func drain(w io.Writer, r io.Reader) {
	if _, err := io.Copy(w, r); err != nil {
		io.Copy(io.Discard, r) //nolint:errcheck // as above
	}
}

// wait waits for the command, for its time to be over, or for the caller, and then ends
// the whole job: no grandchild outlives the run, or holds a pipe (WIN-10).
func (r *run) wait(ctx context.Context, proc, job windows.Handle) error {
	done := make(chan error, 1)
	go func() {
		_, err := windows.WaitForSingleObject(proc, windows.INFINITE)
		done <- err
	}()
	var limit <-chan time.Time
	if r.Timeout > 0 {
		t := time.NewTimer(r.Timeout)
		defer t.Stop()
		limit = t.C
	}
	var ended error
	select {
	case ended = <-done:
	case <-limit:
		r.out.TimedOut = true
	case <-ctx.Done():
		ended = fault.Wrap(fault.LaunchFailed, "wait for", r.program, context.Cause(ctx))
	}
	var code uint32
	if !r.out.TimedOut && ended == nil {
		ended = windows.GetExitCodeProcess(proc, &code)
	}
	err := errors.Join(ended, windows.TerminateJobObject(job, exitTimeout))
	r.out.Code = int(code)
	if r.out.TimedOut {
		r.out.Code = exitTimeout
	}
	return err
}
