package seccomp

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probe is one raw call: what the filter makes of it, and what the kernel says
// without a filter (the control; -1: not tried, or different by machine).
type probe struct {
	name    string
	call    string
	args    [6]uintptr
	want    syscall.Errno
	control syscall.Errno
}

const (
	anyErrno  = syscall.Errno(9999) // some error other than the filter's
	noControl = syscall.Errno(9998)
	badPtr    = 8 // an address that is never mapped
)

// in returns the pointer to a string as a number. The child starts anew, so the
// strings live in its own memory: they are written to a file that it maps.
type memory struct {
	buf []byte
}

// at is where the memory is mapped in the child: the parent picks the address.
const memoryBase = 0x10_0000_0000

func (m *memory) str(s string) uintptr {
	p := memoryBase + uintptr(len(m.buf))
	m.buf = append(m.buf, s...)
	m.buf = append(m.buf, 0)
	for len(m.buf)%8 != 0 {
		m.buf = append(m.buf, 0)
	}
	return p
}

// w returns the arguments as an array.
func w(a ...uintptr) (out [6]uintptr) {
	copy(out[:], a)
	return out
}

// high sets a bit above the low 32.
const high = uintptr(1) << 32

// runProbes makes the probes with and without the filter and compares.
func runProbes(t *testing.T, o Options, m *memory, probes []probe, files ...*os.File) {
	t.Helper()
	table := Table()
	mem := filepath.Join(t.TempDir(), "memory")
	if err := os.WriteFile(mem, append(m.buf, make([]byte, 4096)...), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(mem)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd := uintptr(3 + len(files))
	// The first call maps the strings, so that the others can point at them.
	calls := []rawCall{{unix.SYS_MMAP, w(memoryBase, uintptr(len(m.buf)+4096), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED, fd, 0)}}
	kept := []probe{{name: "map the strings"}}
	for _, p := range probes {
		nr, ok := numberOf(table, p.call, runtime.GOARCH)
		if p.call == "unknown" {
			nr, ok = Newest+30, true
		}
		if ok {
			calls, kept = append(calls, rawCall{uintptr(nr), p.args}), append(kept, p)
		}
	}
	files = append(files, f)
	with := errnos(t, order{Filter: true, Opts: o, Calls: calls}, files...)
	for i, p := range kept {
		if with[i] != p.want {
			t.Errorf("%s: %v (%d) under the filter, want %v", p.name, with[i], with[i], p.want)
		}
	}
	if os.Getuid() != 0 {
		t.Log("no control: without root the kernel itself refuses some of the calls")
		return
	}
	for i, p := range kept { // one child each: the calls take effect here
		if p.control == noControl {
			continue
		}
		got := errnos(t, order{Calls: []rawCall{calls[0], calls[i]}}, files...)[1]
		if p.control == anyErrno && (got == p.want || got == 0) || p.control != anyErrno && got != p.control {
			t.Errorf("%s: %v (%d) without the filter, want %v: the test proves nothing", p.name, got, got, p.control)
		}
	}
}

func options() Options { return Options{Arch: runtime.GOARCH} }

// TestKernelFiles: modes, devices and names, by the kernel's own answer.
func TestKernelFiles(t *testing.T) {
	dir := t.TempDir()
	var m memory
	path := func(name string) uintptr { return m.str(filepath.Join(dir, name)) }
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	how := m.str("\x41\x00\x00\x00\x00\x00\x00\x00\xed\x09\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00") // O_CREAT|O_WRONLY, 04755
	cwd := uintptr(0xffffff9c)                                                                                       // AT_FDCWD
	// Each "new" name is made once under the filter at most; the controls make the refused ones.
	runProbes(t, options(), &m, []probe{
		{"chmod u+s", "chmod", w(path("file"), 0o4755), unix.EPERM, 0},
		{"chmod u+s, high bits set", "chmod", w(path("file"), 0o4755|high), unix.EPERM, 0},
		{"chmod +t", "chmod", w(path("file"), 0o1777), 0, 0},
		{"fchmod g+s", "fchmod", w(3, 0o2755), unix.EPERM, 0},
		{"fchmod", "fchmod", w(3, 0o755), 0, 0},
		{"fchmodat u+s", "fchmodat", w(cwd, path("file"), 0o4755), unix.EPERM, 0},
		{"fchmodat", "fchmodat", w(cwd, path("file"), 0o755), 0, 0},
		{"fchmodat2 u+s", "fchmodat2", w(cwd, path("file"), 0o4755, 0), unix.EPERM, noControl}, // Linux 6.6
		{"openat makes u+s", "openat", w(cwd, path("n1"), unix.O_CREAT|unix.O_WRONLY, 0o4755), unix.EPERM, 0},
		{"openat makes", "openat", w(cwd, path("n2"), unix.O_CREAT|unix.O_WRONLY, 0o755), 0, 0},
		{"openat, mode unused", "openat", w(cwd, path("file"), unix.O_RDONLY, 0o4755), 0, 0},
		{"O_TMPFILE u+s", "openat", w(cwd, m.str(dir), unix.O_TMPFILE|unix.O_RDWR, 0o4700), unix.EPERM, 0},
		{"O_TMPFILE", "openat", w(cwd, m.str(dir), unix.O_TMPFILE|unix.O_RDWR, 0o700), 0, 0},
		{"open makes g+s", "open", w(path("n3"), unix.O_CREAT|unix.O_WRONLY, 0o2755), unix.EPERM, 0},
		{"creat u+s", "creat", w(path("n4"), 0o4755), unix.EPERM, 0},
		{"openat2 makes u+s", "openat2", w(cwd, path("n5"), how, 24), unix.ENOSYS, 0},
		{"mknodat char", "mknodat", w(cwd, path("n6"), 0o020666, 0x103), unix.EPERM, 0},
		{"mknodat whiteout", "mknodat", w(cwd, path("n7"), 0o020000, 0), unix.EPERM, 0},
		{"mknodat block", "mknodat", w(cwd, path("n8"), 0o060666, 0x100), unix.EPERM, 0},
		{"mknodat file u+s", "mknodat", w(cwd, path("n9"), 0o104755, 0), unix.EPERM, 0},
		{"mknodat pipe", "mknodat", w(cwd, path("n10"), 0o010644, 0), 0, noControl},
		{"mknodat socket", "mknodat", w(cwd, path("n11"), 0o140755, 0), 0, noControl},
		{"mkdirat g+s", "mkdirat", w(cwd, path("d1"), 0o6755), 0, noControl},
		{"open_by_handle_at", "open_by_handle_at", w(3, badPtr, 0), unix.EPERM, unix.EFAULT},
		{"name_to_handle_at", "name_to_handle_at", w(3, badPtr, badPtr, badPtr, 0), unix.ENOSYS, unix.EFAULT},
	}, f)
	// Why mkdir needs no rule: the kernel leaves the bits out.
	st, err := os.Stat(filepath.Join(dir, "d1"))
	if err != nil || st.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
		t.Errorf("mkdir with mode 6755 made %v (%v)", st, err)
	}
}

