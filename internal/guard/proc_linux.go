//go:build amd64 || arm64

package guard

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The procfs inside is of the command's pid namespace, and a worker is not in it:
// "self" means nothing to it there. The links below a process (cwd, root, exe, fd/N)
// are no texts: the kernel jumps to what they stand for, if the one who follows may
// look into that process. A worker may look into more processes than the command
// may, since it belongs to the owner of the user namespace. So whose entry it is
// decides here, before the kernel is asked.

// procRootIno is the inode of procfs's own root (PROC_ROOT_INO).
const procRootIno = 1

// ids gives the caller's process and thread as its procfs numbers them.
func (c *caller) ids() (tgid, tid string) {
	text := c.status(make([]byte, 32<<10)) // the list of groups comes before
	group, _ := fieldOf(text, "NStgid")
	thread, _ := fieldOf(text, "NSpid")
	g, t := strings.Fields(group), strings.Fields(thread)
	if len(g) == 0 || len(t) == 0 {
		return "", ""
	}
	return g[len(g)-1], t[len(t)-1]
}

// ownName puts the caller's number for the names in procfs's root that stand for
// the one who looks.
func (c *caller) ownName(name string) string {
	if name != "self" && name != "thread-self" {
		return name
	}
	tgid, tid := c.ids()
	if name == "self" || tgid == tid {
		return tgid
	}
	return tid // the kernel says tgid/task/tid, which has the same links
}

// process gives the number of the process whose part of procfs a directory is in;
// "" for other parts.
func (c *caller) process(fd int) (string, unix.Errno) {
	path, e := c.w.path(fd)
	if e != 0 {
		return "", e
	}
	up := fd
	for depth := 0; depth < 8; depth++ {
		var st unix.Stat_t
		if err := unix.Fstat(up, &st); err != nil {
			return "", errno(err)
		}
		if st.Ino == procRootIno {
			parts := strings.Split(path, "/")
			if depth == 0 || depth >= len(parts) {
				return "", 0
			}
			top := parts[len(parts)-depth]
			if _, err := strconv.Atoi(top); err != nil {
				return "", 0
			}
			return top, 0
		}
		if up, e = openat(up, "..", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); e != 0 {
			return "", e
		}
		c.hold(up)
	}
	return "", unix.EACCES
}

// entry says whose part of procfs a directory is in.
type entry uint8

const (
	nobodys entry = iota // of the system: plain files, links that are texts
	own                  // the caller's own process: it may always look into that
	other                // another process that the caller surely may look into
)

// mayTouch tells whether the caller could use the entries of a directory in procfs
// that the worker, with its wider sight, can use.
//
// SECURITY: without it open("/proc/1/mem", O_RDWR|O_CREAT) would give the command
// the memory of our init.
func (c *caller) mayTouch(fd int) (entry, unix.Errno) {
	top, e := c.process(fd)
	if e != 0 || top == "" {
		return nobodys, e
	}
	tgid, tid := c.ids()
	switch {
	case top == tgid || top == tid:
		return own, 0
	case c.mayForeign(fd, top):
		return other, 0
	}
	return other, unix.EACCES
}

// mayForeign tells whether another process is one that the caller surely may look
// into: of our own user namespace, where the worker has no wider sight, or of the
// same user and dumpable, which shows in who owns its entries (task_dump_owner in
// fs/proc/base.c). Root's entries are root's either way.
func (c *caller) mayForeign(fd int, top string) bool {
	dir, e := c.procEntry(fd, top)
	if e != 0 {
		return false
	}
	var st, own unix.Stat_t
	if unix.Fstatat(dir, "environ", &st, 0) == nil && st.Uid != 0 && int(st.Uid) == unix.Geteuid() {
		return true
	}
	return unix.Fstatat(dir, "ns/user", &st, 0) == nil && unix.Stat("/proc/self/ns/user", &own) == nil &&
		st.Ino == own.Ino && st.Dev == own.Dev
}

// procEntry climbs to the process's own directory.
func (c *caller) procEntry(fd int, top string) (int, unix.Errno) {
	for range 8 {
		dir, e := openat(fd, "..", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if e != 0 {
			return -1, e
		}
		c.hold(dir)
		var st unix.Stat_t
		if err := unix.Fstat(dir, &st); err != nil {
			return -1, errno(err)
		}
		if st.Ino == procRootIno {
			return fd, 0
		}
		fd = dir
	}
	return -1, unix.EACCES
}

// magic follows a link of procfs if it is one of those that are no text.
func (w *walk) magic(from int, name string) (magic bool, e unix.Errno) {
	whose, e := w.mayTouch(from)
	if whose == nobodys || e != 0 {
		return false, e
	}
	switch {
	case w.resolve&unix.RESOLVE_NO_MAGICLINKS != 0:
		return true, unix.ELOOP
	case w.resolve&scoped != 0:
		return true, unix.EXDEV
	}
	var fd int
	jump := func() (e unix.Errno) {
		fd, e = openat(from, name, unix.O_PATH|unix.O_CLOEXEC, 0)
		return e
	}
	if whose == own {
		e = w.w.thread.reading(jump) // of the caller itself: one link, to where it leads
	} else {
		e = jump()
	}
	if e != 0 {
		return true, e
	}
	w.cur = w.hold(fd)
	return true, w.look()
}
