// Package supervise is step 4 of 5: a session owns a running process: its
// streams, its time, its end, and what is left on the host afterwards.
package supervise

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/launch"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Options are a session's streams and bounds.
type Options struct {
	Stdin   io.Reader // read until its end when the plan asks for stdin
	Stdout  io.Writer // with a terminal: everything it shows
	Stderr  io.Writer
	Timeout time.Duration // 0: none
	Grace   time.Duration // between TERM and KILL
	Output  int64         // bytes kept of each stream; 0: all
	Direct  bool          // no pid namespace: somebody may still hold the pipes
	Cwd     string        // where relative paths in messages are taken from
	Judge   Judge         // nil: the command's messages are not read (OBS-04)
}

// Session is a process and everything it owns.
type Session struct {
	proc  *launch.Process
	opt   Options
	done  chan struct{}
	exit  report.Exit
	err   error
	mu    sync.Mutex
	cause report.Cause  // why we ended it; "" when it ended by itself
	over  chan struct{} // closed when what is not copied by now is given up
	late  sync.Once     // closes it
	heard *scanner      // the command's messages
	pids  []int         // of what ran, where they are known
	denials
}

// Start takes over a process. When ctx ends, the whole tree is ended: TERM
// first, then KILL after the grace (PROC-02).
func Start(ctx context.Context, proc *launch.Process, opt Options) *Session {
	s := &Session{proc: proc, opt: opt, done: make(chan struct{}), over: make(chan struct{})}
	out := newLimiter(opt.Stdout, opt.Output)
	errw := newLimiter(opt.Stderr, opt.Output)
	if opt.Judge != nil {
		s.heard = &scanner{hints: hints{cwd: opt.Cwd}}
	}
	var copies sync.WaitGroup
	if proc.TTY != nil {
		copies.Go(func() { drain(out, proc.TTY, s.heard) })
	} else {
		copies.Go(func() { drain(out, proc.Stdout, nil) })
		copies.Go(func() { drain(errw, proc.Stderr, s.heard) })
	}
	s.feed()
	go s.watch(ctx)
	go s.finish(&copies, out, errw)
	return s
}

// drain copies until the last writer is gone. A reader that fails (the caller's
// pipe is closed) must not stop the command's own writes from being taken. What the
// limiter leaves out is heard too.
func drain(w *limiter, r *os.File, heard *scanner) {
	buf := make([]byte, 4<<10) // most commands say little; the buffer grows with those that do not
	for {
		n, err := r.Read(buf)
		if n > 0 {
			w.write(buf[:n])
			if heard != nil {
				heard.write(buf[:n])
			}
		}
		if n == len(buf) && n < 64<<10 {
			buf = make([]byte, 64<<10)
		}
		if err != nil {
			return
		}
	}
}

// feed passes the input on and closes it at its end.
func (s *Session) feed() {
	if s.proc.Stdin == nil {
		return
	}
	if s.opt.Stdin == nil {
		if s.proc.TTY == nil {
			s.proc.Stdin.Close()
		}
		return
	}
	go func() {
		io.Copy(s.proc.Stdin, s.opt.Stdin) //nolint:errcheck // the command may stop reading at any time
		if s.proc.TTY == nil {
			s.proc.Stdin.Close()
		}
	}()
}

