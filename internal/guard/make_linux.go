//go:build amd64 || arm64

package guard

import (
	"strings"

	"golang.org/x/sys/unix"
)

// making runs one call that makes a name, under the directory's lock: judge, check
// that the caller still waits, act.
func (c *call) making(p *place, what made, act func() error) (v verdict, e unix.Errno) {
	p.tree.RLock()
	defer p.tree.RUnlock()
	if v, e = c.judge(p, what); e != 0 {
		return v, e
	}
	if v.decision == refuse {
		if there(p) {
			return v, unix.EEXIST // what the kernel says first
		}
		return v, c.denied(p, v.dir, v.rule)
	}
	if e = c.sure(); e != 0 {
		return v, e
	}
	return v, errno(act())
}

// mkdir makes mkdir and mkdirat.
func (c *call) mkdir(op string, dirfd int32, addr uint64, mode uint32) unix.Errno {
	c.op = op
	p, e := c.where(dirfd, addr)
	if e != 0 {
		return e
	}
	if e = c.useUmask(); e != 0 {
		return e
	}
	v, e := c.making(&p, madeFolder, func() error { return unix.Mkdirat(p.fd, p.name, mode&0o1777) })
	if e == 0 {
		c.noted(&p, v, p.fd, p.bare())
	}
	return e
}

// mknod makes mknod and mknodat: FIFOs, sockets and plain files, as the filter has it.
func (c *call) mknod(op string, dirfd int32, addr uint64, mode, dev uint32) unix.Errno {
	c.op = op
	switch mode & unix.S_IFMT { // as may_mknod of fs/namei.c, before the path is looked at
	case 0, unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK:
	case unix.S_IFCHR, unix.S_IFBLK, unix.S_IFDIR:
		return unix.EPERM
	default:
		return unix.EINVAL
	}
	if mode&setID != 0 {
		return unix.EPERM
	}
	p, e := c.where(dirfd, addr)
	if e != 0 {
		return e
	}
	if e = c.useUmask(); e != 0 {
		return e
	}
	v, e := c.making(&p, madeFile, func() error { return unix.Mknodat(p.fd, p.name, mode, int(dev)) })
	if e == 0 {
		c.noted(&p, v, p.fd, p.bare())
	}
	return e
}

// symlink makes symlink and symlinkat.
func (c *call) symlink(op string, target uint64, dirfd int32, addr uint64) unix.Errno {
	c.op = op
	text, e := c.text(target)
	if e != 0 {
		return e
	}
	p, e := c.where(dirfd, addr)
	if e != 0 {
		return e
	}
	_, e = c.making(&p, madeLink, func() error { return unix.Symlinkat(text, p.fd, p.name) })
	return e
}

// link makes link and linkat. The source is judged too: a second name of a protected
// file would be a way to write to it.
func (c *call) link(op string, fromFD int32, from uint64, toFD int32, to uint64, flags uint32) unix.Errno {
	c.op = op
	if flags&^(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return unix.EINVAL
	}
	text, e := c.text(from)
	if e != 0 {
		return e
	}
	src, e := c.source(fromFD, text, flags)
	if e != 0 {
		return e
	}
	p, e := c.where(toFD, to)
	if e != 0 {
		return e
	}
	if src.name != "" {
		if e := c.mayLink(&src, &p); e != 0 {
			return e
		}
	}
	v, e := c.making(&p, madeFile, func() error {
		if src.name == "" {
			return unix.Linkat(unix.AT_FDCWD, selfFD(src.fd), p.fd, p.name, unix.AT_SYMLINK_FOLLOW)
		}
		return unix.Linkat(src.fd, src.name, p.fd, p.name, 0)
	})
	if e == 0 {
		c.noted(&p, v, p.fd, p.bare())
	}
	return e
}

// source finds what is to be linked: a directory and a name, or, where the last part
// is a link to be followed or there is none, the object itself (name is "").
func (c *call) source(dirfd int32, text string, flags uint32) (place, unix.Errno) {
	if text == "" {
		if flags&unix.AT_EMPTY_PATH == 0 {
			return place{}, unix.ENOENT
		}
		fd, e := c.base(dirfd)
		return place{fd: fd}, e
	}
	if flags&unix.AT_SYMLINK_FOLLOW == 0 && !strings.HasSuffix(text, "/") {
		p, e := c.parent(dirfd, text, 0)
		if e == 0 {
			var st unix.Stat_t
			e = errno(unix.Fstatat(p.fd, p.name, &st, unix.AT_SYMLINK_NOFOLLOW))
		}
		return p, e
	}
	start, e := c.start(dirfd, text, 0)
	if e != 0 {
		return place{}, e
	}
	w := &walk{caller: c.caller, base: start, whole: true}
	fd, e := w.to(start, text, true)
	return place{fd: fd}, e
}

// mayLink judges the source of a link.
func (c *call) mayLink(src, p *place) unix.Errno {
	src.tree.RLock()
	defer src.tree.RUnlock()
	v, e := c.judge(src, linked)
	if e != 0 || v.decision != refuse {
		return e
	}
	if there(p) {
		return unix.EEXIST
	}
	return c.denied(src, v.dir, v.rule)
}
