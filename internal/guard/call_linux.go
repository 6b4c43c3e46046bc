//go:build amd64 || arm64

package guard

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// call is one notified call.
type call struct {
	*caller
	g        *Guard
	id       uint64
	op       string
	answered bool
	marks    []inode // to be remembered as git folders of this run when the call is done
}

// run makes the call and gives its error. Argument numbers are those of the
// calls' manual pages; registers hold 64 bits, of which an int has the low 32.
func (c *call) run(nr int, a *[6]uint64) unix.Errno {
	switch nr {
	case unix.SYS_OPENAT:
		return c.openat("openat", int32(a[0]), a[1], uint32(a[2]), uint32(a[3]))
	case unix.SYS_OPENAT2:
		return c.openat2(int32(a[0]), a[1], a[2], a[3])
	case unix.SYS_MKDIRAT:
		return c.mkdir("mkdirat", int32(a[0]), a[1], uint32(a[2]))
	case unix.SYS_MKNODAT:
		return c.mknod("mknodat", int32(a[0]), a[1], uint32(a[2]), uint32(a[3]))
	case unix.SYS_SYMLINKAT:
		return c.symlink("symlinkat", a[0], int32(a[1]), a[2])
	case unix.SYS_LINKAT:
		return c.link("linkat", int32(a[0]), a[1], int32(a[2]), a[3], uint32(a[4]))
	case unix.SYS_RENAMEAT:
		return c.rename("renameat", int32(a[0]), a[1], int32(a[2]), a[3], 0)
	case unix.SYS_RENAMEAT2:
		return c.rename("renameat2", int32(a[0]), a[1], int32(a[2]), a[3], uint32(a[4]))
	}
	return c.old(nr, a)
}

// where resolves a path argument up to its last part.
func (c *call) where(dirfd int32, addr uint64) (place, unix.Errno) {
	path, e := c.text(addr)
	if e != 0 {
		return place{}, e
	}
	return c.parent(dirfd, path, 0)
}

// before gives the error that the kernel would have given before e: it asks for the
// right to search a directory as soon as it gets there, we when we act in it.
func (p *place) before(e unix.Errno) unix.Errno {
	fd, err := openat(p.fd, ".", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != 0 {
		return err
	}
	unix.Close(fd)
	return e
}

// sure tells that what was read was the caller's own: it still waits.
func (c *call) sure() unix.Errno {
	if !valid(c.g.listener, c.id) {
		return unix.ENOENT
	}
	return 0
}

// denied tells of a refusal. EACCES is what Landlock says too: EPERM makes programs
// try other ways (copy instead of link), EROFS makes them give the whole place up.
func (c *call) denied(p *place, dir, rule string) unix.Errno {
	if dir == tooDeep {
		dir = "(a folder beyond 4,095 bytes of path)"
	}
	c.g.denials.add(Denial{Op: c.op, Path: joined(dir, p.bare()), Rule: rule})
	return unix.EACCES
}

// there tells whether a name exists, for errors that come before a refusal.
func there(p *place) bool {
	var st unix.Stat_t
	return unix.Fstatat(p.fd, p.bare(), &st, unix.AT_SYMLINK_NOFOLLOW) == nil
}

func joined(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// selfFD is a path to a descriptor of ours.
func selfFD(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

func openat(dir int, name string, flags int, mode uint32) (int, unix.Errno) {
	fd, err := unix.Openat(dir, name, flags, mode)
	return fd, errno(err)
}
