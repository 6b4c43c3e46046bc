//go:build amd64 || arm64

package guard

import (
	"bytes"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// caller is the thread that waits for an answer: how its memory, directory and
// descriptors are reached. Descriptors opened for a call are closed at its end.
type caller struct {
	w    *worker
	tid  uint32
	proc int  // /proc/<tid>, from the worker's cache
	old  bool // proc was opened for an earlier call
	root int  // -1 until asked for
	held []int
}

// pathMax is PATH_MAX: the kernel refuses longer strings, and so do we.
const pathMax = 4096

// hold keeps a descriptor until the call ends.
func (c *caller) hold(fd int) int {
	c.held = append(c.held, fd)
	return fd
}

// release closes what a call opened.
func (c *caller) release() {
	for _, fd := range c.held {
		unix.Close(fd)
	}
	c.held = c.held[:0]
	c.root = -1
}

// findProc takes the caller's /proc folder from the cache, or opens it.
func (c *caller) findProc() (ok bool) {
	if c.proc, c.old = c.w.procs.get(c.tid); c.old {
		return true
	}
	c.proc, ok = c.w.procs.open(c.tid)
	return ok
}

// inProc runs f on the caller's /proc folder; if that may be the folder of a dead
// thread that had the same number, once more on a new one.
func (c *caller) inProc(f func() unix.Errno) unix.Errno {
	e := c.w.thread.reading(f)
	if (e != unix.ENOENT && e != unix.ESRCH) || !c.old {
		return e
	}
	c.old = false
	var ok bool
	if c.proc, ok = c.w.procs.open(c.tid); !ok {
		return unix.ESRCH
	}
	return c.w.thread.reading(f)
}

// text reads a path from the caller's memory, with the errors of getname(9):
// EFAULT, ENAMETOOLONG.
func (c *caller) text(addr uint64) (string, unix.Errno) {
	buf := c.w.text[:]
	n := 0
	for n < pathMax {
		// A read stops at the first page that is not there, so it must not go past one
		// before the end of the string is known.
		size := min(256, pathMax-n, pageSize-int(addr%pageSize))
		got, e := c.memory(addr, buf[n:n+size])
		if e != 0 {
			return "", e
		}
		if i := bytes.IndexByte(buf[n:n+got], 0); i >= 0 {
			return string(buf[:n+i]), 0
		}
		n += got
		addr += uint64(got)
	}
	return "", unix.ENAMETOOLONG
}

const pageSize = 4096 // the smallest there is: larger pages only mean more reads

// memory reads the caller's memory: process_vm_readv(2).
func (c *caller) memory(addr uint64, p []byte) (n int, e unix.Errno) {
	local := unix.Iovec{Base: &p[0], Len: uint64(len(p))}
	remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(p)}
	e = c.w.thread.reading(func() unix.Errno {
		r, _, e := unix.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(c.tid), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
		n = int(r)
		return e
	})
	if e == 0 && n == 0 {
		e = unix.EFAULT
	}
	return n, e
}

// opened opens an entry of the caller's /proc folder, and what a link there leads to.
func (c *caller) opened(name string) (int, unix.Errno) {
	var fd int
	e := c.inProc(func() unix.Errno {
		var err error
		fd, err = unix.Openat(c.proc, name, unix.O_PATH|unix.O_CLOEXEC, 0)
		return errno(err)
	})
	if e != 0 {
		return -1, e
	}
	return c.hold(fd), 0
}

// base gives the directory that a relative path starts from.
func (c *caller) base(dirfd int32) (int, unix.Errno) {
	if dirfd == unix.AT_FDCWD {
		return c.opened("cwd")
	}
	if dirfd < 0 {
		return -1, unix.EBADF
	}
	fd, e := c.opened("fd/" + strconv.Itoa(int(dirfd)))
	switch e {
	case unix.ENOENT:
		e = unix.EBADF
	case unix.EACCES:
		return c.copied(int(dirfd))
	}
	return fd, e
}

// copied takes a descriptor of a process that made itself undumpable, whose folder
// of descriptors cannot be opened: pidfd_getfd(2).
func (c *caller) copied(n int) (int, unix.Errno) {
	const pidfdThread = unix.O_EXCL // PIDFD_THREAD, Linux 6.9
	pid, err := unix.PidfdOpen(int(c.tid), pidfdThread)
	if err == unix.EINVAL {
		pid, err = unix.PidfdOpen(int(c.tid), 0)
	}
	if err != nil {
		return -1, unix.EACCES
	}
	c.hold(pid)
	var fd int
	e := c.w.thread.reading(func() unix.Errno {
		fd, err = unix.PidfdGetfd(pid, n, 0)
		return errno(err)
	})
	if e != 0 {
		return -1, e
	}
	return c.hold(fd), 0
}

// rootDir gives the caller's root. The filter refuses chroot and pivot_root, so it is
// the same for all callers and is opened once.
func (c *caller) rootDir() (int, unix.Errno) {
	if c.root >= 0 {
		return c.root, 0
	}
	g := c.w.g
	if fd := int(g.root.Load()); fd > 0 {
		c.root = fd
		return fd, 0
	}
	fd, e := c.opened("root")
	if e != 0 {
		return -1, e
	}
	c.root = fd
	if valid(g.listener, c.w.id) {
		if dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3); err == nil && !g.root.CompareAndSwap(0, int64(dup)) {
			unix.Close(dup)
		}
	}
	return fd, 0
}

// status reads the caller's status file, from its start.
func (c *caller) status(buf []byte) []byte {
	n := 0
	e := c.inProc(func() unix.Errno {
		fd, e := c.w.procs.status(c.tid)
		if e != 0 {
			return e
		}
		var err error
		n, err = unix.Pread(fd, buf, 0)
		return errno(err)
	})
	if e != 0 {
		n = 0
	}
	return buf[:n]
}

// fieldOf finds a line "Field:\tvalue". A newline in the Name field is written as
// \n, so no line can be forged.
func fieldOf(text []byte, field string) (string, bool) {
	for line := range bytes.Lines(text) {
		if v, ok := bytes.CutPrefix(line, []byte(field+":")); ok && bytes.HasSuffix(v, []byte("\n")) {
			return string(bytes.TrimSpace(v)), true
		}
	}
	return "", false
}

// useUmask makes the worker's umask that of the caller, so that modes come out as
// the kernel would make them, default ACLs included (there a umask does not count).
func (c *caller) useUmask() unix.Errno {
	v, ok := fieldOf(c.status(c.w.text[:160]), "Umask") // it is the second line
	mask, err := strconv.ParseUint(v, 8, 16)
	if !ok || err != nil {
		return unix.EIO
	}
	c.w.thread.setUmask(int(mask))
	return 0
}

// errno gives the number behind an error of package unix.
func errno(err error) unix.Errno {
	if err == nil {
		return 0
	}
	if e, ok := err.(unix.Errno); ok {
		return e
	}
	return unix.EIO
}
