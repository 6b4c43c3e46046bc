package launch

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/inside"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
)

// lowerInit writes program Init: what PID 1 does to itself before the command
// exists. Everything here holds for the command too, since it is forked from PID 1.
// firstFree is the first descriptor that it does not need.
func lowerInit(b *inside.Builder, p *plan.Plan, size *unix.Winsize, firstFree int) (slave inside.Slot) {
	call := func(label string, nr uintptr, args ...inside.Arg) *inside.Call {
		return b.Call(inside.Init, label, nr, args...)
	}
	// SECURITY: descriptors of the launcher's parent pass through bwrap; none may stay (VAR-03).
	call("close inherited descriptors", unix.SYS_CLOSE_RANGE, inside.Int(firstFree), inside.Imm(1<<32-1), inside.Int(0))
	if p.TTY {
		slave = lowerTerminal(b, size)
	}
	// A limit of one byte switches core dumps off for pipe handlers too: the kernel
	// treats it as "no dump" (fs/coredump.c), while 0 still starts the handler.
	// Who may have none at all (ulimit -Hc 0) may not raise that to one.
	rlimitPair(b, inside.Init, "switch core dumps off", unix.RLIMIT_CORE, 1, 1).Tolerate(uintptr(unix.EPERM))
	call("leave the caller's keyring", unix.SYS_KEYCTL, inside.Imm(1 /* KEYCTL_JOIN_SESSION_KEYRING */), inside.Int(0)).Ignore()
	lowerNodes(b, p)
	lowerStdin(b, p)
	lowerOwn(b, p)
	lowerPrivileges(b, p)
	return slave
}

// lowerNodes does what the native set-up does to the devices that are shown inside,
// and what bwrap has no option for: it makes their mounts read-only, with which they
// can be written to all the same.
//
// SECURITY: root is the owner of the host's nodes, and needs no capability to change
// their mode or time (LNX-02). For this step bwrap leaves it CAP_SYS_ADMIN over the
// sandbox's own mounts.
func lowerNodes(b *inside.Builder, p *plan.Plan) {
	if p.Outer == nil || p.Isolation.Direct || os.Geteuid() != 0 {
		return
	}
	for _, n := range devNodes {
		b.Call(inside.Init, "protect /dev/"+n, unix.SYS_MOUNT, inside.Int(0), inside.Str("/dev/"+n), inside.Int(0),
			inside.Imm(unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NOEXEC), inside.Int(0)).Tolerate(uintptr(unix.ENOENT))
	}
}

// lowerStdin puts the sandbox's own /dev/null in the place of the host's, from which
// everything was started.
//
// SECURITY: a descriptor keeps the mount that it was opened on. Through one of the
// host's, root could change mode, owner and times of the host's node (LNX-02).
func lowerStdin(b *inside.Builder, p *plan.Plan) {
	if p.Isolation.Direct || !p.TTY && p.Stdin == spec.StdinPipe {
		return
	}
	const label = "open /dev/null"
	null := b.NewSlot()
	b.Call(inside.Init, label, unix.SYS_OPENAT, inside.Int(unix.AT_FDCWD), inside.Str("/dev/null"), inside.Imm(unix.O_RDWR|unix.O_CLOEXEC)).To(null)
	b.Call(inside.Init, label, unix.SYS_DUP3, inside.FromSlot(null), inside.Int(0), inside.Int(0))
	b.Call(inside.Init, label, unix.SYS_CLOSE, inside.FromSlot(null))
}

// lowerOwn makes what /proc has of the init itself read-only. It is not dumpable, so
// that root owns these files, and root alone could write to them.
//
// SECURITY: /proc/1/autogroup puts the init behind all others that are busy, so that
// neither it nor the tree could be ended for minutes (PROC-02).
func lowerOwn(b *inside.Builder, p *plan.Plan) {
	if p.Isolation.Direct || !p.Isolation.PID || os.Geteuid() != 0 {
		return
	}
	const own, label = "/proc/1", "protect /proc/1"
	b.Call(inside.Init, label, unix.SYS_MOUNT, inside.Str(own), inside.Str(own), inside.Int(0), inside.Imm(unix.MS_BIND), inside.Int(0))
	b.Call(inside.Init, label, unix.SYS_MOUNT, inside.Int(0), inside.Str(own), inside.Int(0),
		inside.Imm(unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC), inside.Int(0))
}

