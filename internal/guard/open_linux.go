//go:build amd64 || arm64

package guard

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// opening is an open with O_CREAT or O_TMPFILE, or any openat2.
type opening struct {
	flags   int
	mode    uint32
	resolve uint64
	own     bool // what exists is in the caller's own part of procfs
}

// setID are the mode bits that no call inside may set: the filter refuses them where
// it sees the mode, and here it does not (openat2).
const setID = unix.S_ISUID | unix.S_ISGID

// openat makes open, openat and creat.
func (c *call) openat(op string, dirfd int32, addr uint64, flags, mode uint32) unix.Errno {
	c.op = op
	if flags&(unix.O_DIRECTORY|unix.O_TMPFILE) != 0 {
		if _, e := openat(unix.AT_FDCWD, "", int(flags), mode); e == unix.EINVAL {
			return e // the kernel looks at the flags first, and its rules change
		}
	}
	path, e := c.text(addr)
	if e != 0 {
		return e
	}
	return c.open(dirfd, path, &opening{flags: int(flags), mode: mode & 0o1777})
}

// openat2 makes openat2 for filters that send it here. What a worker cannot do for
// another is refused with ENOSYS, after which programs take openat: a descriptor with
// O_PATH cannot be handed over, and mounts are not told apart.
func (c *call) openat2(dirfd int32, addr, how, size uint64) unix.Errno {
	c.op = "openat2"
	h, e := c.openHow(how, size)
	if e != 0 {
		return e
	}
	if _, err := unix.Openat2(unix.AT_FDCWD, "", &h); errno(err) != unix.ENOENT {
		return errno(err) // what the kernel says to the flags, before it looks at the path
	}
	const known = unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | scoped
	switch {
	case h.Mode&setID != 0:
		return unix.EPERM
	case h.Resolve&^known == resolveCached:
		return unix.EAGAIN // as if it were not in the cache
	case h.Resolve&^known != 0 || h.Flags&unix.O_PATH != 0:
		return unix.ENOSYS
	}
	path, e := c.text(addr)
	if e != 0 {
		return e
	}
	return c.open(dirfd, path, &opening{flags: int(h.Flags), mode: uint32(h.Mode), resolve: h.Resolve})
}

// resolveCached is RESOLVE_CACHED (include/uapi/linux/openat2.h).
const resolveCached = 0x20

// openHow reads struct open_how as copy_struct_from_user does.
func (c *call) openHow(addr, size uint64) (h unix.OpenHow, e unix.Errno) {
	const known = unix.SizeofOpenHow
	if size < known {
		return h, unix.EINVAL
	}
	if size > pageSize {
		return h, unix.E2BIG
	}
	buf := make([]byte, size)
	for n := 0; n < len(buf); {
		end := min(len(buf), n+pageSize-int((addr+uint64(n))%pageSize))
		got, e := c.memory(addr+uint64(n), buf[n:end])
		if e != 0 {
			return h, e
		}
		n += got
	}
	for _, b := range buf[known:] {
		if b != 0 {
			return h, unix.E2BIG
		}
	}
	h.Flags, h.Mode, h.Resolve = binary.NativeEndian.Uint64(buf), binary.NativeEndian.Uint64(buf[8:]), binary.NativeEndian.Uint64(buf[16:])
	return h, 0
}

// open resolves the path and follows links at its end, until a name is left that is
// no link.
func (c *call) open(dirfd int32, path string, o *opening) unix.Errno {
	if o.flags&unix.O_PATH != 0 {
		return unix.EINVAL // cannot be handed over; O_CREAT beside it means nothing
	}
	if path == "" {
		return unix.ENOENT
	}
	start, e := c.start(dirfd, path, o.resolve)
	if e != 0 {
		return e
	}
	w := &walk{caller: c.caller, base: start, resolve: o.resolve, whole: true}
	if o.flags&unix.O_TMPFILE == unix.O_TMPFILE {
		return c.nameless(w, start, path, o)
	}
	for {
		w.whole = false
		p, e := c.parentFrom(start, path, w)
		if e != 0 {
			return e
		}
		link, e := c.openAt(&p, o)
		if e != 0 || link < 0 {
			return e
		}
		if start, path, e = c.lastLink(w, &p, link, o); e != 0 {
			return e
		}
		if path == "" { // a link of procfs: start is what it stands for
			return c.reopen(start, o)
		}
	}
}

// lastLink gives where to go on when the last part of a path is a link.
func (c *call) lastLink(w *walk, p *place, link int, o *opening) (start int, path string, e unix.Errno) {
	w.cur = link
	if e := w.look(); e != 0 {
		return 0, "", e
	}
	w.whole = true
	text, e := w.link(step{from: p.fd, tree: p.tree, name: p.bare(), last: true})
	if e == 0 && text != "" && p.name != p.bare() {
		text += "/"
	}
	if e == 0 && text != "" && text[0] == '/' && o.resolve&inRoot != 0 {
		return w.base, text, 0
	}
	return w.cur, text, e
}

// nameless makes a file without a name (O_TMPFILE). It gets one by linkat, which
// comes here too.
func (c *call) nameless(w *walk, start int, path string, o *opening) unix.Errno {
	dir, e := w.to(start, path, o.flags&unix.O_NOFOLLOW == 0)
	if e != 0 {
		return e
	}
	t, e := c.g.trees.of(dir)
	if e != 0 {
		return e
	}
	if w.st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return unix.ENOTDIR
	}
	p := place{fd: dir, name: "nameless", tree: t}
	where, e := c.w.path(dir)
	if e == 0 && !c.g.inPlaces(where) {
		return c.denied(&p, where, "places")
	}
	if e = c.useUmask(); e != 0 {
		return e
	}
	if e = c.sure(); e != 0 {
		return e
	}
	fd, e := openat(dir, ".", o.flags|unix.O_CLOEXEC, o.mode)
	return c.give(fd, e, o)
}

// give hands a descriptor to the caller.
func (c *call) give(fd int, e unix.Errno, o *opening) unix.Errno {
	if e != 0 {
		return e
	}
	e = deliver(c.g.listener, c.w.resp, c.id, fd, o.flags)
	c.answered = e == 0 || e == unix.ENOENT
	return e
}
