//go:build amd64 || arm64

package guard

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// denials hands refusals to the one who wants to know, without ever waiting for it.
type denials struct {
	queue  chan Denial
	gone   chan struct{}
	all    atomic.Uint64
	untold atomic.Uint64
	once   sync.Once
}

const denialQueue = 256

func (d *denials) init(tell func(Denial)) {
	if tell == nil {
		return
	}
	d.queue, d.gone = make(chan Denial, denialQueue), make(chan struct{})
	go func() {
		defer close(d.gone)
		for x := range d.queue {
			tell(x)
		}
	}()
}

func (d *denials) add(x Denial) {
	d.all.Add(1)
	if d.queue == nil {
		return
	}
	select {
	case d.queue <- x:
	default:
		d.untold.Add(1)
	}
}

// end lets the teller finish with what is queued.
func (d *denials) end() {
	if d.queue != nil {
		d.once.Do(func() { close(d.queue) })
		<-d.gone
	}
}

// recorded keeps the paths that were made and that package protect must judge by
// their content after the run. It walks anyway: the list only says where.
type recorded struct {
	mu    sync.Mutex
	paths map[string]bool
	more  bool
}

const maxRecorded = 1024

func (r *recorded) add(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.paths) >= maxRecorded {
		r.more = true
		return
	}
	if r.paths == nil {
		r.paths = map[string]bool{}
	}
	r.paths[path] = true
}

// fresh remembers the git folders that were made during the run, by identity: device,
// inode and time of birth, as an inode's number is used again.
type fresh struct {
	mu  sync.Mutex
	ids map[inode]bool
}

type inode struct {
	dev   uint64
	ino   uint64
	birth int64
}

// maxFresh bounds the memory that a command can take up by making repositories.
const maxFresh = 1 << 16

func identity(fd int, name string, flags int) (inode, bool) {
	var st unix.Statx_t
	if unix.Statx(fd, name, flags|unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st) != nil {
		return inode{}, false
	}
	return inode{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino, st.Btime.Sec*1e9 + int64(st.Btime.Nsec)}, true
}

func (f *fresh) add(id inode) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ids == nil {
		f.ids = map[inode]bool{}
	}
	if len(f.ids) >= maxFresh {
		return false
	}
	f.ids[id] = true
	return true
}

func (f *fresh) has(id inode) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ids[id]
}

// Recorded gives the paths that were made although a content in them may run
// outside: parts of new repositories. more tells that the list is not complete.
func (g *Guard) Recorded() (paths []string, more bool) {
	g.recorded.mu.Lock()
	defer g.recorded.mu.Unlock()
	for p := range g.recorded.paths {
		paths = append(paths, p)
	}
	return paths, g.recorded.more
}

// Denied counts the refusals, and those that OnDenied was not told of.
func (g *Guard) Denied() (all, untold uint64) {
	return g.denials.all.Load(), g.denials.untold.Load()
}
