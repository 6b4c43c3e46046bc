package landlock

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// trial is a step, what the domain makes of it, and from which ABI on; before it,
// and without a domain (the control), the step works, or gives other.
type trial struct {
	step
	want  syscall.Errno
	abi   int
	other syscall.Errno
}

// place makes the directories that the trials work in: "w" is writable, "x" has
// one right more, "o" is outside.
func place(t *testing.T) (dir string, rules []PathRule) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"w/d", "w/e", "w/sub", "w/gone", "x", "o/d", "o/sub"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"w/a", "w/b", "w/d/c", "w/d/l", "w/t", "w/in", "x/back", "o/a", "o/b", "o/t", "o/one"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, []PathRule{
		{"/", ReadOnlyDir, true},
		{filepath.Join(dir, "w"), ReadWriteDir, true},
		{filepath.Join(dir, "x"), ReadWriteDir | IoctlDev, true},
		{filepath.Join(dir, "o/one"), ReadWriteDir, false}, // the directory rights must be masked
		{"/dev/null", Device, false},
	}
}

// trials are what a domain of place is asked. "@" is the directory.
func trials() []trial {
	const ok, no = syscall.Errno(0), unix.EACCES
	return []trial{
		{step{"read", "@/o/a", ""}, ok, 1, ok},
		{step{"list", "@/o", ""}, ok, 1, ok},
		{step{"create", "@/w/new", ""}, ok, 1, ok},
		{step{"create", "@/o/new", ""}, no, 1, ok},
		{step{"write", "@/w/in", ""}, ok, 1, ok},
		{step{"write", "@/o/b", ""}, no, 1, ok},
		{step{"write", "@/o/one", ""}, ok, 1, ok},
		{step{"truncate", "@/o/one", ""}, ok, 1, ok},
		{step{"truncate", "@/w/t", ""}, ok, 1, ok},
		{step{"truncate", "@/o/t", ""}, no, 3, ok},
		{step{"rename", "@/w/a", "@/w/a2"}, ok, 1, ok},
		{step{"rename", "@/w/d/c", "@/w/e/c"}, ok, 2, unix.EXDEV},
		{step{"link", "@/w/d/l", "@/w/e/l"}, ok, 2, unix.EXDEV},
		{step{"rename", "@/w/b", "@/o/b2"}, no, 1, ok},
		{step{"rename", "@/o/b", "@/o/b3"}, no, 1, ok},
		{step{"rename", "@/x/back", "@/w/back"}, ok, 2, unix.EXDEV},
		{step{"rename", "@/w/in", "@/x/in"}, unix.EXDEV, 5, ok}, // it would gain ioctl
		{step{"symlink", "a", "@/w/s"}, ok, 1, ok},
		{step{"symlink", "a", "@/o/s"}, no, 1, ok},
		{step{"mkdir", "@/w/made", ""}, ok, 1, ok},
		{step{"mkdir", "@/o/made", ""}, no, 1, ok},
		{step{"rmdir", "@/w/gone", ""}, ok, 1, ok},
		{step{"rmdir", "@/o/d", ""}, no, 1, ok},
		{step{"mkfifo", "@/w/p", ""}, ok, 1, ok},
		{step{"mkfifo", "@/o/p", ""}, no, 1, ok},
		{step{"mknod", "@/w/dev", ""}, no, 1, ok},
		{step{"unlink", "@/w/t", ""}, ok, 1, ok},
		{step{"unlink", "@/o/a", ""}, no, 1, ok},
		{step{"chmod", "@/o/t", ""}, ok, 1, ok}, // no rights for metadata: why a read-only mount is needed too
		{step{"ioctl", "/dev/null", ""}, unix.ENOTTY, 1, unix.ENOTTY},
		{step{"write", "/dev/zero", ""}, no, 1, ok},
		{step{"serve", "@/w/sock", ""}, ok, 1, ok},
		{step{"socketpair", "", ""}, ok, 1, ok},
	}
}

// TestKernelFiles tries each ABI up to the kernel's: a ruleset made for an older
// ABI is one that an older kernel would enforce.
func TestKernelFiles(t *testing.T) {
	for abi := kernelABI(t); abi >= 0; abi-- {
		dir, rules := place(t)
		o := order{ABI: abi, Rules: rules}
		var list []trial
		for _, tr := range trials() {
			if tr.Do == "mknod" && os.Getuid() != 0 {
				continue // the kernel refuses it anyway
			}
			tr.A, tr.B = strings.ReplaceAll(tr.A, "@", dir), strings.ReplaceAll(tr.B, "@", dir)
			list, o.Steps = append(list, tr), append(o.Steps, tr.step)
		}
		for i, got := range run(t, o) {
			tr := list[i]
			if want := tr.at(abi); got != want {
				t.Errorf("ABI %d: %+v: %v, want %v", abi, tr.step, got, want)
			}
		}
	}
}

// at is what the trial gives under an ABI.
func (tr trial) at(abi int) syscall.Errno {
	switch {
	case abi == 0 && tr.other == unix.EXDEV: // without a domain every move works
		return 0
	case abi == 0:
		return tr.other
	case abi == 1 && tr.want == unix.EXDEV: // under ABI 1 every move between directories is
		return unix.EXDEV
	case abi >= tr.abi:
		return tr.want
	}
	return tr.other
}

