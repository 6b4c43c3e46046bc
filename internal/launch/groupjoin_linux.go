package launch

import (
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/inside"
)

// joinsItself tells whether the init enters its groups itself. A thread that moves only
// itself, with version 1's file "tasks", need not wait for others; moving another process
// makes the kernel wait for a grace period of RCU, 3 to 15 ms and most of a start
// (cgroup_procs_write_start in kernel/cgroup/cgroup.c, since Linux 5.4). The Go init has
// several threads, and version 2 moves processes only.
func (l *launcher) joinsItself() bool {
	how := l.plan.Limits.How
	return len(how.CgroupDir) > 0 && how.CgroupVer == 1 && inside.CanClone && !l.opt.SecondStart
}

// ownGroups makes and opens the groups that the init is to enter itself: before it is
// started, and so after the record of the run, by which the groups of a launcher that was
// killed are found (FS-07).
func (l *launcher) ownGroups() (err error) {
	if !l.joinsItself() {
		return nil
	}
	if err := l.meanwhile(); err != nil {
		return err
	}
	if l.group, err = makeCgroup(l.plan.Limits); err != nil {
		return l.wrap("limit resources", err)
	}
	for _, dir := range l.group.dirs {
		fd, err := unix.Open(filepath.Join(dir, "tasks"), unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return l.wrap("limit resources", err)
		}
		l.extra = append(l.extra, fd)
	}
	return nil
}

// lowerJoin writes the first steps of program Init: it enters its groups.
//
// SECURITY: the command is forked from the init afterwards, so that nothing escapes the
// limits; the descriptors are closed in the next step (lowerInit), long before that.
func (l *launcher) lowerJoin(b *inside.Builder) {
	for i := range l.extra {
		b.Call(inside.Init, "limit resources", unix.SYS_WRITE, inside.Int(len(l.child)+i), inside.Str("0"), inside.Int(1))
	}
}

// join puts the init into its groups, where it has not done so itself.
func (l *launcher) join() (err error) {
	if l.joinsItself() {
		return nil
	}
	if l.group, err = makeCgroup(l.plan.Limits); err != nil {
		return err
	}
	return l.group.adopt(l.pid)
}
