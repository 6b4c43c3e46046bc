//go:build darwin || linux

package keeper

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Options are what a start needs beside the job.
type Options struct {
	Self       string                              // program to start as the keeper; "" is this one
	Stdin      bool                                // a pipe for input, else it is at its end
	Rows, Cols uint16                              // of a terminal; 0 leaves the kernel's default
	Prepare    func(j *Job, terminal string) error // is told the terminal's name before the start; may change the job
}

// Process is a job that runs.
type Process struct {
	Stdin               *os.File // nil without a pipe
	Stdout, Stderr, TTY *os.File
	PID                 int // of the command

	keeper  int
	mu      sync.Mutex // guards control
	control *os.File
	status  *os.File
	events  *bufio.Reader
}

// Result is how the command ended.
type Result struct {
	Status       syscall.WaitStatus
	Lost         bool  // the keeper was ended from outside
	MaxRSS       int64 // KiB
	User, System int64 // microseconds
}

// Start starts a keeper and waits until the command runs. The error is a *Failure
// for a step of the keeper.
func Start(ctx context.Context, j Job, opt Options) (*Process, error) {
	l := &launch{p: &Process{}}
	defer l.closeTheirs()
	if err := l.open(&j, opt); err != nil {
		l.abandon()
		return nil, err
	}
	if err := l.fork(j, opt); err != nil {
		l.abandon()
		return nil, err
	}
	if err := l.p.handshake(ctx); err != nil {
		said := l.words()
		l.abandon()
		var f *Failure
		if errors.As(err, &f) && f.Err == nil && said != "" {
			f.Step += ": " + said
		}
		return nil, err
	}
	return l.p, nil
}

// launch holds the descriptors of one start.
type launch struct {
	p      *Process
	theirs []*os.File
	child  [fdTTY + 1]*os.File
	job    *os.File
}

func (l *launch) pipe(ours **os.File, theirs int, write bool) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	if write {
		*ours, l.child[theirs] = w, r
	} else {
		*ours, l.child[theirs] = r, w
	}
	l.theirs = append(l.theirs, l.child[theirs])
	return nil
}

func (l *launch) open(j *Job, opt Options) error {
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	l.theirs = append(l.theirs, null)
	for i := range l.child {
		l.child[i] = null
	}
	type end struct {
		ours   **os.File
		theirs int
		write  bool
	}
	ends := []end{{&l.p.control, fdControl, true}, {&l.p.status, fdStatus, false}, {&l.job, fdJob, true}, {&l.p.Stdout, 1, false}, {&l.p.Stderr, 2, false}}
	if opt.Stdin && !j.TTY {
		ends = append(ends, end{&l.p.Stdin, 0, true})
	}
	for _, e := range ends {
		if err := l.pipe(e.ours, e.theirs, e.write); err != nil {
			return err
		}
	}
	terminal := "/dev/null"
	if j.TTY {
		master, slave, name, err := openPTY(opt.Rows, opt.Cols)
		if err != nil {
			return &Failure{"open a terminal", err}
		}
		l.p.TTY, l.child[fdTTY], terminal = master, slave, name
		l.theirs = append(l.theirs, slave)
	}
	if opt.Prepare != nil {
		return opt.Prepare(j, terminal)
	}
	return nil
}

// fork starts the keeper and hands the job over.
//
// SECURITY: the keeper's environment is empty; what the command gets goes through
// the pipe and is on no process list (VAR-03).
func (l *launch) fork(j Job, opt Options) error {
	self := opt.Self
	if self == "" {
		var err error
		if self, err = os.Executable(); err != nil {
			return err
		}
	}
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	files := make([]uintptr, len(l.child))
	for i, f := range l.child {
		files[i] = f.Fd()
	}
	pid, err := syscall.ForkExec(self, []string{Name}, &syscall.ProcAttr{Dir: "/", Env: []string{}, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return &Failure{"start the keeper", err}
	}
	l.p.keeper = pid
	l.closeTheirs()
	_, err = l.job.Write(data)
	l.job.Close()
	l.job = nil
	return err
}

func (l *launch) closeTheirs() {
	for _, f := range l.theirs {
		f.Close()
	}
	l.theirs = nil
}

// words gives what the command said on stderr before it failed.
func (l *launch) words() string {
	if l.p.Stderr == nil {
		return ""
	}
	_ = l.p.Stderr.SetReadDeadline(time.Now().Add(time.Second))
	data, _ := io.ReadAll(io.LimitReader(l.p.Stderr, 2048))
	for len(data) > 0 && (data[len(data)-1] == '\n' || data[len(data)-1] == ' ') {
		data = data[:len(data)-1]
	}
	return string(data)
}

func (l *launch) abandon() {
	p := l.p
	for _, f := range []*os.File{p.Stdin, p.Stdout, p.Stderr, p.TTY, p.control, l.job} {
		if f != nil {
			f.Close() // with control the keeper ends all
		}
	}
	if p.keeper != 0 {
		var st syscall.WaitStatus
		waitFor(p.keeper, &st, nil)
	}
	if p.status != nil {
		p.status.Close()
	}
}

// startLimit bounds a start (LNX-12 has the same for Linux).
const startLimit = 30 * time.Second

func (p *Process) handshake(ctx context.Context) error {
	deadline := time.Now().Add(startLimit)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	_ = p.status.SetReadDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = p.status.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	p.events = bufio.NewReader(p.status)
	e, err := p.next()
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &Failure{"hear from the keeper", err}
	case e.Kind != evStarted:
		return e.failure()
	}
	p.PID = e.PID
	_ = p.status.SetReadDeadline(time.Time{})
	return nil
}

func (p *Process) next() (e event, err error) {
	line, err := p.events.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &e)
	}
	return e, err
}

// Wait waits until the command has ended, and with it all that it started.
func (p *Process) Wait() Result {
	e, err := p.next()
	p.mu.Lock()
	p.control.Close()
	p.control = nil
	p.mu.Unlock()
	p.status.Close()
	if err != nil || e.Kind != evExited {
		_ = syscall.Kill(-p.PID, syscall.SIGKILL) // the keeper is gone: its group is all we know
		var st syscall.WaitStatus
		waitFor(p.keeper, &st, nil)
		return Result{Lost: true}
	}
	var st syscall.WaitStatus
	waitFor(p.keeper, &st, nil)
	return Result{Status: syscall.WaitStatus(e.Status), MaxRSS: e.MaxRSS, User: e.User, System: e.System}
}

// Signal sends a signal to the command's group.
func (p *Process) Signal(sig syscall.Signal) error { return p.send(byte(sig)) }

// SignalAll sends a signal to the whole tree.
func (p *Process) SignalAll(sig syscall.Signal) error { return p.send(all | byte(sig)) }

// Kill ends the whole tree at once.
func (p *Process) Kill() error { return p.send(all | byte(syscall.SIGKILL)) }

func (p *Process) send(b byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.control == nil {
		return os.ErrProcessDone
	}
	_, err := p.control.Write([]byte{b})
	return err
}

// Resize tells the terminal its new size.
func (p *Process) Resize(rows, cols uint16) error {
	if p.TTY == nil {
		return os.ErrInvalid
	}
	raw, err := p.TTY.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	})
	return errors.Join(err, set)
}