// TestModelAgreesWithKernel: Allowed and AllowedMove say what the kernel does.
func TestModelAgreesWithKernel(t *testing.T) {
	abi := kernelABI(t)
	dir, rules := place(t)
	rs, _ := For(abi, rules, Options{})
	rights := map[string]FS{"create": MakeReg, "mkdir": MakeDir, "mkfifo": MakeFifo, "symlink": MakeSym, "unlink": RemoveFile, "rmdir": RemoveDir}
	direct := map[string]FS{"read": ReadFile, "list": ReadDir, "write": WriteFile, "truncate": Truncate}
	for _, tr := range trials() {
		a, b := strings.ReplaceAll(tr.A, "@", dir), strings.ReplaceAll(tr.B, "@", dir)
		want := tr.at(abi) == 0
		if right, ok := direct[tr.Do]; ok && rs.Allowed(a, right) != want {
			t.Errorf("%+v: the model says %v", tr.step, !want)
		}
		if tr.Do == "symlink" {
			a = b
		}
		if right, ok := rights[tr.Do]; ok && rs.Allowed(filepath.Dir(a), right) != want {
			t.Errorf("%+v: the model says %v", tr.step, !want)
		}
		if tr.Do == "rename" && rs.AllowedMove(a, b, MakeReg) != want {
			t.Errorf("%+v: the model says %v", tr.step, !want)
		}
	}
}

// TestKernelDevices: ioctl on a device that may be opened but is not granted it.
func TestKernelDevices(t *testing.T) {
	abi := kernelABI(t)
	if abi < 5 {
		t.Skip("ioctl on devices is restricted from ABI 5")
	}
	steps := []step{{"ioctl", "/dev/null", ""}}
	for access, want := range map[FS]syscall.Errno{Device: unix.ENOTTY, ReadFile | WriteFile: unix.EACCES} {
		got := run(t, order{ABI: abi, Rules: []PathRule{{"/", ReadOnlyDir, true}, {"/dev/null", access, false}}, Steps: steps})
		if got[0] != want {
			t.Errorf("granted %v: %v, want %v", access, got[0], want)
		}
	}
}

// TestKernelScopes: abstract sockets and signals, with and without file rights.
func TestKernelScopes(t *testing.T) {
	abi := kernelABI(t)
	if abi < 6 {
		t.Skip("scopes are from ABI 6 on")
	}
	name := "@qsandbox-test-" + filepath.Base(t.TempDir()) + t.Name()
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	steps := []step{{"connect", name, ""}, {"serve", name + "-own", ""}, {"socketpair", "", ""}, {"signal parent", "", ""}, {"signal self", "", ""}}
	rules := []PathRule{{"/", ReadOnlyDir, true}}
	for _, c := range []struct {
		name   string
		scoped Scope
		alone  bool
		want   [5]syscall.Errno
	}{
		{"none", 0, false, [5]syscall.Errno{}},
		{"abstract", ScopeAbstractUnix, false, [5]syscall.Errno{0: unix.EPERM}},
		{"signal", ScopeSignal, false, [5]syscall.Errno{3: unix.EPERM}},
		{"both", both, false, [5]syscall.Errno{0: unix.EPERM, 3: unix.EPERM}},
		{"both, scopes only", both, true, [5]syscall.Errno{0: unix.EPERM, 3: unix.EPERM}},
	} {
		got := run(t, order{ABI: abi, Scopes: c.alone, Rules: rules, Options: Options{Scoped: c.scoped}, Steps: steps})
		for i, e := range got {
			if e != c.want[i] {
				t.Errorf("%s: %v: %v, want %v", c.name, steps[i], e, c.want[i])
			}
		}
	}
}

// TestKernelUnixPath: a socket of the host is reachable by its path before ABI 9,
// and from then on only if it is granted.
func TestKernelUnixPath(t *testing.T) {
	abi := kernelABI(t)
	dir, rules := place(t)
	sock := filepath.Join(dir, "w", "host")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	want := syscall.Errno(0)
	if abi >= 9 {
		want = unix.EACCES
	}
	steps := []step{{"connect", sock, ""}}
	if got := run(t, order{ABI: abi, Rules: rules, Steps: steps}); got[0] != want {
		t.Errorf("ABI %d: %v, want %v", abi, got[0], want)
	}
	if got := run(t, order{ABI: abi, Rules: append(rules, PathRule{sock, Socket, false}), Steps: steps}); got[0] != 0 {
		t.Errorf("granted: %v", got[0])
	}
}

// TestKernelMount: file rights forbid mount(2), scopes alone do not.
func TestKernelMount(t *testing.T) {
	abi := kernelABI(t)
	if os.Getuid() != 0 || abi < 6 {
		t.Skip("needs root and ABI 6")
	}
	dir, rules := place(t)
	at := filepath.Join(dir, "w", "sub")
	steps := []step{{"mount", at, ""}}
	defer unix.Unmount(at, unix.MNT_DETACH)
	if got := run(t, order{ABI: abi, Rules: rules, Options: Options{Scoped: both}, Steps: steps}); got[0] != unix.EPERM {
		t.Errorf("with file rights: %v", got[0])
	}
	if got := run(t, order{ABI: abi, Scopes: true, Options: Options{Scoped: both}, Steps: steps}); got[0] != 0 {
		t.Errorf("with scopes only: %v", got[0])
	}
}

// TestKernelTakesEveryFlag: ports and logging flags that the ABI has are accepted.
func TestKernelTakesEveryFlag(t *testing.T) {
	for abi := kernelABI(t); abi > 0; abi-- {
		_, rules := place(t)
		run(t, order{ABI: abi, Rules: rules, Options: everything, Steps: []step{{"socketpair", "", ""}}})
	}
}
