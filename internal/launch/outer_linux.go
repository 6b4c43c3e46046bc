package launch

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/inside"
)

// startOuter starts the outer program with the descriptors of the child from 0 on.
//
// A fork of a Go program copies its page tables, and both sides then pay for each page that they touch again; with a new
// user namespace os/exec has no other way. The raw child shares our memory instead, until it is the outer program.
func (l *launcher) startOuter(path string, argv []string, attr *syscall.ProcAttr) error {
	if inside.CanClone && !l.opt.SecondStart {
		err := l.cloneOuter(path, argv)
		// Filters of older containers refuse clone3(2) with one of these; then nothing was started.
		if refused := errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM); !refused || l.raw != nil {
			return err
		}
		l.first = nil
	}
	return l.forkExec(path, argv, attr)
}

func (l *launcher) cloneOuter(path string, argv []string) error {
	fds, err := l.lift(append(l.child[:], l.extra...))
	if err != nil {
		return l.wrap("open descriptors", err)
	}
	b := inside.NewBuilder(false)
	iso := l.plan.Isolation
	iso.User = iso.User && iso.PrivateMounts
	pre := prelude{sync: b.NewSlot(), tell: b.NewSlot()}
	lowerMaps(b, iso.User, pre)
	lowerOuter(b, path, argv, fds, iso.PrivateMounts)
	if l.first, err = b.Build(); err != nil {
		return l.wrap("prepare the start", err)
	}
	flags := uintptr(unix.CLONE_CLEAR_SIGHAND)
	if iso.PrivateMounts {
		flags |= unix.CLONE_NEWNS
	}
	if iso.User {
		flags |= unix.CLONE_NEWUSER
	}
	return l.cloneMapped(l.first, flags, iso.User, pre, map[inside.Slot]int{}, fds[inside.FDStatus])
}

// lift gives descriptors numbers that are not those which they shall have in the child, so that none is overwritten
// before it was moved.
func (l *launcher) lift(fds []int) ([]int, error) {
	for i, fd := range fds {
		if fd >= len(fds) {
			continue
		}
		up, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, len(fds))
		if err != nil {
			return nil, err
		}
		fds[i], l.theirs = up, append(l.theirs, up)
	}
	return fds, nil
}

// lowerOuter writes what the raw child does to become the outer program: what os/exec would.
func lowerOuter(b *inside.Builder, path string, argv []string, fds []int, private bool) {
	call := func(label string, nr uintptr, args ...inside.Arg) { b.Call(inside.Setup, label, nr, args...) }
	call("start a session", unix.SYS_SETSID) // signals of the caller's terminal are not for us
	if private {
		// SECURITY: no mount of the host reaches the namespace that the outer program starts from (LNX-11).
		call("make mounts private", unix.SYS_MOUNT, inside.Int(0), inside.Str("/"), inside.Int(0), inside.Imm(unix.MS_REC|unix.MS_PRIVATE), inside.Int(0))
	}
	call("enter /", unix.SYS_CHDIR, inside.Str("/"))
	for i, fd := range fds {
		call("place descriptors", unix.SYS_DUP3, inside.Int(fd), inside.Int(i), inside.Int(0))
	}
	// SECURITY: nothing else that the launcher holds gets past the exec (VAR-03).
	call("close descriptors", unix.SYS_CLOSE_RANGE, inside.Int(len(fds)), inside.Imm(1<<32-1), inside.Imm(unix.CLOSE_RANGE_CLOEXEC))
	nofile := callerNoFile()
	rlimitPair(b, inside.Setup, "restore the limit on open files", unix.RLIMIT_NOFILE, nofile.Cur, nofile.Max)
	call("unblock signals", unix.SYS_RT_SIGPROCMASK, inside.Imm(unix.SIG_SETMASK), inside.Bytes(make([]byte, 8)), inside.Int(0), inside.Int(8))
	// SECURITY: an empty environment, see target.
	call("start "+path, unix.SYS_EXECVE, inside.Str(path), inside.Ref(b.Strings(argv)), inside.Ref(b.Strings(nil)))
}

// forkExec starts the stage, the init or the outer program where there is no raw child.
func (l *launcher) forkExec(path string, argv []string, attr *syscall.ProcAttr) error {
	for _, fd := range append(l.child[:], l.extra...) {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	var pid int
	err := l.inGroup(func(group int) (err error) {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = group >= 0, group
		pid, err = syscall.ForkExec(path, argv, attr)
		return err
	})
	if err != nil {
		return l.wrap("start "+path, err)
	}
	l.outer = pid
	return nil
}
