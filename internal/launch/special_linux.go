package launch

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/inside"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
)

// devNodes are the host's nodes that are shown inside (LNX-02). Each is bound
// as a single file: an ordinary user cannot make device nodes.
var devNodes = []string{"null", "zero", "full", "random", "urandom", "tty"}

// devLinks are the links of /dev.
var devLinks = []struct{ name, target string }{
	{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
	{"ptmx", "pts/ptmx"},
}

// dev builds a private /dev.
func (s *setup) dev(m plan.Mount) {
	d := rel(m.Dst) + "/"
	s.makePlace(m)
	s.newTmpfs(m.Dst, 1<<20, 0o755, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	s.attach(m)
	for _, n := range devNodes {
		// SECURITY: these mounts allow devices, everything else does not.
		s.openTree("open /dev/"+n, inside.Int(unix.AT_FDCWD), "/dev/"+n, 0, s.tree).Tolerate(uintptr(unix.ENOENT)).SkipOnError(5)
		s.touch(d + n) // two calls
		// Read-only keeps root from changing the host's node; it can be written to all the same.
		s.setattr("protect /dev/"+n, inside.FromSlot(s.tree), "", unix.AT_EMPTY_PATH, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_RDONLY)
		s.call("mount /dev/"+n, unix.SYS_MOVE_MOUNT, inside.FromSlot(s.tree), inside.Str(""), inside.FromSlot(s.root), inside.Str(d+n), inside.Imm(unix.MOVE_MOUNT_F_EMPTY_PATH))
		s.close(s.tree)
	}
	for _, l := range devLinks {
		s.call("link /dev/"+l.name, unix.SYS_SYMLINKAT, inside.Str(l.target), inside.FromSlot(s.root), inside.Str(d+l.name))
	}
	for _, n := range []string{"pts", "shm"} {
		s.call("make /dev/"+n, unix.SYS_MKDIRAT, inside.FromSlot(s.root), inside.Str(d+n), inside.Imm(0o755))
	}
	s.call("mount /dev/pts", unix.SYS_MOUNT, inside.Str("devpts"), inside.Str(d+"pts"), inside.Str("devpts"), inside.Imm(unix.MS_NOSUID|unix.MS_NOEXEC), inside.Str("newinstance,ptmxmode=0666,mode=620"))
	s.setattr("make /dev read-only", inside.FromSlot(s.root), rel(m.Dst), 0, unix.MOUNT_ATTR_RDONLY)
}

// procReadOnly can change the whole machine when root writes to it, without any
// capability: /proc/sys/kernel/core_pattern runs a program on the host.
var procReadOnly = []string{"sys", "sysrq-trigger", "irq", "bus", "fs"}

// proc builds a private /proc: it shows the processes of the sandbox only.
func (s *setup) proc(m plan.Mount) {
	d := rel(m.Dst)
	if m.Make {
		s.makePlace(m)
	}
	s.call("mount /proc", unix.SYS_MOUNT, inside.Str("proc"), inside.Str(d), inside.Str("proc"), inside.Imm(unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC), inside.Int(0))
	if s.limit.How.PidMax {
		s.pidMax(d)
	}
	for _, n := range procReadOnly {
		p := d + "/" + n
		s.openTree("open /proc/"+n, inside.FromSlot(s.root), p, unix.AT_RECURSIVE, s.tree).Tolerate(uintptr(unix.ENOENT)).SkipOnError(3)
		// SECURITY: see procReadOnly.
		s.setattr("make /proc/"+n+" read-only", inside.FromSlot(s.tree), "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, safeAttr|unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOEXEC)
		s.call("protect /proc/"+n, unix.SYS_MOVE_MOUNT, inside.FromSlot(s.tree), inside.Str(""), inside.FromSlot(s.root), inside.Str(p), inside.Imm(unix.MOVE_MOUNT_F_EMPTY_PATH))
		s.close(s.tree)
	}
}

// pidMax bounds the number of processes by the numbers there are for them:
// kernel.pid_max is per pid namespace since Linux 6.14. It binds root too,
// which RLIMIT_NPROC does not, and costs no cgroup.
func (s *setup) pidMax(proc string) {
	const label = "limit the number of processes"
	text := fmt.Sprint(s.limit.Processes)
	s.call(label, unix.SYS_OPENAT, inside.FromSlot(s.root), inside.Str(proc+"/sys/kernel/pid_max"), inside.Imm(unix.O_WRONLY|unix.O_CLOEXEC)).To(s.src)
	s.call(label, unix.SYS_WRITE, inside.FromSlot(s.src), inside.Str(text), inside.Int(len(text)))
	s.close(s.src)
}
