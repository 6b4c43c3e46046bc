package guard

import "golang.org/x/sys/unix"

// old makes the calls without "at", which amd64 still has.
func (c *call) old(nr int, a *[6]uint64) unix.Errno {
	const cwd = unix.AT_FDCWD
	switch nr {
	case unix.SYS_OPEN:
		return c.openat("open", cwd, a[0], uint32(a[1]), uint32(a[2]))
	case unix.SYS_CREAT:
		return c.openat("creat", cwd, a[0], unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, uint32(a[1]))
	case unix.SYS_MKDIR:
		return c.mkdir("mkdir", cwd, a[0], uint32(a[1]))
	case unix.SYS_MKNOD:
		return c.mknod("mknod", cwd, a[0], uint32(a[1]), uint32(a[2]))
	case unix.SYS_SYMLINK:
		return c.symlink("symlink", a[0], cwd, a[1])
	case unix.SYS_LINK:
		return c.link("link", cwd, a[0], cwd, a[1], 0)
	case unix.SYS_RENAME:
		return c.rename("rename", cwd, a[0], cwd, a[1], 0)
	}
	return unix.ENOSYS // the filter sends nothing else
}
