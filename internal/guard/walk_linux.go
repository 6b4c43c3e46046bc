//go:build amd64 || arm64

package guard

import (
	"strings"

	"golang.org/x/sys/unix"
)

// place is where a call acts: a directory by descriptor and a last part, which no
// link on the way can change any more.
type place struct {
	fd   int
	name string // with its trailing slashes: the kernel has rules for them
	tree *tree
}

// bare is the name without trailing slashes.
func (p *place) bare() string { return strings.TrimRight(p.name, "/") }

// special tells . and .., which no call of ours makes, renames or links.
func (p *place) special() bool { b := p.bare(); return b == "." || b == ".." }

// split cuts a path before its last part.
func split(path string) (dir, last string) {
	end := len(strings.TrimRight(path, "/"))
	if end == 0 {
		return path, "."
	}
	i := strings.LastIndexByte(path[:end], '/')
	return path[:i+1], path[i+1:]
}

// maxLinks is the kernel's own limit (MAXSYMLINKS).
const maxLinks = 40

// resolve flags for a path that must not leave the directory that it starts from.
// With them the kernel follows no magic link and says EXDEV where a path would go
// above the start: then our own walk takes over, which knows the caller's root.
const (
	inRoot  = unix.RESOLVE_IN_ROOT
	beneath = unix.RESOLVE_BENEATH
	scoped  = inRoot | beneath
)

// parent resolves all of a path but its last part, as the caller would.
func (c *caller) parent(dirfd int32, path string, resolve uint64) (place, unix.Errno) {
	if path == "" {
		return place{}, unix.ENOENT
	}
	start, e := c.start(dirfd, path, resolve)
	if e != 0 {
		return place{}, e
	}
	return c.parentFrom(start, path, &walk{caller: c, base: start, resolve: resolve})
}

// start gives the directory from which a path is resolved.
func (c *caller) start(dirfd int32, path string, resolve uint64) (int, unix.Errno) {
	switch {
	case path[0] != '/' || resolve&inRoot != 0:
		return c.base(dirfd)
	case resolve&beneath != 0:
		return -1, unix.EXDEV
	}
	return c.rootDir()
}

// parentFrom is parent, from a directory or, for an absolute path, from the root.
func (c *caller) parentFrom(start int, path string, w *walk) (place, unix.Errno) {
	dir, last := split(path)
	p := place{fd: start, name: last}
	if w.resolve&scoped != 0 && p.special() {
		dir, p.name = path, "." // .. may not leave the scope
	}
	if dir != "" {
		fd, e := c.quick(start, dir, w)
		if e == 0 {
			p.fd = fd
		} else if p.fd, e = w.to(start, dir, true); e != 0 {
			return place{}, e
		}
	}
	var st unix.Stat_t
	if err := unix.Fstat(p.fd, &st); err != nil {
		return place{}, errno(err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return place{}, unix.ENOTDIR
	}
	var e unix.Errno
	p.tree, e = c.w.g.trees.at(p.fd, uint64(st.Dev))
	return p, e
}

// quick lets the kernel walk where it can keep the walk inside. ENOENT too is no
// answer: /proc/self is missing for a worker, which is not of the caller's pid namespace.
//
// SECURITY: a walk that came out in procfs is not taken, since there "self" and the
// links are the worker's, not the caller's.
func (c *caller) quick(start int, dir string, w *walk) (int, unix.Errno) {
	if w.resolve&inRoot != 0 && start != w.base {
		return -1, unix.EXDEV // its scope is not this directory
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: w.resolve}
	if w.resolve&scoped == 0 {
		if how.Resolve |= beneath; dir[0] == '/' {
			how.Resolve = how.Resolve&^beneath | inRoot
		}
	}
	fd, err := unix.Openat2(start, dir, &how)
	if err != nil {
		return -1, errno(err)
	}
	c.hold(fd)
	t, e := c.w.g.trees.of(fd)
	if e == 0 && t.proc {
		e = unix.EXDEV
	}
	return fd, e
}

// path gives where a directory is, as the caller sees it: the real path, without
// links, of the mount namespace that the directory is in.
func (w *worker) path(fd int) (string, unix.Errno) {
	n, err := unix.Readlink(selfFD(fd), w.text[:])
	if err != nil {
		return "", errno(err)
	}
	if n == len(w.text) {
		return "", unix.ENAMETOOLONG
	}
	return string(w.text[:n]), 0
}

// walk is a path followed part by part: for paths through procfs, above their start,
// and for whatever the kernel would not walk in a closed scope.
type walk struct {
	*caller
	base    int
	resolve uint64
	links   int
	whole   bool // the path's last part is the call's own: the rule for sticky directories holds
	cur     int
	st      unix.Stat_t
	tree    *tree
}

// to follows a path to its end. follow says whether a link there is followed too.
func (w *walk) to(start int, path string, follow bool) (int, unix.Errno) {
	w.cur = start
	if e := w.look(); e != 0 {
		return -1, e
	}
	if path != "" && path[0] == '/' && w.resolve&inRoot == 0 {
		if e := w.enterRoot(); e != 0 {
			return -1, e
		}
	}
	if w.st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return -1, unix.ENOTDIR
	}
	for steps := 0; ; steps++ {
		path = strings.TrimLeft(path, "/")
		if path == "" {
			return w.cur, 0
		}
		if steps > maxLinks*pathMax {
			return -1, unix.ELOOP
		}
		var e unix.Errno
		if path, e = w.next(path, follow); e != 0 {
			return -1, e
		}
	}
}

