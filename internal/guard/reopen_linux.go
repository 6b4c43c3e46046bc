//go:build amd64 || arm64

package guard

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// reopen opens what a descriptor with O_PATH stands for, by way of our own
// /proc/self/fd: exactly this object, whatever happens to its name. What could wait
// is opened by a thread that may (waiting).
func (c *call) reopen(fd int, o *opening) unix.Errno {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return errno(err)
	}
	nonblock := o.flags&unix.O_NONBLOCK != 0
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		if o.flags&unix.O_CREAT != 0 {
			return unix.EISDIR
		}
	case unix.S_IFIFO:
		if !nonblock && o.flags&unix.O_ACCMODE != unix.O_RDWR {
			return c.waiting(fd, o)
		}
	case unix.S_IFCHR:
		return c.device(fd, o, &st)
	case unix.S_IFBLK:
		return c.waiting(fd, o)
	}
	if e := c.ofNamespace(fd, o); e != 0 {
		return e
	}
	if e := c.sure(); e != 0 {
		return e
	}
	return c.reopenNow(fd, o, o.own && st.Mode&unix.S_IFMT == unix.S_IFREG)
}

// ofNamespace refuses what the kernel gives only to those with power over the user
// namespace: a worker has it where it belongs to the namespace's owner, and the command
// has not (user_namespaces(7), proc_pid_setgroups).
func (c *call) ofNamespace(fd int, o *opening) unix.Errno {
	if o.flags&unix.O_ACCMODE == unix.O_RDONLY {
		return 0
	}
	t, e := c.g.trees.of(fd)
	if e != 0 || !t.proc {
		return e
	}
	path, e := c.w.path(fd)
	if e == 0 && strings.HasSuffix(path, "/setgroups") {
		return unix.EACCES
	}
	return e
}

// reopenNow opens without waiting. O_NONBLOCK, taken off afterwards, sees to that.
func (c *call) reopenNow(fd int, o *opening, ownFile bool) (e unix.Errno) {
	var got int
	act := func() (e unix.Errno) {
		got, e = openat(unix.AT_FDCWD, selfFD(fd), again(o)|unix.O_NONBLOCK, 0)
		return e
	}
	if ownFile {
		e = c.w.thread.reading(act) // as magic: what a process may always do with itself
	} else {
		e = act()
	}
	nonblock := o.flags&unix.O_NONBLOCK != 0
	if e == unix.EAGAIN && !nonblock {
		return c.waiting(fd, o) // a lease: fcntl(2), F_SETLEASE
	}
	if e == 0 && !nonblock {
		if _, err := unix.FcntlInt(uintptr(got), unix.F_SETFL, o.flags); err != nil {
			unix.Close(got)
			return errno(err)
		}
	}
	return c.give(got, e, o)
}

// again are the flags of a second open of what exists.
func again(o *opening) int {
	return o.flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW) | unix.O_CLOEXEC | unix.O_NOCTTY
}

// device opens a character device. Those of a private /dev do not wait and do
// nothing when they are opened, apart from terminals.
//
// SECURITY: /dev/tty is the terminal of whoever opens it, so ours must never be
// opened for the command: it gets its own, by number.
func (c *call) device(fd int, o *opening, st *unix.Stat_t) unix.Errno {
	major, minor := unix.Major(st.Rdev), unix.Minor(st.Rdev)
	switch {
	case major == 5 && minor == 0:
		var e unix.Errno
		if fd, e = c.terminal(); e != 0 {
			return e
		}
	case major == 1, major == 5 && minor == 2, major >= 136 && major <= 143: // memory, ptmx, pts
	default:
		return c.waiting(fd, o)
	}
	if e := c.sure(); e != 0 {
		return e
	}
	got, e := openat(unix.AT_FDCWD, selfFD(fd), again(o), 0)
	return c.give(got, e, o)
}

// terminal finds the caller's controlling terminal: field tty_nr of its stat file
// (proc_pid_stat(5)), in its own /dev/pts.
func (c *call) terminal() (int, unix.Errno) {
	buf := make([]byte, 512)
	n := 0
	e := c.inProc(func() unix.Errno {
		fd, e := openat(c.proc, "stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if e != 0 {
			return e
		}
		defer unix.Close(fd)
		var err error
		n, err = unix.Read(fd, buf)
		return errno(err)
	})
	if e != 0 {
		return -1, unix.ENXIO
	}
	text := string(buf[:n])
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(f) < 5 {
		return -1, unix.ENXIO
	}
	nr, err := strconv.ParseUint(f[4], 10, 32)
	if err != nil || nr == 0 {
		return -1, unix.ENXIO // it has none
	}
	minor := nr&0xff | nr>>12&0xfff00 // new_encode_dev
	root, e := c.rootDir()
	if e != 0 {
		return -1, e
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(root, "dev/pts/"+strconv.FormatUint(minor, 10), &how)
	if err != nil {
		return -1, unix.ENXIO
	}
	var st unix.Stat_t
	if c.hold(fd); unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR || uint64(unix.Major(st.Rdev)) != nr>>8&0xfff || uint64(unix.Minor(st.Rdev)) != minor {
		return -1, unix.ENXIO
	}
	return fd, 0
}
