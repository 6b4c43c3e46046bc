//go:build amd64 || arm64

package guard

import (
	"time"

	"golang.org/x/sys/unix"
)

// Bounds. A caller that waits costs nothing here: its notification stays in the
// kernel until a worker takes it, so a flood makes no list of ours longer.
const (
	maxWorkers = 32                   // held up at once, by leases or a hung file system
	maxParked  = 2                    // workers kept for the next time
	maxBlocked = 32                   // opens of FIFOs that wait for the other side
	patience   = 5 * time.Millisecond // how long a worker may keep the others waiting
)

// myTurn waits until it is the worker's turn to take notifications; false ends it.
func (g *Guard) myTurn(w *worker) bool {
	g.mu.Lock()
	switch {
	case g.closed:
		g.mu.Unlock()
		return false
	case g.leader == w:
		g.mu.Unlock()
		return true
	case g.leader == nil:
		g.leader = w
		g.mu.Unlock()
		return true
	case len(g.parked) >= maxParked:
		g.mu.Unlock()
		return false
	}
	g.parked = append(g.parked, w)
	g.mu.Unlock()
	select {
	case <-w.turn:
		return true
	case <-g.done:
		return false
	}
}

// replace lets another worker take notifications when the present one is held up.
func (g *Guard) replace() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.leader == nil {
		return
	}
	since := g.leader.since.Load()
	if since == 0 || time.Since(g.start)-time.Duration(since) < patience {
		return
	}
	if g.promote() {
		return
	}
	if len(g.workers) >= maxWorkers {
		return // they wait for each other, inside; nobody outside does
	}
	w := newWorker(g)
	g.leader = w
	g.workers[w] = true
	g.wg.Add(1)
	go w.run(nil)
}

// promote gives the turn to a parked worker, if there is one.
func (g *Guard) promote() bool {
	n := len(g.parked)
	if n == 0 {
		return false
	}
	g.leader = g.parked[n-1]
	g.parked = g.parked[:n-1]
	g.leader.turn <- struct{}{}
	return true
}

// ended takes a worker off the list.
func (g *Guard) ended(w *worker) {
	g.mu.Lock()
	delete(g.workers, w)
	if g.leader == w {
		g.leader = nil
		g.promote()
	}
	g.mu.Unlock()
	g.wg.Done()
}

// kick tells the watch that there is something to watch.
func (g *Guard) kick() {
	if g.watching.Load() {
		return
	}
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// watch looks after the worker at work. It sleeps while nobody calls.
func (g *Guard) watch() {
	defer g.wg.Done()
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for {
		g.watching.Store(false)
		tick.Stop()
		select {
		case <-g.done:
			return
		case <-g.wake:
		}
		g.watching.Store(true)
		tick.Reset(patience)
		for quiet := 0; quiet < 20; {
			select {
			case <-g.done:
				return
			case <-tick.C:
			}
			if quiet++; g.busy() {
				quiet = 0
				g.replace()
			}
		}
	}
}

// busy tells whether the worker whose turn it is has a call at hand.
func (g *Guard) busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.leader != nil && g.leader.since.Load() != 0
}

// alive tells whether anybody who is under the filter is left.
func (g *Guard) alive() bool {
	fds := []unix.PollFd{{Fd: int32(g.listener), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == unix.EINTR || n <= 0 || fds[0].Revents&(unix.POLLHUP|unix.POLLNVAL|unix.POLLERR) == 0
}