// watch ends the tree when its time is over or the caller has had enough.
func (s *Session) watch(ctx context.Context) {
	var timeout <-chan time.Time
	if s.opt.Timeout > 0 {
		t := time.NewTimer(s.opt.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case <-s.done:
		return
	case <-timeout:
		s.end(report.TimedOut, syscall.SIGTERM)
	case <-ctx.Done():
		sig := syscall.SIGTERM
		if c, ok := context.Cause(ctx).(interface{ Signal() syscall.Signal }); ok {
			sig = c.Signal()
		}
		s.end(report.Cancelled, sig)
	}
}

// lastCopies is the time for output that the caller has not taken when the tree is
// killed. A reader that takes nothing must not hold the run.
const lastCopies = 250 * time.Millisecond

// end asks the tree to end, and ends it after the grace. When all of it has ended
// already and only the caller's reader is slow, that has the grace as well.
func (s *Session) end(cause report.Cause, sig syscall.Signal) {
	s.mu.Lock()
	if s.cause == "" {
		s.cause = cause
	}
	s.mu.Unlock()
	if err := s.proc.SignalAll(sig); err == nil || errors.Is(err, os.ErrProcessDone) {
		if s.doneWithin(s.opt.Grace) {
			return
		}
	}
	s.proc.Kill()
	if !s.doneWithin(lastCopies) {
		s.late.Do(func() { close(s.over) })
	}
}

// doneWithin waits for the end, so long.
func (s *Session) doneWithin(d time.Duration) bool {
	if d <= 0 {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.done:
		return true
	case <-t.C:
		return false
	}
}

// finish waits for the process, drains its output and settles the exit.
func (s *Session) finish(copies *sync.WaitGroup, out, errw *limiter) {
	defer close(s.done)
	res, err := s.proc.Wait()
	if s.opt.Direct {
		// Without a pid namespace somebody may have escaped with our pipes.
		deadline := time.Now().Add(time.Second)
		for _, f := range []*os.File{s.proc.Stdout, s.proc.Stderr, s.proc.TTY} {
			if f != nil {
				f.SetReadDeadline(deadline)
			}
		}
	}
	whole := s.copied(copies, out, errw)
	s.closeStreams()
	s.err, s.pids = err, res.PIDs
	s.exit = s.settle(res)
	s.exit.Truncated = !whole || out.cut() || errw.cut()
	if whole { // else somebody is still at the messages
		s.judge()
	}
}

// copied waits until all output has been handed to the caller. False: the time for it
// was over while the caller's writer held us. Nothing is written to it any more, apart
// from what it is holding.
func (s *Session) copied(copies *sync.WaitGroup, out, errw *limiter) bool {
	all := make(chan struct{})
	go func() {
		defer close(all)
		copies.Wait()
		out.close()
		errw.close()
	}()
	select {
	case <-all:
		return true
	case <-s.over:
		out.abandon()
		errw.abandon()
		return false
	}
}

func (s *Session) closeStreams() {
	for _, f := range []*os.File{s.proc.Stdout, s.proc.Stderr, s.proc.TTY} {
		if f != nil {
			f.Close()
		}
	}
	if s.proc.Stdin != nil {
		s.proc.Stdin.Close()
	}
}

func (s *Session) settle(res launch.Result) report.Exit {
	e := report.Exit{Code: res.Code, Cause: report.Exited, MaxRSSKiB: res.Usage.MaxRSSKiB, UserMS: res.Usage.UserMicros / 1000, SystemMS: res.Usage.SystemMicros / 1000}
	if res.Signal != 0 {
		e.Signal, e.Cause = signalName(res.Signal), report.Signaled
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.cause != "":
		e.Cause = s.cause
	case res.Memory:
		e.Cause = report.MemoryLimit
	}
	return e
}

// Wait waits for the end. Its error is ours (LAUNCH_FAILED …); a command that
// fails is not an error.
func (s *Session) Wait() (report.Exit, error) {
	<-s.done
	return s.exit, s.err
}

// Done is closed at the end.
func (s *Session) Done() <-chan struct{} { return s.done }

// Signal passes a signal on to the command.
func (s *Session) Signal(sig syscall.Signal) error { return s.proc.Signal(sig) }

// Stop ends the tree: TERM, then KILL after the grace. It returns at once.
func (s *Session) Stop() { go s.end(report.Cancelled, syscall.SIGTERM) }

// Resize tells the terminal its new size.
func (s *Session) Resize(rows, cols uint16) error { return s.proc.Resize(rows, cols) }

// PIDs waits for the end and gives the processes that were seen of the command's tree;
// none where the system does not name processes of a sandbox (Linux, Windows).
func (s *Session) PIDs() []int {
	<-s.done
	return s.pids
}

// PID is the init's process id on the host.
func (s *Session) PID() int { return s.proc.PID }

// signalName gives "SIGTERM" for 15.
func signalName(n int) string {
	if name := sigName(syscall.Signal(n)); name != "" {
		return name
	}
	return "SIG" + strconv.Itoa(n)
}
