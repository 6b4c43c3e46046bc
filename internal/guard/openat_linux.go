//go:build amd64 || arm64

package guard

import "golang.org/x/sys/unix"

// openAt opens or makes the last part of a path. If it is a link to be followed, its
// descriptor comes back instead (else -1).
func (c *call) openAt(p *place, o *opening) (link int, e unix.Errno) {
	if o.flags&unix.O_CREAT == 0 {
		return c.existing(p, o, verdict{})
	}
	if p.special() || p.name != p.bare() {
		return -1, c.impossible(p, o)
	}
	p.tree.RLock()
	v, e := c.judge(p, madeFile)
	if e != 0 {
		p.tree.RUnlock()
		return -1, e
	}
	if v.decision != refuse && c.ordinary(p, v) && (o.flags&unix.O_ACCMODE != unix.O_RDONLY || o.flags&unix.O_EXCL != 0) {
		link, e, done := c.direct(p, o, v)
		p.tree.RUnlock()
		if done {
			return link, e
		}
	} else {
		p.tree.RUnlock()
	}
	return c.existing(p, o, v)
}

// impossible gives the kernel's error for a name that an open with O_CREAT refuses:
// ., .. and a trailing slash.
func (c *call) impossible(p *place, o *opening) unix.Errno {
	fd, e := openat(p.fd, p.name, o.flags|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if e == 0 {
		unix.Close(fd)
		return unix.EISDIR
	}
	return e
}

// ordinary tells places in which no device can be: writable roots and private
// directories, whose mounts say nodev.
func (c *call) ordinary(p *place, v verdict) bool {
	return !p.tree.proc && c.g.nodev(v.dir)
}

// direct opens in one call. O_NONBLOCK, taken off afterwards, keeps a FIFO without a
// reader or a file under a lease from holding the worker up: those, and links, are
// left to existing (done is false) or to the caller's loop.
func (c *call) direct(p *place, o *opening, v verdict) (link int, e unix.Errno, done bool) {
	if e := c.useUmask(); e != 0 {
		return -1, e, true
	}
	if e := c.sure(); e != 0 {
		return -1, e, true
	}
	extra := unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY
	fd, e := openat(p.fd, p.name, o.flags|extra, o.mode)
	switch {
	case e == unix.ELOOP && o.flags&unix.O_NOFOLLOW == 0:
		return -1, 0, false
	case (e == unix.ENXIO || e == unix.EAGAIN) && o.flags&unix.O_NONBLOCK == 0:
		return -1, 0, false
	case e != 0:
		return -1, e, true
	}
	if o.flags&unix.O_NONBLOCK == 0 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, o.flags); err != nil {
			unix.Close(fd)
			return -1, errno(err), true
		}
	}
	c.noted(p, v, fd, "")
	return -1, c.give(fd, 0, o), true
}

// existing opens what is there, by descriptor, so that it stays what was looked at;
// and makes what is not there, if that is allowed. A name that may not be made can
// still be opened where it exists: the mounts decide about that.
func (c *call) existing(p *place, o *opening, v verdict) (link int, e unix.Errno) {
	name := p.bare()
	if p.tree.proc {
		name = c.ownName(name)
		whose, e := c.mayTouch(p.fd)
		if e != 0 {
			return -1, e
		}
		o.own = whose == own
	}
	for range 16 {
		fd, e := openat(p.fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if e == unix.ENOENT && o.flags&unix.O_CREAT != 0 {
			if e = c.create(p, o); e == unix.EEXIST && o.flags&unix.O_EXCL == 0 {
				continue // it came into being meanwhile
			}
			return -1, e
		}
		if e != 0 {
			return -1, e
		}
		return c.found(p, o, c.hold(fd))
	}
	return -1, unix.EAGAIN
}

// create makes a file that was not there a moment ago.
func (c *call) create(p *place, o *opening) unix.Errno {
	p.tree.RLock()
	v, e := c.judge(p, madeFile)
	if e == 0 {
		e = c.useUmask()
	}
	if e == 0 {
		e = c.sure()
	}
	if e != 0 || v.decision == refuse {
		p.tree.RUnlock()
		if e == 0 {
			e = c.denied(p, v.dir, v.rule)
		}
		return e
	}
	fd, e := openat(p.fd, p.bare(), o.flags|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, o.mode)
	p.tree.RUnlock()
	if e == 0 {
		c.noted(p, v, fd, "")
	}
	return c.give(fd, e, o)
}

// found deals with what exists under the last part.
func (c *call) found(p *place, o *opening, fd int) (link int, e unix.Errno) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return -1, errno(err)
	}
	kind := st.Mode & unix.S_IFMT
	creating := o.flags&unix.O_CREAT != 0
	switch {
	case creating && o.flags&unix.O_EXCL != 0:
		return -1, unix.EEXIST
	case kind == unix.S_IFLNK && o.flags&unix.O_NOFOLLOW != 0 && p.name == p.bare():
		return -1, unix.ELOOP
	case kind == unix.S_IFLNK:
		return fd, 0
	case p.name != p.bare() && kind != unix.S_IFDIR:
		return -1, unix.ENOTDIR
	case creating && !c.g.sticky.mayReuse(p.fd, &st):
		return -1, unix.EACCES
	}
	return -1, c.reopen(fd, o)
}

// noted remembers what was made and may matter after the run.
func (c *call) noted(p *place, v verdict, fd int, name string) {
	if v.decision == record {
		c.g.recorded.add(joined(v.dir, p.bare()))
	}
	if !v.opens {
		return
	}
	flags := 0
	if name == "" {
		flags = unix.AT_EMPTY_PATH
	}
	if id, ok := identity(fd, name, flags); ok {
		c.g.fresh.add(id)
	}
}

// nodev tells directories below a root or a private place.
func (g *Guard) nodev(dir string) bool {
	for _, r := range g.cfg.Roots {
		if within(r, dir) {
			return true
		}
	}
	for _, r := range g.cfg.Places {
		if within(r, dir) && r != "/dev" {
			return true
		}
	}
	return false
}
