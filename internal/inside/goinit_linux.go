package inside

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// goInitState is the Go init after the command was started; the same machine as the loop in init_linux_amd64.s.
type goInitState struct {
	isolated bool
	pid      int
	gone     bool // the command was reaped
}

// goInit is the init where there is no assembly one. It differs in one thing: a Go program cannot fork, so the child is
// a third start of the same program (goCommand), which gets the state of the blob as it is then.
func goInit() {
	begin()
	runtime.GOMAXPROCS(1) // its threads count towards the command's limit on processes
	children := make(chan os.Signal, 1)
	// SECURITY: all other signals are taken and thrown away, or anybody inside could end the init with a SIGTERM.
	signal.Notify(make(chan os.Signal, 1))
	signal.Notify(children, unix.SIGCHLD)
	m := goInitPrepare()
	send(Message{Kind: KindHello})
	if b, ok := readControl(); !ok || b != ControlGo {
		unix.Exit(ExitFailed)
	}
	s := &goInitState{isolated: getU64(m.p[offFlags:])&flagIsolated != 0}
	s.pid = startCommand(m)
	m.close() // SECURITY: forget the environment and the programs
	closeUnused()
	s.loop(children)
}

// goInitPrepare does everything up to Hello.
func goInitPrepare() *memory {
	if errno := notDumpable(); errno != 0 {
		die(Init, StepStart, errno)
	}
	unix.CloseOnExec(FDControl)
	unix.CloseOnExec(FDStatus)
	m, err := mapBlob(FDBlob)
	if err != nil {
		die(Init, StepBlob, err)
	}
	unix.CloseOnExec(FDBlob) // its number stays taken: goCommand finds its blob there
	if getU64(m.p[offFlags:])&flagIsolated == 0 {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			die(Init, StepStart, err)
		}
	}
	m.allThreads = true
	if step, errno := m.run(Init); errno != 0 {
		die(Init, step, errno)
	}
	if errno := notDumpable(); errno != 0 { // again, after a change of user
		die(Init, StepStart, errno)
	}
	return m
}

// readControl waits for one control byte; false at the end.
func readControl() (byte, bool) {
	var b [1]byte
	for {
		n, err := unix.Read(FDControl, b[:])
		if err == unix.EAGAIN { // the launcher made its end, or ours, non-blocking
			_, err = unix.Poll([]unix.PollFd{{Fd: FDControl, Events: unix.POLLIN}}, -1)
			if err == nil {
				continue
			}
		}
		if err == unix.EINTR {
			continue
		}
		return b[0], err == nil && n == 1
	}
}

// startCommand starts goCommand and returns its number, which the command keeps.
func startCommand(m *memory) int {
	blob, err := m.snapshot()
	if err != nil {
		die(Init, StepFork, unix.ENOMEM)
	}
	inheritAll()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{CommandName}, &syscall.ProcAttr{
		Env:   []string{},
		Files: []uintptr{0, 1, 2, ^uintptr(0), FDStatus, blob.Fd()},
	})
	if err != nil {
		die(Init, StepFork, err)
	}
	blob.Close()
	return pid
}

// maxInherited bounds the descriptors that a program Init can hand to the program Command of a Go init.
const maxInherited = 1024

// maxFD is the end of the range for close_range(2).
const maxFD = 1<<32 - 1

// inheritAll lets descriptors of the program Init go through to goCommand, as they do through fork.
func inheritAll() {
	for fd := FDBlob; fd < maxInherited; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
		}
	}
}

// closeUnused leaves the init with control and status: while it holds an end of the command's pipes or terminal, or what
// the program Init opened, their readers do not see the end.
func closeUnused() {
	for fd := range 3 {
		unix.Close(fd)
	}
	if unix.CloseRange(FDBlob, maxFD, 0) != nil { // before Linux 5.9
		for fd := FDBlob; fd < maxInherited; fd++ {
			unix.Close(fd)
		}
	}
}

// loop serves control bytes and dead children until the end.
func (s *goInitState) loop(children <-chan os.Signal) {
	control := make(chan byte)
	go func() {
		for {
			b, ok := readControl()
			if !ok {
				s.end()
			}
			control <- b
		}
	}()
	for {
		s.reap()
		select {
		case b := <-control:
			s.control(b)
		case <-children:
		}
	}
}

// reap takes what has ended, but no more than 64 at a time.
func (s *goInitState) reap() {
	for range 64 {
		var status unix.WaitStatus
		var usage unix.Rusage
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WALL, &usage)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if pid == s.pid && !s.gone {
			s.exited(status, &usage)
		}
	}
	unix.Kill(unix.Getpid(), unix.SIGCHLD) // there may be more: come back after a look at control
}

func (s *goInitState) exited(status unix.WaitStatus, usage *unix.Rusage) {
	m := Message{Kind: KindExited, Status: uint32(status)}
	m.Rusage = rusageBytes(usage)
	send(m)
	s.gone = true
	if s.isolated {
		unix.Exit(0)
	}
}

func (s *goInitState) control(b byte) {
	switch {
	case b == ControlQuit:
		if !s.gone {
			s.end()
		}
		unix.Exit(0)
	case b > 64 && b <= ControlAll || b == 0 || b > ControlAll+64:
	case b > ControlAll && s.isolated:
		unix.Kill(-1, unix.Signal(b&^ControlAll))
	default:
		s.kill(unix.Signal(b &^ ControlAll))
	}
}

// kill signals the process group of the command, or the child alone while it has no group of its own.
func (s *goInitState) kill(sig unix.Signal) {
	if unix.Kill(-s.pid, sig) == unix.ESRCH && !s.gone {
		unix.Kill(s.pid, sig)
	}
}

// end is what follows the launcher's death. SECURITY: nothing inside outlives it.
func (s *goInitState) end() {
	if s.isolated {
		unix.Kill(-1, unix.SIGKILL)
	} else {
		s.kill(unix.SIGKILL)
	}
	unix.Exit(ExitFailed)
}
