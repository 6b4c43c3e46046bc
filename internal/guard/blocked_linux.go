//go:build amd64 || arm64

package guard

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// waiting opens what may wait for somebody else (a FIFO's other side) on a thread of
// its own, and answers from there. A signal to the caller or its end stops it.
func (c *call) waiting(fd int, o *opening) unix.Errno {
	select {
	case c.g.blocked <- struct{}{}:
	default:
		return unix.EAGAIN
	}
	var st unix.Stat_t
	fifo := unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
	object, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		<-c.g.blocked
		return errno(err)
	}
	if !c.g.join() {
		<-c.g.blocked
		unix.Close(object)
		return unix.ENOSYS
	}
	b := &blocked{g: c.g, id: c.id, tid: c.tid, object: object, fifo: fifo, opening: *o, done: make(chan struct{})}
	go b.open()
	go b.attend()
	c.answered = true
	return 0
}

// blocked is an open that waits.
type blocked struct {
	g       *Guard
	id      uint64
	tid     uint32
	object  int
	fifo    bool
	opening opening
	done    chan struct{}
}

// open waits in the kernel.
func (b *blocked) open() {
	_, err := ownThread(b.g.cfg.User)
	fd, e := -1, errno(err)
	if e == 0 {
		fd, e = openat(unix.AT_FDCWD, selfFD(b.object), again(&b.opening), 0)
	}
	if e == 0 {
		if e = deliver(b.g.listener, nil, b.id, fd, b.opening.flags); e == unix.ENOENT {
			e = 0
		}
	}
	if e != 0 {
		answer(b.g.listener, make([]uint64, (b.g.respSize+7)/8), b.id, e)
	}
	close(b.done)
}

// restart is ERESTARTSYS: the kernel makes EINTR of it, or calls again, as the
// caller's handler of the signal that is pending has it (signal(7)).
const restart = unix.Errno(512)

// attend ends the wait when the caller is gone, has a signal, or the Guard is closed.
func (b *blocked) attend() {
	defer b.g.wg.Done()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ended := false; ; {
		select {
		case <-b.done:
			unix.Close(b.object)
			<-b.g.blocked
			return
		case <-tick.C:
		}
		if !ended && pendingSignal(b.tid) && valid(b.g.listener, b.id) {
			answer(b.g.listener, make([]uint64, (b.g.respSize+7)/8), b.id, restart)
		}
		if ended = ended || !valid(b.g.listener, b.id); ended {
			b.release()
		}
	}
}

// release makes the open return: opened for both sides, which never waits, the FIFO
// has the side that is waited for.
func (b *blocked) release() {
	if !b.fifo {
		return // the device comes back by itself
	}
	for _, how := range []int{unix.O_RDWR, unix.O_RDONLY, unix.O_WRONLY} {
		if fd, e := openat(unix.AT_FDCWD, selfFD(b.object), how|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0); e == 0 {
			unix.Close(fd)
			return
		}
	}
}

// join counts one more goroutine for Close to wait for; false: it is closed.
func (g *Guard) join() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.wg.Add(1)
	return true
}

// pendingSignal tells whether a signal waits that the thread does not block or
// ignore (proc_pid_status(5)).
func pendingSignal(tid uint32) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(int(tid)) + "/status")
	if err != nil {
		return false
	}
	var v [4]uint64
	for i, f := range []string{"SigPnd", "ShdPnd", "SigBlk", "SigIgn"} {
		s, _ := fieldOf(text, f)
		v[i], _ = strconv.ParseUint(s, 16, 64)
	}
	return (v[0]|v[1])&^v[2]&^v[3] != 0
}