// TestKernelSockets: families and protocols.
func TestKernelSockets(t *testing.T) {
	var m memory
	pair := m.str("\x00\x00\x00\x00\x00\x00\x00")
	runProbes(t, options(), &m, []probe{
		{"unix", "socket", w(1, 1, 0), 0, 0},
		{"inet", "socket", w(2, 1, 0), 0, 0},
		{"inet, high bits", "socket", w(2|high, 1, 0), 0, 0},
		{"netlink route", "socket", w(16, 3, 0), 0, 0},
		{"netlink audit", "socket", w(16, 3, 9), unix.EPROTONOSUPPORT, noControl}, // by kernel
		{"netlink generic", "socket", w(16, 3, 16), unix.EPROTONOSUPPORT, 0},
		{"netlink generic, high bits", "socket", w(16, 3, 16|high), unix.EPROTONOSUPPORT, 0},
		{"packet", "socket", w(17, 3, 0), unix.EAFNOSUPPORT, noControl},
		{"vsock", "socket", w(40, 1, 0), unix.EAFNOSUPPORT, noControl},
		{"vsock, high bits", "socket", w(40|high, 1, 0), unix.EAFNOSUPPORT, noControl},
		{"alg", "socket", w(38, 5, 0), unix.EAFNOSUPPORT, noControl},
		{"pair", "socketpair", w(1, 1, 0, pair), 0, 0},
		{"pair of inet", "socketpair", w(2, 1, 0, pair), unix.EAFNOSUPPORT, unix.EOPNOTSUPP},
	})
}