// next takes the first part of a path and gives what is left of it.
func (w *walk) next(path string, follow bool) (rest string, e unix.Errno) {
	name, rest, more := strings.Cut(path, "/")
	last := strings.Trim(rest, "/") == ""
	from, fromTree := w.cur, w.tree
	fd, e := w.enter(name)
	if e != 0 {
		return "", e
	}
	w.cur = w.hold(fd)
	if e := w.look(); e != 0 {
		return "", e
	}
	if w.st.Mode&unix.S_IFMT == unix.S_IFLNK && (!last || more || follow) {
		return w.link(step{from, fromTree, name, rest, last, more})
	}
	if more && w.st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return "", unix.ENOTDIR
	}
	return rest, 0
}

// look stats where the walk is.
func (w *walk) look() unix.Errno {
	if err := unix.Fstat(w.cur, &w.st); err != nil {
		return errno(err)
	}
	var e unix.Errno
	w.tree, e = w.w.g.trees.at(w.cur, uint64(w.st.Dev))
	return e
}

// enter opens one part, following nothing.
func (w *walk) enter(name string) (int, unix.Errno) {
	const flags = unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW
	if name == "." {
		return openat(w.cur, ".", flags|unix.O_DIRECTORY, 0)
	}
	if name == ".." {
		top, e := w.atTop()
		switch {
		case e != 0:
			return -1, e
		case top && w.resolve&beneath != 0:
			return -1, unix.EXDEV
		case top:
			name = "."
		}
		return openat(w.cur, name, flags|unix.O_DIRECTORY, 0)
	}
	if w.tree.proc && w.st.Ino == procRootIno {
		name = w.ownName(name)
	}
	return openat(w.cur, name, flags, 0)
}

// atTop tells whether the walk is at the directory that .. does not leave.
func (w *walk) atTop() (bool, unix.Errno) {
	top := w.base
	if w.resolve&scoped == 0 {
		var e unix.Errno
		if top, e = w.rootDir(); e != 0 {
			return false, e
		}
	}
	a, e := mountedAt(w.cur)
	if e != 0 {
		return false, e
	}
	b, e := mountedAt(top)
	return a == b, e
}

// position is a directory on a mount.
type position struct{ dev, ino, mnt uint64 }

func mountedAt(fd int) (position, unix.Errno) {
	var st unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_MNT_ID, &st); err != nil {
		return position{}, errno(err)
	}
	return position{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino, st.Mnt_id}, 0
}

// enterRoot goes to the directory that an absolute path starts from.
func (w *walk) enterRoot() unix.Errno {
	switch {
	case w.resolve&beneath != 0:
		return unix.EXDEV
	case w.resolve&inRoot != 0:
		w.cur = w.base
		return w.look()
	}
	fd, e := w.rootDir()
	if e != 0 {
		return e
	}
	w.cur = fd
	return w.look()
}

// step is one part of a path, with where it was found.
type step struct {
	from int
	tree *tree
	name string
	rest string // of the path
	last bool   // nothing but slashes follows
	more bool   // a slash follows
}

// link goes on where the link leads that the walk stands on.
func (w *walk) link(s step) (string, unix.Errno) {
	if w.links++; w.links > maxLinks || w.resolve&unix.RESOLVE_NO_SYMLINKS != 0 {
		return "", unix.ELOOP
	}
	if s.tree.proc {
		if magic, e := w.magic(s.from, s.name); magic || e != 0 {
			if e == 0 && s.more && w.st.Mode&unix.S_IFMT != unix.S_IFDIR {
				e = unix.ENOTDIR
			}
			return s.rest, e
		}
	}
	if s.last && w.whole && !w.w.g.sticky.mayFollow(s.from, &w.st) {
		return "", unix.EACCES
	}
	text, e := readlink(w.cur)
	if e != 0 {
		return "", e
	}
	if w.cur = s.from; text[0] == '/' {
		e = w.enterRoot()
	} else {
		e = w.look()
	}
	if s.more {
		text += "/" + s.rest
	}
	return text, e
}

// readlink gives the text of the link that a descriptor stands for.
func readlink(fd int) (string, unix.Errno) {
	buf := make([]byte, pathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	if err != nil {
		return "", errno(err)
	}
	if n == 0 {
		return "", unix.ENOENT
	}
	return string(buf[:n]), 0
}
