//go:build amd64 || arm64

package guard

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Guard supervises the processes under one filter.
type Guard struct {
	cfg       Config
	names     *names
	fresh     fresh
	listener  int
	null      int // put in the listener's place by Close
	root      atomic.Int64
	notifSize int
	respSize  int
	sticky    stickyRules
	start     time.Time

	mu      sync.Mutex
	closed  bool
	leader  *worker // whose turn it is
	parked  []*worker
	workers map[*worker]bool
	done    chan struct{}
	wg      sync.WaitGroup

	wake     chan struct{}
	watching atomic.Bool
	trees    trees
	blocked  chan struct{} // a token for each open that waits
	denials  denials
	recorded recorded
}

// Start takes the listener over (it is closed) and answers its notifications from
// now on. It must run before the first supervised call, or that one waits.
func Start(listener *os.File, cfg Config) (*Guard, error) {
	g := &Guard{cfg: cfg, names: newNames(cfg.Allow, folds), workers: map[*worker]bool{}, start: time.Now().Add(-time.Second),
		done: make(chan struct{}), wake: make(chan struct{}, 1), blocked: make(chan struct{}, maxBlocked), sticky: readStickyRules()}
	var err error
	if err = supported(); err != nil {
		listener.Close()
		return nil, err
	}
	if g.notifSize, g.respSize, err = bufferSizes(); err != nil {
		listener.Close()
		return nil, fmt.Errorf("guard: ask for the size of a notification: %w", err)
	}
	g.listener, err = unix.FcntlInt(listener.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	listener.Close()
	if err != nil {
		return nil, fmt.Errorf("guard: take the listener: %w", err)
	}
	if g.null, err = unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		unix.Close(g.listener)
		return nil, fmt.Errorf("guard: %w", err)
	}
	syncWakeUp(g.listener)
	return g, g.begin()
}

// begin starts the first worker, the watch and the teller of denials.
func (g *Guard) begin() error {
	ready := make(chan error, 1)
	w := newWorker(g)
	g.leader = w
	g.workers[w] = true
	g.denials.init(g.cfg.OnDenied)
	g.wg.Add(2)
	go w.run(ready)
	go g.watch()
	if err := <-ready; err != nil {
		g.Close()
		return fmt.Errorf("guard: set a worker thread up: %w", err)
	}
	return nil
}

// supported tells what is missing here, for a firm answer before the start.
func supported() error {
	var st unix.Statfs_t
	if err := unix.Statfs("/proc/self/fd", &st); err != nil || st.Type != unix.PROC_SUPER_MAGIC {
		return errors.New("guard: /proc is not mounted")
	}
	// With 3 nobody may read another process's memory (Documentation/admin-guide/LSM/Yama.rst).
	if v, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); len(v) > 0 && v[0] == '3' {
		return errors.New("guard: kernel.yama.ptrace_scope=3 forbids reading the paths that are asked for")
	}
	return nil
}

// Close ends the supervision: calls that still come fail with ENOSYS. It waits for
// the workers, but not for one that a file system holds up.
func (g *Guard) Close() error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil
	}
	g.closed = true
	close(g.done)
	g.mu.Unlock()
	// A worker waits in an ioctl that closing does not end. The signal does, and the
	// ioctl, which starts again by itself, finds something else there: ENOTTY. A
	// descriptor that is being delivered gets time to arrive (see blockSignals).
	unix.Dup3(g.null, g.listener, unix.O_CLOEXEC)
	time.Sleep(5 * time.Millisecond)
	gone := make(chan struct{})
	go func() {
		g.wg.Wait()
		g.closeAll()
		close(gone)
	}()
	for range 100 {
		g.interrupt()
		select {
		case <-gone:
			return nil
		case <-time.After(10 * time.Millisecond):
		}
	}
	return errors.New("guard: a worker is held up by a file system and was left behind")
}

// interrupt ends the waits of all workers.
func (g *Guard) interrupt() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for w := range g.workers {
		if tid := w.tid.Load(); tid != 0 {
			unix.Tgkill(unix.Getpid(), int(tid), wakeUp)
		}
	}
}

func (g *Guard) closeAll() {
	unix.Close(g.listener)
	unix.Close(g.null)
	if fd := int(g.root.Swap(0)); fd > 0 {
		unix.Close(fd)
	}
	g.denials.end()
}
