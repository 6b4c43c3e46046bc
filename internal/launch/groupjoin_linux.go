package launch

import (
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/inside"
)

// joining says who puts the init into its groups. To move another process the kernel waits
// for a grace period of RCU, 3 to 15 ms and most of a start (cgroup_attach_lock in
// kernel/cgroup/cgroup.c); the other ways need no lock.
type joining int

const (
	joinNone  joining = iota // there are no groups
	joinAdopt                // the launcher moves the init
	joinSelf                 // version 1: the init moves itself, as a single thread may with "tasks" (since Linux 5.4)
	joinBorn                 // version 2: the first process is made in the group (CLONE_INTO_CGROUP, since Linux 5.7)
)

// joining chooses. The Go init has several threads, and version 2 moves whole processes
// only. In groups that limit memory or processors the first process of version 2 would
// pay for the set-up itself, and for bwrap: with a low limit nothing would start.
func (l *launcher) joining() joining {
	how := l.plan.Limits.How
	switch {
	case len(how.CgroupDir) == 0:
		return joinNone
	case how.CgroupVer == 1 && inside.CanClone && !l.opt.SecondStart:
		return joinSelf
	case how.CgroupVer == 2 && len(how.CgroupDir) == 1 && how.CgroupDir["pids"] != "":
		return joinBorn
	}
	return joinAdopt
}

// ownGroups makes and opens the groups that the init does not enter last: before it is
// started, and so after the record of the run, by which the groups of a launcher that was
// killed are found (FS-07).
func (l *launcher) ownGroups() (err error) {
	l.born = -1
	how := l.joining()
	if how != joinSelf && how != joinBorn {
		return nil
	}
	if err := l.meanwhile(); err != nil {
		return err
	}
	ours := 1
	if how == joinBorn && l.plan.Outer != nil {
		ours = 2 // bwrap stays in it
	}
	if l.group, err = makeCgroup(l.plan.Limits, ours); err != nil {
		return l.wrap("limit resources", err)
	}
	if how == joinBorn {
		if l.born, err = unix.Open(l.group.dirs[0], unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
			return l.wrap("limit resources", err)
		}
		l.theirs = append(l.theirs, l.born)
		return nil
	}
	return l.openTasks()
}

// openTasks opens what the init, and for the command's own group its child, is to write to.
func (l *launcher) openTasks() error {
	own := l.commandGroup()
	for _, dir := range l.group.dirs {
		fd, err := unix.Open(filepath.Join(dir, "tasks"), unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return l.wrap("limit resources", err)
		}
		if dir == own {
			l.later = len(l.extra) + 1
		}
		l.extra = append(l.extra, fd)
	}
	return nil
}

// commandGroup is the group that the command enters itself, the init staying outside: the
// one for processor time, where it limits nothing else.
//
// SECURITY: an init that has to share the time with what it must end is late: of a tree
// that was to end with its launcher, code ran on for seconds.
func (l *launcher) commandGroup() string {
	how := l.plan.Limits.How
	dir := how.CgroupDir["cpu"]
	for controller, other := range how.CgroupDir {
		if controller != "cpu" && other == dir {
			return ""
		}
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, groupPrefix+how.Group)
}

// lowerJoin writes the first steps of program Init: it enters its groups. firstClosed is
// the first descriptor that it does not need afterwards.
//
// SECURITY: the command is forked from the init afterwards, so that nothing escapes the
// limits; the descriptors are closed in the next step (lowerInit), long before that. The
// one for the command's own group stays with the init, which nobody inside can look into,
// and is closed when the command is executed.
func (l *launcher) lowerJoin(b *inside.Builder) (firstClosed int) {
	const label = "limit resources"
	for i := range l.extra {
		if i+1 != l.later {
			b.Call(inside.Init, label, unix.SYS_WRITE, inside.Int(len(l.child)+i), inside.Str("0"), inside.Int(1))
		}
	}
	if l.later == 0 {
		return inside.FDInit
	}
	b.Call(inside.Init, label, unix.SYS_DUP3, inside.Int(len(l.child)+l.later-1), inside.Int(inside.FDInit), inside.Imm(unix.O_CLOEXEC))
	b.Call(inside.Command, label, unix.SYS_WRITE, inside.Int(inside.FDInit), inside.Str("0"), inside.Int(1))
	return inside.FDInit + 1
}

// inGroup makes the first process with the group that it is to be born in. Where the
// kernel or a container's filter does not let it, nothing was made: it is made outside
// then, and moved later.
func (l *launcher) inGroup(start func(group int) error) error {
	if l.born >= 0 {
		if err := start(l.born); err == nil {
			return nil
		}
		l.born = -1
	}
	return start(-1)
}

// join puts the init into its groups, where it is not yet.
func (l *launcher) join() (err error) {
	switch how := l.joining(); {
	case how == joinSelf, how == joinBorn && l.born >= 0:
		return nil
	case how == joinBorn:
		if err := l.group.limit(l.plan.Limits, 1); err != nil {
			return err
		}
		return l.group.adopt(l.pid)
	}
	if l.group, err = makeCgroup(l.plan.Limits, 1); err != nil {
		return err
	}
	return l.group.adopt(l.pid)
}
