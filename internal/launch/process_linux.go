package launch

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/inside"
)

// Wait waits until the command has ended and nothing of it is left, and frees
// what the launch held. The output pipes stay open: the caller drains and closes them.
func (p *Process) Wait() (Result, error) {
	var r Result
	var failed error
	exited := false
	for {
		m, _, _, err := receive(p.sys.status)
		if err != nil {
			break
		}
		switch m.Kind {
		case inside.KindFailed:
			failed = stepErrorOf(p, m)
		case inside.KindExited:
			exited = true
			r = resultOf(m)
			p.sys.group.unthrottle() // what the command left is killed now
		}
		if exited && p.sys.direct {
			p.endDirect()
			break
		}
	}
	p.reap()
	r.Memory = p.sys.group.outOfMemory()
	p.sys.group.remove()
	if failed != nil {
		return r, failed
	}
	if !exited {
		r.Lost, r.Code, r.Signal = true, 128+int(unix.SIGKILL), int(unix.SIGKILL)
	}
	return r, nil
}

func resultOf(m inside.Message) Result {
	st := syscall.WaitStatus(m.Status)
	r := Result{Code: st.ExitStatus(), Usage: m.Usage()}
	if st.Signaled() {
		r.Signal = int(st.Signal())
		r.Code = 128 + r.Signal
	}
	return r
}

func stepErrorOf(p *Process, m inside.Message) error { return stepError(p.sys.plan, p.sys.image, m) }

// reap waits for what we started: for a pid namespace that means that every
// process in it is gone (pid_namespaces(7)).
func (p *Process) reap() {
	waitPID(p.sys.outer)
	p.sys.mu.Lock()
	unix.Close(p.sys.control)
	p.sys.control = -1
	p.sys.mu.Unlock()
	p.sys.status.Close()
}

// waitPID reaps a child of ours. ECHILD means that somebody else in this program
// has done it: then it is gone as well.
func waitPID(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}

// Signal sends a signal to the command's process group.
func (p *Process) Signal(sig syscall.Signal) error { return p.send(byte(sig)) }

// SignalAll sends a signal to every process inside.
func (p *Process) SignalAll(sig syscall.Signal) error { return p.send(inside.ControlAll | byte(sig)) }

// send passes one control byte. The pipe holds thousands; a full one means that
// the init is stuck, and then Kill is what helps.
func (p *Process) send(b byte) error {
	p.sys.mu.Lock()
	defer p.sys.mu.Unlock()
	if p.sys.control < 0 {
		return os.ErrProcessDone
	}
	_, err := unix.Write(p.sys.control, []byte{b})
	return err
}

// Kill ends the whole tree at once. The init's end is the end of its pid namespace.
func (p *Process) Kill() error {
	p.sys.mu.Lock()
	defer p.sys.mu.Unlock()
	if p.sys.control < 0 {
		return os.ErrProcessDone
	}
	if p.sys.direct {
		// The init goes last: what is forked meanwhile stays below it and is found.
		for i := 0; i < 20 && killTree(p.PID) > 0; i++ {
			time.Sleep(time.Millisecond)
		}
	}
	p.sys.group.unthrottle()
	// SECURITY: the pid is good: init's parent (we, or bwrap, which is ended after
	// it) has not waited for it while control is open.
	_ = unix.Kill(p.PID, unix.SIGKILL)
	return nil
}

// endDirect ends what the command left behind when there is no pid namespace to
// do it: the init is a subreaper, so every descendant is below it (PROC-02, advisory).
func (p *Process) endDirect() {
	for range 20 {
		if killTree(p.PID) == 0 {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	_ = p.send(inside.ControlQuit)
}

// Resize tells the terminal its new size.
func (p *Process) Resize(rows, cols uint16) error {
	if p.TTY == nil {
		return fault.New(fault.UsageInvalid, "resize", "", "there is no terminal")
	}
	return unix.IoctlSetWinsize(int(p.TTY.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
}