// lowerPrivileges drops everything that can be dropped (LNX-06, LNX-08).
func lowerPrivileges(b *inside.Builder, p *plan.Plan) {
	call := func(label string, nr uintptr, args ...inside.Arg) *inside.Call {
		return b.Call(inside.Init, label, nr, args...).AllThreads()
	}
	call("forbid new privileges", unix.SYS_PRCTL, inside.Imm(unix.PR_SET_NO_NEW_PRIVS), inside.Int(1), inside.Int(0), inside.Int(0), inside.Int(0))
	// Before the change of user: root can open the paths, the other user perhaps not by name.
	lowerLandlock(b, p.Landlock)
	if p.User.Switch {
		groups := make([]byte, 4*len(p.User.Groups))
		for i, g := range p.User.Groups {
			binary.LittleEndian.PutUint32(groups[4*i:], uint32(g))
		}
		gid, uid := inside.Imm(uint64(p.User.GID)), inside.Imm(uint64(p.User.UID))
		call("set groups", unix.SYS_SETGROUPS, inside.Int(len(p.User.Groups)), inside.Bytes(groups))
		call("set group", unix.SYS_SETRESGID, gid, gid, gid)
		dropBounding(call)
		call("set user", unix.SYS_SETRESUID, uid, uid, uid)
	} else if !p.Isolation.Direct {
		dropBounding(call) // an ordinary user's init has no capability to do it: the set-up did
	}
	if !p.Isolation.Direct {
		call("drop ambient capabilities", unix.SYS_PRCTL, inside.Imm(unix.PR_CAP_AMBIENT), inside.Imm(unix.PR_CAP_AMBIENT_CLEAR_ALL), inside.Int(0), inside.Int(0), inside.Int(0)).Ignore()
		var header [8]byte
		binary.LittleEndian.PutUint32(header[:], unix.LINUX_CAPABILITY_VERSION_3)
		// SECURITY: no capability is left, in no set (LNX-06).
		call("drop capabilities", unix.SYS_CAPSET, inside.Bytes(header[:]), inside.Bytes(make([]byte, 24)))
	}
	if len(p.Seccomp) > 0 {
		prog := b.Pointers(inside.Imm(uint64(len(p.Seccomp)/8)), inside.Bytes(p.Seccomp)) // struct sock_fprog
		const label = "install the system call filter"
		flags := uint64(unix.SECCOMP_FILTER_FLAG_TSYNC)
		if p.Supervised {
			// A signal must not end a call that the supervisor is making already: it
			// would be made a second time, or its descriptor be lost.
			flags |= unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
		}
		// SECURITY: the last step: from here on PID 1 itself is under the command's filter (LNX-10).
		install := b.Call(inside.Init, label, unix.SYS_SECCOMP, inside.Imm(unix.SECCOMP_SET_MODE_FILTER), inside.Imm(flags), inside.Ref(prog))
		if p.Supervised {
			listener := b.NewSlot()
			install.To(listener)
			b.SendFD(inside.Init, label, listener)
			b.Call(inside.Init, label, unix.SYS_CLOSE, inside.FromSlot(listener))
		}
	}
}

// dropBounding empties the bounding set, so that a root user gets nothing back
// at exec. Without CAP_SETPCAP it fails: then there is nothing to get back.
func dropBounding(call func(string, uintptr, ...inside.Arg) *inside.Call) {
	args := []inside.Arg{inside.Imm(unix.PR_CAPBSET_DROP), inside.Int(0), inside.Int(0), inside.Int(0), inside.Int(0)}
	for c := range unix.CAP_LAST_CAP + 1 {
		args[1] = inside.Int(c)
		call("drop the bounding set", unix.SYS_PRCTL, args...).Ignore()
	}
}