// TestKernelTerminal: input injection on a real terminal, with and without high bits.
func TestKernelTerminal(t *testing.T) {
	ptmx, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminal:", err)
	}
	defer ptmx.Close()
	var unlock int32
	unix.Syscall(unix.SYS_IOCTL, ptmx.Fd(), unix.TIOCSPTLCK, uintptr(unsafe.Pointer(&unlock)))
	fd, _, e := unix.Syscall(unix.SYS_IOCTL, ptmx.Fd(), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY)
	if e != 0 {
		t.Skip("no terminal:", e)
	}
	tty := os.NewFile(fd, "tty")
	defer tty.Close()
	sti := syscall.Errno(0)
	if b, err := os.ReadFile("/proc/sys/dev/tty/legacy_tiocsti"); err == nil && b[0] == '0' {
		sti = noControl // root may still; a container's root may not
	}
	var m memory
	char, ntty, size := m.str("x"), m.str("\x00\x00\x00\x00"), m.str("12345678")
	runProbes(t, options(), &m, []probe{
		{"TIOCSTI", "ioctl", w(3, 0x5412, char), unix.EPERM, sti},
		{"TIOCSTI | 1<<32", "ioctl", w(3, 0x5412|high, char), unix.EPERM, sti},
		{"TIOCLINUX", "ioctl", w(3, 0x541c, char), unix.EPERM, anyErrno},
		{"TIOCLINUX | 1<<63", "ioctl", w(3, 0x541c|1<<63, char), unix.EPERM, anyErrno},
		{"TIOCCONS", "ioctl", w(3, 0x541d, 0), unix.EPERM, noControl},
		{"TIOCSETD", "ioctl", w(3, 0x5423, ntty), unix.EPERM, 0},
		{"TIOCGWINSZ", "ioctl", w(3, 0x5413, size), 0, 0},
		{"TCGETS of nothing", "ioctl", w(99, 0x5401, size), unix.EBADF, unix.EBADF},
	}, tty)
}

// TestKernelNamespacesAndKernelSurface: calls that the filter refuses, each with
// arguments that the kernel refuses too, but in another way.
func TestKernelNamespacesAndKernelSurface(t *testing.T) {
	const minus = ^uintptr(0)
	var m memory
	runProbes(t, options(), &m, []probe{
		{"clone(NEWUSER)", "clone", w(0x10000200), unix.EPERM, unix.EINVAL}, // with CLONE_FS: EINVAL, no process
		{"clone(NEWUSER), high bits", "clone", w(0x10000200 | high), unix.EPERM, unix.EINVAL},
		{"clone3", "clone3", w(badPtr, 88), unix.ENOSYS, unix.EFAULT},
		{"unshare(FS)", "unshare", w(0x200), 0, 0},
		{"unshare(NEWUTS)", "unshare", w(0x04000000), unix.EPERM, 0},
		{"unshare(NEWTIME)", "unshare", w(0x80), unix.EPERM, noControl},
		{"unshare(no flag of today)", "unshare", w(0x00100000), unix.EPERM, noControl},
		{"statmount", "statmount", w(badPtr, badPtr, 8, 0), unix.ENOSYS, anyErrno},
		{"listmount", "listmount", w(badPtr, badPtr, 8, 0), unix.ENOSYS, anyErrno},
		{"memfd_secret", "memfd_secret", w(0xff), unix.ENOSYS, anyErrno},
		{"setns", "setns", w(99, 0), unix.EPERM, unix.EBADF},
		{"mount", "mount", w(badPtr, badPtr, badPtr, 0, 0), unix.EPERM, unix.EFAULT},
		{"umount2", "umount2", w(badPtr, 0), unix.EPERM, unix.EFAULT},
		{"pivot_root", "pivot_root", w(badPtr, badPtr), unix.EPERM, unix.EFAULT},
		{"chroot", "chroot", w(badPtr), unix.EPERM, unix.EFAULT},
		{"move_mount", "move_mount", w(99, badPtr, 99, badPtr, 0), unix.EPERM, anyErrno},
		{"open_tree", "open_tree", w(99, badPtr, 0), unix.EPERM, anyErrno},
		{"open_tree_attr", "open_tree_attr", w(99, badPtr, 0, badPtr, 32), unix.EPERM, noControl},
		{"fsopen", "fsopen", w(badPtr, 0), unix.EPERM, unix.EFAULT},
		{"fsconfig", "fsconfig", w(99, 99, 0, 0, 0), unix.EPERM, anyErrno},
		{"fsmount", "fsmount", w(99, 0, 0), unix.EPERM, anyErrno},
		{"fspick", "fspick", w(99, badPtr, 0), unix.EPERM, anyErrno},
		{"mount_setattr", "mount_setattr", w(99, badPtr, 0, badPtr, 0), unix.EPERM, anyErrno},
		{"sethostname", "sethostname", w(badPtr, 4), unix.EPERM, unix.EFAULT},
		{"pidfd_getfd", "pidfd_getfd", w(99, 0, 0), unix.EPERM, unix.EBADF},
		{"personality(no randomisation)", "personality", w(0x40000), unix.EPERM, 0},
		{"personality(query)", "personality", w(0xffffffff), 0, 0},
		{"bpf", "bpf", w(9999, badPtr, 8), unix.EPERM, noControl},
		{"perf_event_open", "perf_event_open", w(badPtr, 0, 0, 0, 0), unix.EPERM, noControl},
		{"userfaultfd", "userfaultfd", w(0x7fffffff), unix.EPERM, noControl},
		{"io_uring_setup", "io_uring_setup", w(1, badPtr), unix.ENOSYS, noControl},
		{"add_key", "add_key", w(badPtr, badPtr, 0, 0, 0), unix.EPERM, noControl},
		{"request_key", "request_key", w(badPtr, badPtr, 0, 0), unix.EPERM, noControl},
		{"keyctl", "keyctl", w(9999), unix.EPERM, noControl},
		{"kexec_load", "kexec_load", w(0, 0, 0, 0xff), unix.EPERM, noControl},
		{"reboot", "reboot", w(0, 0, 0, 0), unix.EPERM, unix.EINVAL},
		{"swapon", "swapon", w(badPtr, 0), unix.EPERM, noControl},
		{"init_module", "init_module", w(badPtr, 0, badPtr), unix.EPERM, noControl},
		{"acct", "acct", w(badPtr), unix.EPERM, noControl},
		{"settimeofday", "settimeofday", w(badPtr, badPtr), unix.EPERM, unix.EFAULT},
		{"clock_settime", "clock_settime", w(0, badPtr), unix.EPERM, unix.EFAULT},
		{"syslog", "syslog", w(99, 0, 0), unix.EPERM, noControl},
		{"fanotify_init", "fanotify_init", w(minus, minus), unix.EPERM, noControl},
		{"modify_ldt", "modify_ldt", w(99, badPtr, 0), unix.ENOSYS, noControl},
		{"iopl", "iopl", w(99), unix.EPERM, noControl},
		{"a call of the future", "unknown", w(), unix.ENOSYS, unix.ENOSYS},
		{"seccomp", "seccomp", w(99, 0, 0), unix.EINVAL, unix.EINVAL},
		{"memfd_create", "memfd_create", w(m.str("x"), 0), 0, 0},
		{"getpid", "getpid", w(), 0, 0},
	})
}

