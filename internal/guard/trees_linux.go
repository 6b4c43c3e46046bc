//go:build amd64 || arm64

package guard

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// tree is what is known of a file system.
//
// The lock keeps judging and acting together: between the two no folder may get
// another name. What makes a name shares it, what renames has it alone. A file
// system that hangs holds up only its own lock.
type tree struct {
	sync.RWMutex
	proc  bool // procfs, where links are not what they seem
	order uint64
}

// trees finds them by device number.
type trees struct {
	byDev sync.Map // the command cannot mount, so a number stays with its file system
	made  atomic.Uint64
}

// of gives the file system of a descriptor.
func (t *trees) of(fd int) (*tree, unix.Errno) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, errno(err)
	}
	return t.at(fd, uint64(st.Dev))
}

// at is of where the device is known.
func (t *trees) at(fd int, dev uint64) (*tree, unix.Errno) {
	l, ok := t.byDev.Load(dev)
	if ok {
		return l.(*tree), 0
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return nil, errno(err)
	}
	n := &tree{proc: fs.Type == unix.PROC_SUPER_MAGIC, order: t.made.Add(1)}
	l, _ = t.byDev.LoadOrStore(dev, n)
	return l.(*tree), 0
}

// alone locks what a rename needs, in one order for all. A file system that hangs
// must not hold the other one's lock for long.
func alone(a, b *tree) (unlock func(), e unix.Errno) {
	if a == b {
		a.Lock()
		return a.Unlock, 0
	}
	if a.order > b.order {
		a, b = b, a
	}
	for range 1000 {
		a.Lock()
		if b.TryLock() {
			return func() { b.Unlock(); a.Unlock() }, 0
		}
		a.Unlock()
		time.Sleep(time.Millisecond)
	}
	return nil, unix.EBUSY
}
