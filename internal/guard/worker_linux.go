//go:build amd64 || arm64

package guard

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// worker is one thread that takes notifications and answers them.
type worker struct {
	g      *Guard
	thread *thread
	caller caller
	notif  []uint64
	resp   []uint64
	text   [pathMax]byte
	procs  procCache
	id     uint64       // of the notification at hand
	tid    atomic.Int32 // of this thread
	since  atomic.Int64 // when the call at hand began; 0: waiting
	turn   chan struct{}
}

func newWorker(g *Guard) *worker {
	w := &worker{g: g, turn: make(chan struct{}, 1)}
	w.notif = make([]uint64, (g.notifSize+7)/8)
	w.resp = make([]uint64, (g.respSize+7)/8)
	w.caller = caller{w: w, root: -1}
	return w
}

// run is the life of a worker. One worker at a time waits for notifications: the
// kernel would wake all that wait for each one. When that one is held up, the
// watch lets another take over (see pool_linux.go).
func (w *worker) run(ready chan<- error) {
	t, err := ownThread(w.g.cfg.User)
	w.thread = t
	w.tid.Store(int32(unix.Gettid()))
	if ready != nil {
		ready <- err
	}
	defer w.g.ended(w)
	if err != nil {
		runtime.LockOSThread()
		return
	}
	defer w.procs.drop()
	for {
		if !w.g.myTurn(w) {
			return
		}
		n, e := receive(w.g.listener, w.notif)
		switch {
		case e == 0:
			w.since.Store(int64(time.Since(w.g.start)) | 1)
			w.g.kick()
			w.serve(n)
			w.since.Store(0)
		case e == unix.EINTR || e == unix.ENOENT && w.g.alive():
		default:
			return // all who could call are gone, or Close
		}
	}
}

// serve answers one notification.
func (w *worker) serve(n *notification) {
	c := &w.caller
	w.id, c.tid = n.ID, n.PID
	if !c.findProc() {
		answer(w.g.listener, w.resp, n.ID, unix.ESRCH)
		return
	}
	defer c.release()
	k := call{caller: c, g: w.g, id: n.ID}
	e := k.run(int(n.Nr), &n.Args)
	if !k.answered {
		answer(w.g.listener, w.resp, n.ID, e)
	}
}

// procCache keeps /proc/<tid> folders and status files open. Such a descriptor belongs
// to the process and not to its number: when the number is used again it gives ESRCH.
type procCache struct{ slot [64]procSlot }

type procSlot struct {
	tid    uint32
	dir    int
	status int // 0: not opened yet
}

func (p *procCache) at(tid uint32) *procSlot { return &p.slot[tid%uint32(len(p.slot))] }

// get gives the folder that was opened for the number, which may be a dead one's.
func (p *procCache) get(tid uint32) (int, bool) {
	s := p.at(tid)
	return s.dir, s.tid == tid && tid != 0
}

// open opens the folder of the thread that has the number now.
func (p *procCache) open(tid uint32) (int, bool) {
	if tid == 0 {
		return -1, false // not in our pid namespace: nothing of it can be read
	}
	fd, err := unix.Open("/proc/"+strconv.Itoa(int(tid)), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, false
	}
	s := p.at(tid)
	s.close()
	*s = procSlot{tid: tid, dir: fd}
	return fd, true
}

// status gives the thread's status file: to read it anew costs half of opening it.
func (p *procCache) status(tid uint32) (int, unix.Errno) {
	s := p.at(tid)
	if s.status == 0 {
		fd, err := unix.Openat(s.dir, "status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, errno(err)
		}
		s.status = fd
	}
	return s.status, 0
}

func (s *procSlot) close() {
	if s.tid != 0 {
		unix.Close(s.dir)
	}
	if s.status != 0 {
		unix.Close(s.status)
	}
}

// drop closes all.
func (p *procCache) drop() {
	for i := range p.slot {
		p.slot[i].close()
	}
}
