package winsandbox

import (
	"sync"
	"time"
)

// Size is that of a console, in characters.
type Size struct{ Cols, Rows int16 }

// lookTime is how often the helper looks at the size of its own console, which has no
// other way to tell.
const lookTime = 250 * time.Millisecond

// follower passes changes of size on to a console, as long as that is there.
type follower struct {
	mu     sync.Mutex
	last   Size
	resize func(Size) error // nil when the console is gone
}

// to sets a size, unless the console has it. Errors are left: a console that keeps its
// size is still a console.
func (f *follower) to(s Size) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.resize == nil || s == f.last || s.Cols < 1 || s.Rows < 1 {
		return
	}
	if f.resize(s) == nil {
		f.last = s
	}
}

// stop: afterwards the console may be closed.
func (f *follower) stop() {
	f.mu.Lock()
	f.resize = nil
	f.mu.Unlock()
}

// look asks for the size now and then until done is closed.
func (f *follower) look(done <-chan struct{}, size func() (Size, bool)) {
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if s, ok := size(); ok {
				f.to(s)
			}
		}
	}
}
