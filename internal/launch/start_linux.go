package launch

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/inside"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
)

// startLimit bounds the time from the first process to the command (LNX-12).
const startLimit = 30 * time.Second

// Overlaps tells whether Start calls Options.Meanwhile. Where it does not, the caller
// does that work first.
const Overlaps = true

// sysProcess is the Linux part of a Process.
type sysProcess struct {
	outer   int // what we started: bwrap, the stage, or the init itself
	control int // write end, not blocking; closing it ends everything inside; -1 when closed
	status  *os.File
	image   *inside.Image
	plan    *plan.Plan
	group   *cgroup
	direct  bool
	mu      sync.Mutex // guards control
}

// Start carries a plan out up to the command's first instruction.
// Errors: LAUNCH_FAILED, COMMAND_NOT_FOUND, COMMAND_NOT_EXECUTABLE.
func Start(ctx context.Context, p *plan.Plan, opt Options) (*Process, error) {
	p, err := withDirs(p)
	if err != nil {
		return nil, err
	}
	opt.SecondStart = opt.SecondStart || EverySecondStart
	l := &launcher{plan: p, opt: opt}
	defer l.closeChildEnds()
	if err := l.ownGroups(); err != nil {
		l.abandon()
		return nil, err
	}
	if err := l.lower(); err != nil {
		l.abandon()
		return nil, fault.Wrap(fault.Internal, "prepare the sandbox", "", err)
	}
	if err := l.open(); err != nil {
		l.abandon()
		return nil, l.wrap("open descriptors", err)
	}
	if err := l.fork(); err != nil {
		l.abandon()
		return nil, err
	}
	l.closeChildEnds()
	if err := l.meanwhile(); err != nil {
		l.abandon()
		return nil, err
	}
	if err := l.handshake(ctx); err != nil {
		l.abandon()
		return nil, err
	}
	return l.process(), nil
}

// lower writes the three programs of a plan.
func (l *launcher) lower() (err error) {
	p := l.plan
	b := inside.NewBuilder(!p.Isolation.Direct)
	if p.Outer == nil && !p.Isolation.Direct {
		if l.oneStart() {
			l.pre = lowerPrelude(b, p, len(l.child)+len(l.extra))
		}
		lowerSetup(b, p)
		if l.oneStart() {
			lowerExec(b, l.initArgs(inside.InitName))
		}
	}
	var size *unix.Winsize
	if l.opt.Rows > 0 {
		size = &unix.Winsize{Row: l.opt.Rows, Col: l.opt.Cols}
	}
	slave := lowerInit(b, p, size, l.lowerJoin(b))
	lowerCommand(b, p, slave)
	l.image, err = b.Build()
	return err
}

// oneStart tells whether the set-up runs in a raw child instead of a second
// start of our own binary.
func (l *launcher) oneStart() bool {
	return inside.CanClone && !l.opt.SecondStart && l.plan.Outer == nil && !l.plan.Isolation.Direct
}

// launcher holds the descriptors of one start. They are plain numbers: an
// os.File would be registered with the poller and made non-blocking, at the cost
// of several system calls each.
type launcher struct {
	plan     *plan.Plan
	opt      Options
	image    *inside.Image
	ours     []io.Closer // ends of ours, closed when the start fails
	theirs   []int       // ends of the child
	child    [7]int      // what becomes descriptors 0 to 6
	extra    []int       // from descriptor 7 on: the groups that the init enters, then what the outer program needs
	control  int
	status   *os.File
	stdin    *os.File
	stdout   *os.File
	stderr   *os.File
	tty      *os.File
	outer    int
	pre      prelude       // oneStart
	raw      *inside.Child // of a raw child
	first    *inside.Image // of a raw child that becomes the outer program
	pid      int
	group    *cgroup
	done     bool // what the caller does meanwhile
	later    int  // 1 + index in extra of the group that the command enters, 0 where there is none
	born     int  // the group that the first process is made in, -1 where there is none
	listened bool
	tryOnly  bool // stop when the init is ready
}

// fdCloser closes a plain descriptor.
type fdCloser int

func (f fdCloser) Close() error { return unix.Close(int(f)) }

// open makes the descriptors: 0-2 of the command, 3 control, 4 status, 5 the
// blob, 6 the init.
func (l *launcher) open() error {
	if err := l.stdio(); err != nil {
		return err
	}
	r, w, err := pipe(0)
	if err != nil {
		return err
	}
	l.theirs, l.ours = append(l.theirs, r), append(l.ours, fdCloser(w))
	l.control, l.child[inside.FDControl] = w, r
	if err := unix.SetNonblock(w, true); err != nil {
		return err
	}
	if err := l.openStatus(); err != nil {
		return err
	}
	if l.child[inside.FDBlob], err = inside.BlobFD(l.image); err != nil {
		return err
	}
	l.theirs = append(l.theirs, l.child[inside.FDBlob])
	init, err := l.initKind().Image()
	if err != nil {
		return err
	}
	l.child[inside.FDInit] = int(init.Fd()) // shared by all launches: it stays open
	return nil
}

func (l *launcher) initKind() inside.InitKind {
	if l.opt.SecondStart {
		return inside.InitGo
	}
	return inside.InitAuto
}

func pipe(flags int) (r, w int, err error) {
	var p [2]int
	err = unix.Pipe2(p[:], unix.O_CLOEXEC|flags)
	return p[0], p[1], err
}