// TestKernelNotify: without a supervisor the kernel answers ENOSYS to what would
// go to it, which shows what does and what does not.
func TestKernelNotify(t *testing.T) {
	dir := t.TempDir()
	cwd := uintptr(0xffffff9c)
	var m memory
	old, name := m.str(filepath.Join(dir, "old")), m.str(filepath.Join(dir, "new"))
	if err := os.WriteFile(filepath.Join(dir, "old"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Notify = true
	runProbes(t, o, &m, []probe{
		{"mkdirat", "mkdirat", w(cwd, name, 0o755), unix.ENOSYS, noControl},
		{"mkdir", "mkdir", w(name, 0o755), unix.ENOSYS, noControl},
		{"openat O_CREAT", "openat", w(cwd, name, unix.O_CREAT, 0o644), unix.ENOSYS, noControl},
		{"openat O_CREAT u+s", "openat", w(cwd, name, unix.O_CREAT, 0o4755), unix.EPERM, noControl},
		{"openat", "openat", w(cwd, old, unix.O_RDWR|unix.O_TRUNC, 0o644), 0, 0},
		{"renameat2", "renameat2", w(cwd, old, cwd, name, 0), unix.ENOSYS, noControl},
		{"linkat", "linkat", w(cwd, old, cwd, name, 0), unix.ENOSYS, noControl},
		{"symlinkat", "symlinkat", w(old, cwd, name), unix.ENOSYS, noControl},
		{"mknodat", "mknodat", w(cwd, name, 0o010644, 0), unix.ENOSYS, noControl},
		{"unlinkat", "unlinkat", w(cwd, name, 0), unix.ENOENT, unix.ENOENT},
	})
	if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
		t.Error("a name was made without the supervisor")
	}
}
