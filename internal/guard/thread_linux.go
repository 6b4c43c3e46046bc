//go:build amd64 || arm64

package guard

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// thread is the state of a worker's own OS thread. The goroutine never unlocks it,
// so the runtime ends the thread with the goroutine and never uses it for others.
type thread struct {
	umask  int
	ptrace bool // CAP_SYS_PTRACE is permitted, for raise
	sticky bool // reading a caller failed without it
}

// ownThread makes the calling goroutine's thread a worker: own umask and directory,
// the command's ids, no capability in force. Raw calls, since those of package
// syscall change every thread of the process.
//
// SECURITY: the worker acts for the command, so it must not be able to do more.
// CAP_SYS_PTRACE alone stays permitted, not effective: see raise.
func ownThread(u *User) (*thread, error) {
	runtime.LockOSThread()
	if _, _, e := unix.RawSyscall(unix.SYS_UNSHARE, unix.CLONE_FS, 0, 0); e != 0 {
		return nil, e
	}
	if err := blockSignals(); err != nil {
		return nil, err
	}
	t := &thread{umask: -1}
	var caps [2]unix.CapUserData
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&head, &caps[0]); err != nil {
		return nil, err
	}
	t.ptrace = caps[0].Permitted&(1<<unix.CAP_SYS_PTRACE) != 0
	if u != nil {
		if err := become(u); err != nil {
			return nil, err
		}
	}
	return t, t.effective(false)
}

// wakeUp is the one signal that a worker takes, sent by Close. The runtime does
// nothing about it.
const wakeUp = unix.Signal(62)

// blockSignals keeps all others, those of the runtime too, from this thread: a signal
// that ends the wait of SECCOMP_IOCTL_NOTIF_ADDFD with SECCOMP_ADDFD_FLAG_SEND lets
// the caller go on with descriptor 0 (kernel/seccomp.c: the answer is marked as given
// before the descriptor is).
func blockSignals() error {
	var set unix.Sigset_t
	for i := range set.Val {
		set.Val[i] = ^uint64(0)
	}
	set.Val[0] &^= 1 << (wakeUp - 1)
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&set)), 0, 8, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// become changes the ids of this thread. Keeping capabilities over it is a setting
// of the thread too.
func become(u *User) error {
	groups := make([]uint32, len(u.Groups)+1)
	for i, g := range u.Groups {
		groups[i] = uint32(g)
	}
	gid, uid := uintptr(u.GID), uintptr(u.UID)
	for _, c := range [][4]uintptr{
		{unix.SYS_PRCTL, unix.PR_SET_KEEPCAPS, 1, 0},
		{unix.SYS_SETGROUPS, uintptr(len(u.Groups)), uintptr(unsafe.Pointer(&groups[0])), 0},
		{unix.SYS_SETRESGID, gid, gid, gid},
		{unix.SYS_SETRESUID, uid, uid, uid},
	} {
		if _, _, e := unix.RawSyscall6(c[0], c[1], c[2], c[3], 0, 0, 0); e != 0 {
			return e
		}
	}
	runtime.KeepAlive(groups)
	return nil
}

// effective leaves CAP_SYS_PTRACE permitted if it was, and in force if on.
func (t *thread) effective(on bool) error {
	var caps [2]unix.CapUserData
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if t.ptrace {
		caps[0].Permitted = 1 << unix.CAP_SYS_PTRACE
		if on {
			caps[0].Effective = 1 << unix.CAP_SYS_PTRACE
		}
	}
	return unix.Capset(&head, &caps[0])
}

// reading runs f, which reads memory and opens /proc entries of the caller, and
// nothing that a path of the caller's choice leads to. Where the caller's ids are
// not enough for that (it made itself undumpable, or --user in a user namespace of
// root's), it is run with CAP_SYS_PTRACE in force.
//
// SECURITY: a path must never be walked with it: /proc/1/fd would lead to the
// descriptors of our own init.
func (t *thread) reading(f func() unix.Errno) unix.Errno {
	if !t.sticky {
		e := f()
		if !t.ptrace || e != unix.EPERM && e != unix.EACCES {
			return e
		}
		t.sticky = true
	}
	if t.effective(true) != nil {
		return unix.EPERM
	}
	e := f()
	if t.effective(false) != nil {
		return unix.EPERM
	}
	return e
}

// setUmask makes the umask of this thread the caller's.
func (t *thread) setUmask(mask int) {
	if mask != t.umask {
		unix.Umask(mask)
		t.umask = mask
	}
}