// lowerLandlock applies a ruleset. It comes after the mounts: any file-system
// ruleset forbids mount().
func lowerLandlock(b *inside.Builder, l *plan.Landlock) {
	if l == nil {
		return
	}
	call := func(label string, nr uintptr, args ...inside.Arg) *inside.Call {
		return b.Call(inside.Init, label, nr, args...)
	}
	set, dir := b.NewSlot(), b.NewSlot()
	call("make the Landlock ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, inside.Bytes(l.Attr), inside.Int(len(l.Attr)), inside.Int(0)).To(set)
	for _, r := range l.Rules {
		var attr [16]byte // struct landlock_path_beneath_attr, 12 bytes packed
		binary.LittleEndian.PutUint64(attr[:], r.Access)
		data := b.Data(attr[:])
		call("open "+r.Path+" for Landlock", unix.SYS_OPENAT, inside.Int(unix.AT_FDCWD), inside.Str(r.Path), inside.Imm(unix.O_PATH|unix.O_CLOEXEC)).To(dir)
		b.Store32(inside.Init, "open "+r.Path+" for Landlock", inside.RefAt(data, 8), inside.FromSlot(dir))
		call("allow "+r.Path+" in Landlock", unix.SYS_LANDLOCK_ADD_RULE, inside.FromSlot(set), inside.Imm(unix.LANDLOCK_RULE_PATH_BENEATH), inside.Ref(data), inside.Int(0))
		call("close", unix.SYS_CLOSE, inside.FromSlot(dir))
	}
	call("apply Landlock", unix.SYS_LANDLOCK_RESTRICT_SELF, inside.FromSlot(set), inside.Int(0)).AllThreads()
	call("close", unix.SYS_CLOSE, inside.FromSlot(set))
}

// lowerTerminal opens a pseudo-terminal of the sandbox's own and sends its
// master side out, so that the caller's terminal is never inside (PROC-01, PROC-04).
func lowerTerminal(b *inside.Builder, size *unix.Winsize) inside.Slot {
	const label = "open a terminal"
	master, slave := b.NewSlot(), b.NewSlot()
	call := func(nr uintptr, args ...inside.Arg) *inside.Call { return b.Call(inside.Init, label, nr, args...) }
	call(unix.SYS_OPENAT, inside.Int(unix.AT_FDCWD), inside.Str("/dev/ptmx"), inside.Imm(unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)).To(master)
	call(unix.SYS_IOCTL, inside.FromSlot(master), inside.Imm(unix.TIOCSPTLCK), inside.Bytes(make([]byte, 8)))
	call(unix.SYS_IOCTL, inside.FromSlot(master), inside.Imm(unix.TIOCGPTPEER), inside.Imm(unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)).To(slave)
	if size != nil {
		var ws [8]byte
		binary.LittleEndian.PutUint16(ws[0:], size.Row)
		binary.LittleEndian.PutUint16(ws[2:], size.Col)
		call(unix.SYS_IOCTL, inside.FromSlot(master), inside.Imm(unix.TIOCSWINSZ), inside.Bytes(ws[:]))
	}
	b.SendFD(inside.Init, label, master)
	call(unix.SYS_CLOSE, inside.FromSlot(master))
	return slave
}

// lowerCommand writes program Command: the last steps of the child that becomes the command.
func lowerCommand(b *inside.Builder, p *plan.Plan, slave inside.Slot) {
	call := func(label string, nr uintptr, args ...inside.Arg) *inside.Call {
		return b.Call(inside.Command, label, nr, args...)
	}
	call("start a session", unix.SYS_SETSID)
	if p.TTY {
		call("take the terminal", unix.SYS_IOCTL, inside.FromSlot(slave), inside.Imm(unix.TIOCSCTTY), inside.Int(0))
		for fd := range 3 {
			call("connect the terminal", unix.SYS_DUP3, inside.FromSlot(slave), inside.Int(fd), inside.Int(0))
		}
	}
	nofile := callerNoFile()
	rlimitPair(b, inside.Command, "restore the limit on open files", unix.RLIMIT_NOFILE, nofile.Cur, nofile.Max)
	if p.Limits.How.NProc {
		rlimit(b, inside.Command, "limit the number of processes", unix.RLIMIT_NPROC, uint64(p.Limits.Processes))
	}
	if p.Limits.How.Data {
		rlimit(b, inside.Command, "limit memory", unix.RLIMIT_DATA, uint64(p.Limits.Memory))
	}
	call("enter "+p.Cwd, unix.SYS_CHDIR, inside.Str(p.Cwd))
	call("close descriptors", unix.SYS_CLOSE_RANGE, inside.Int(3), inside.Imm(1<<32-1), inside.Imm(unix.CLOSE_RANGE_CLOEXEC))
	call(execLabel, unix.SYS_EXECVE, inside.Str(p.Exe), inside.Ref(b.Strings(p.Argv)), inside.Ref(b.Strings(p.Env)))
}

// execLabel marks the step whose failure is the command's own.
const execLabel = "execute the command"

// callerNoFile is the limit on open files that the caller had. Go raises the
// soft limit of its own process at start and keeps the old value to itself, so
// our parent is asked, which has what it gave us; the kernel's usual 1024 stands
// in where that cannot be read.
func callerNoFile() unix.Rlimit {
	var own, parent unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &own) != nil {
		return unix.Rlimit{Cur: 1024, Max: 4096}
	}
	soft := min(own.Max, 1024)
	if unix.Prlimit(unix.Getppid(), unix.RLIMIT_NOFILE, nil, &parent) == nil {
		soft = min(own.Max, parent.Cur)
	}
	return unix.Rlimit{Cur: soft, Max: own.Max}
}

// rlimit sets a limit that is lower than the caller's own; else that one stays: an
// ordinary user may not raise it, and it is the tighter one.
func rlimit(b *inside.Builder, p inside.Program, label string, which int, v uint64) {
	own := unix.Rlimit{Cur: v, Max: v}
	_ = unix.Getrlimit(which, &own)
	rlimitPair(b, p, label, which, min(v, own.Cur), min(v, own.Max))
}

func rlimitPair(b *inside.Builder, p inside.Program, label string, which int, soft, hard uint64) *inside.Call {
	var lim [16]byte // struct rlimit64
	binary.LittleEndian.PutUint64(lim[0:], soft)
	binary.LittleEndian.PutUint64(lim[8:], hard)
	return b.Call(p, label, unix.SYS_PRLIMIT64, inside.Int(0), inside.Int(which), inside.Bytes(lim[:]), inside.Int(0))
}