// stdio makes the command's 0, 1 and 2: always our pipes, never the caller's
// descriptors (PROC-01). With a terminal they carry only what the set-up itself
// says, until the child connects its own.
func (l *launcher) stdio() error {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	l.theirs = append(l.theirs, null)
	l.child[0] = null
	if !l.plan.TTY && l.plan.Stdin != 0 {
		r, w, err := pipe(0)
		if err != nil {
			return err
		}
		l.child[0], l.stdin = r, ourEnd(w, "stdin")
		l.theirs, l.ours = append(l.theirs, r), append(l.ours, l.stdin)
	}
	for fd, ours := range []**os.File{1: &l.stdout, 2: &l.stderr} {
		if ours == nil {
			continue
		}
		r, w, err := pipe(0)
		if err != nil {
			return err
		}
		l.child[fd], *ours = w, ourEnd(r, "output")
		l.theirs, l.ours = append(l.theirs, w), append(l.ours, *ours)
	}
	return nil
}

// ourEnd makes a pollable file of our end of a pipe: reading it holds no thread.
func ourEnd(fd int, name string) *os.File {
	_ = unix.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), name)
}

// openStatus makes the status socket. SO_PASSCRED tells the init's process id as
// the launcher sees it, whatever pid namespace it is in (unix(7)).
func (l *launcher) openStatus() error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	l.status = ourEnd(fds[0], "status")
	l.child[inside.FDStatus] = fds[1]
	l.theirs, l.ours = append(l.theirs, fds[1]), append(l.ours, l.status)
	return unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1)
}

// fork starts the outer program, the stage or the init.
func (l *launcher) fork() error {
	if l.oneStart() {
		return l.clone()
	}
	path, argv, attr := l.target()
	if l.plan.Outer == nil {
		return l.forkExec(path, argv, attr)
	}
	if err := l.openOuter(&argv); err != nil {
		return err
	}
	return l.startOuter(path, argv, attr)
}

// closeChildEnds closes what belongs to the child.
func (l *launcher) closeChildEnds() {
	for _, fd := range append(l.theirs, l.extra...) {
		unix.Close(fd)
	}
	l.theirs, l.extra = nil, nil
}

// meanwhile does, once, what the caller wants done before the command starts.
func (l *launcher) meanwhile() error {
	if l.done || l.opt.Meanwhile == nil {
		return nil
	}
	l.done = true
	return l.opt.Meanwhile()
}

// handshake waits until the init is ready, puts it under its cgroup, and lets
// the command start.
func (l *launcher) handshake(ctx context.Context) error {
	deadline := time.Now().Add(startLimit)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	stop := context.AfterFunc(ctx, func() { l.status.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	l.status.SetReadDeadline(deadline)
	for {
		m, pid, fd, err := receive(l.status)
		if err != nil {
			return l.diagnose(ctx, err)
		}
		switch m.Kind {
		case inside.KindPTY:
			if err := l.received(fd); err != nil {
				return err
			}
		case inside.KindFailed:
			return l.failed(m)
		case inside.KindHello:
			l.raw.Release() // it has executed the init
			l.pid = pid
			if l.tryOnly {
				return nil
			}
			return l.release()
		}
	}
}

// received takes a descriptor from the init: the terminal first, where there is
// one, then the listener of a supervised plan.
func (l *launcher) received(fd int) error {
	if fd < 0 {
		return l.wrap("start the sandbox", errors.New("the init sent no descriptor"))
	}
	if l.plan.TTY && l.tty == nil {
		l.tty = ourEnd(fd, "terminal")
		l.ours = append(l.ours, l.tty)
		return nil
	}
	f := os.NewFile(uintptr(fd), "listener")
	if l.opt.Listener == nil {
		f.Close() // nobody supervises: every creating call fails, none passes by
		return nil
	}
	l.listened = true
	if err := l.opt.Listener(f); err != nil {
		return l.wrap("start the supervisor", err)
	}
	return nil
}

// release sees to it that the init is in its cgroup, and sends the byte that starts the command.
func (l *launcher) release() error {
	// SECURITY: a supervised plan never starts without its supervisor.
	if l.plan.Supervised && !l.listened {
		return l.wrap("start the supervisor", errors.New("the init sent no listener"))
	}
	if err := l.join(); err != nil {
		return l.wrap("limit resources", err)
	}
	if _, err := unix.Write(l.control, []byte{inside.ControlGo}); err != nil {
		return l.wrap("start the command", err)
	}
	l.status.SetReadDeadline(time.Time{})
	return nil
}

// abandon ends what was started and closes everything.
func (l *launcher) abandon() {
	for _, f := range l.ours {
		f.Close()
	}
	if l.outer > 0 {
		if l.pid > 0 {
			_ = unix.Kill(l.pid, unix.SIGKILL) // not yet waited for by us or by bwrap, which waits for it
		}
		if l.plan.Outer != nil {
			endOuter(l.outer)
		} else {
			_ = unix.Kill(l.outer, unix.SIGKILL)
			waitPID(l.outer)
		}
	}
	l.raw.Release()
	l.group.remove()
}

func (l *launcher) process() *Process {
	p := &Process{Stdin: nil, Stdout: l.stdout, Stderr: l.stderr, TTY: l.tty, PID: l.pid}
	if l.stdin != nil {
		p.Stdin = l.stdin
	}
	if l.tty != nil {
		p.Stdin = l.tty
	}
	p.sys = sysProcess{outer: l.outer, control: l.control, status: l.status, image: l.image, plan: l.plan, group: l.group, direct: l.plan.Isolation.Direct}
	return p
}
