//go:build amd64 || arm64

package guard

import (
	"strings"

	"golang.org/x/sys/unix"
)

// rename makes rename, renameat and renameat2.
func (c *call) rename(op string, fromFD int32, from uint64, toFD int32, to uint64, flags uint32) unix.Errno {
	c.op = op
	if flags != 0 && unix.Renameat2(unix.AT_FDCWD, "", unix.AT_FDCWD, "", uint(flags)) == unix.EINVAL {
		return unix.EINVAL // the kernel looks at the flags first
	}
	src, e := c.where(fromFD, from)
	if e != 0 {
		return e
	}
	dst, e := c.where(toFD, to)
	if e != 0 {
		return src.before(e)
	}
	unlock, e := alone(src.tree, dst.tree)
	if e != 0 {
		return e
	}
	defer unlock()
	if src.mounted() || dst.mounted() {
		return unix.EBUSY
	}
	if e = c.mayMove(&src, &dst); e != 0 {
		return e
	}
	if flags&unix.RENAME_EXCHANGE != 0 {
		if e = c.mayMove(&dst, &src); e != 0 {
			return e
		}
	}
	if e = c.sure(); e != 0 {
		return e
	}
	e = errno(unix.Renameat2(src.fd, src.name, dst.fd, dst.name, uint(flags)))
	for _, id := range c.marks {
		if e == 0 {
			c.g.fresh.add(id)
		}
	}
	return e
}

// mounted tells whether something is mounted on a name, in the caller's view: its
// directory was reached through the caller's root, so the lookup crosses the mount.
//
// SECURITY: to the kernel the rename is ours, and it asks only whether the name is
// in use in our own mount namespace (fs/namei.c, is_local_mountpoint). It would
// move the name, and take what is mounted on it away from the caller's namespace:
// what is hidden would come to light, and what is read-only could be replaced.
func (p *place) mounted() bool {
	var st unix.Statx_t
	err := unix.Statx(p.fd, p.bare(), unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, 0, &st)
	return err == nil && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

// mayMove judges both ends of a rename: what goes away at one, what comes to be at
// the other, and what a folder brings along.
func (c *call) mayMove(src, dst *place) unix.Errno {
	var st unix.Stat_t
	if src.special() || dst.special() || unix.Fstatat(src.fd, src.bare(), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return 0 // the kernel has its own error
	}
	what := madeFile
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		what = madeFolder
	case unix.S_IFLNK:
		what = madeLink
	}
	away, e := c.judge(src, moved)
	if e != 0 {
		return e
	}
	if away.decision == refuse {
		return c.denied(src, away.dir, away.rule)
	}
	come, e := c.judge(dst, what)
	if e != 0 {
		return e
	}
	if come.decision == refuse {
		return c.denied(dst, come.dir, come.rule)
	}
	if e := c.mayReplace(dst, &come); e != 0 {
		return e
	}
	if what == madeFolder {
		return c.mayMoveFolder(src, dst, &away, &come)
	}
	if come.decision == record {
		c.g.recorded.add(joined(come.dir, dst.bare()))
		c.remember(src, come.opens)
	}
	return 0
}

// mayReplace keeps a .git that was there before the run from being replaced.
func (c *call) mayReplace(dst *place, come *verdict) unix.Errno {
	if !come.opens || come.rule != "git-pointer" {
		return 0
	}
	if id, ok := identity(dst.fd, dst.bare(), 0); ok && !c.g.fresh.has(id) {
		return c.denied(dst, come.dir, come.rule)
	}
	return 0
}

// remember takes what is moved for a new git folder or file, once it is moved.
func (c *call) remember(src *place, opens bool) {
	if id, ok := identity(src.fd, src.bare(), 0); ok && opens {
		c.marks = append(c.marks, id)
	}
}

// mayMoveFolder judges what lies in a folder: protected parts of a git folder that
// was there before must not be taken away with it, and none must come to be by its
// new name. What is, or lies in, a git folder of this run may go anywhere as far as
// git's own rows are concerned.
func (c *call) mayMoveFolder(src, dst *place, away, come *verdict) unix.Errno {
	if come.decision == record {
		c.g.recorded.add(joined(come.dir, dst.bare()))
	}
	old, now := joined(away.dir, src.bare()), joined(come.dir, dst.bare())
	// SECURITY: what was made as a git folder of this run is free of git's own rows
	// only: under a new name (.hg, .github) its parts may be protected by others.
	id, ok := identity(src.fd, src.bare(), 0)
	fresh := ok && c.g.fresh.has(id)
	leaving := search{call: c, left: maxSearch, other: now, leaving: true}
	if !fresh && !c.within(src, old) {
		if rule := leaving.folder(src.fd, src.bare(), old, ""); rule != "" {
			return c.denied(src, away.dir, rule)
		}
	}
	coming := search{call: c, left: maxSearch, other: old, fresh: fresh || c.within(dst, now)}
	if rule := coming.folder(src.fd, src.bare(), now, ""); rule != "" {
		return c.denied(dst, come.dir, rule)
	}
	if row, brings := c.bringsWatched(src, now); brings {
		return c.denied(dst, come.dir, row)
	}
	c.remember(src, come.opens)
	return 0
}

// bringsWatched tells whether a folder has, by its new name, something at a watched path.
func (c *call) bringsWatched(src *place, now string) (row string, brings bool) {
	for w, row := range c.g.cfg.Watched {
		var st unix.Stat_t
		if within(now, w) && w != now && unix.Fstatat(src.fd, src.bare()+w[len(now):], &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			return row, true
		}
	}
	return "", false
}

// within tells whether a path lies in a git folder of this run.
func (c *call) within(p *place, path string) bool {
	git := gitOf(strings.Split(c.g.names.folded(path[1:]), "/"), 0)
	return git.class != gitNothing && c.inFresh(p.fd, git.above)
}
