package landlock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The test binary plays the child: it puts itself into a domain and then tries
// things.
const childEnv = "QSANDBOX_LANDLOCK_CHILD"

type order struct {
	ABI     int // 0: no domain, the control
	Scopes  bool
	Rules   []PathRule
	Options Options
	Steps   []step
}

// step is one thing to try: Do names it, A and B are its paths or addresses.
type step struct {
	Do, A, B string
}

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		if err := playChild(text); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(99)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func playChild(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	runtime.LockOSThread() // a domain is the thread's
	rs, _ := For(o.ABI, o.Rules, o.Options)
	if o.Scopes {
		rs, _ = ForScopes(o.ABI, o.Options.Scoped, 0)
	}
	if !rs.Empty() {
		if err := enforce(rs); err != nil {
			return err
		}
	}
	out := make([]int, len(o.Steps))
	for i, s := range o.Steps {
		var e syscall.Errno
		if err := s.try(); err != nil && !errors.As(err, &e) {
			return fmt.Errorf("%+v: %w", s, err)
		}
		out[i] = int(e)
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// enforce is what the product does elsewhere, in the order that doc.go gives.
func enforce(rs Ruleset) error {
	attr := rs.Attr()
	fd, _, e := unix.Syscall(SysCreateRuleset, uintptr(unsafe.Pointer(&attr[0])), uintptr(len(attr)), 0)
	if e != 0 {
		return fmt.Errorf("landlock_create_ruleset: %w", e)
	}
	for _, r := range rs.Paths {
		at, err := unix.Open(r.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Path, err)
		}
		rule := PathBeneath(r.Access, int32(at))
		if _, _, e := unix.Syscall6(SysAddRule, fd, RuleTypePathBeneath, uintptr(unsafe.Pointer(&rule[0])), 0, 0, 0); e != 0 {
			return fmt.Errorf("landlock_add_rule %+v: %w", r, e)
		}
	}
	for _, p := range rs.Ports {
		rule := NetPort(p.Access, p.Port)
		if _, _, e := unix.Syscall6(SysAddRule, fd, RuleTypeNetPort, uintptr(unsafe.Pointer(&rule[0])), 0, 0, 0); e != 0 {
			return fmt.Errorf("landlock_add_rule %+v: %w", p, e)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, e := unix.Syscall(SysRestrictSelf, fd, uintptr(rs.Flags), 0); e != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", e)
	}
	return nil
}

// try does the step.
func (s step) try() error {
	switch s.Do {
	case "create":
		return closing(unix.Open(s.A, unix.O_CREAT|unix.O_WRONLY|unix.O_EXCL|unix.O_CLOEXEC, 0o644))
	case "read", "list":
		return closing(unix.Open(s.A, unix.O_RDONLY|unix.O_CLOEXEC, 0))
	case "write":
		return closing(unix.Open(s.A, unix.O_WRONLY|unix.O_CLOEXEC, 0))
	case "truncate":
		return unix.Truncate(s.A, 0)
	case "rename":
		return unix.Rename(s.A, s.B)
	case "link":
		return unix.Link(s.A, s.B)
	case "symlink":
		return unix.Symlink(s.A, s.B)
	case "unlink":
		return unix.Unlink(s.A)
	case "mkdir":
		return unix.Mkdir(s.A, 0o755)
	case "rmdir":
		return unix.Rmdir(s.A)
	case "mkfifo":
		return unix.Mkfifo(s.A, 0o644)
	case "mknod":
		return unix.Mknod(s.A, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))
	case "chmod":
		return unix.Chmod(s.A, 0o600)
	case "mount":
		return unix.Mount("none", s.A, "tmpfs", 0, "")
	}
	return s.tryIPC()
}

// tryIPC does the steps that are not about files.
func (s step) tryIPC() error {
	switch s.Do {
	case "ioctl":
		fd, err := unix.Open(s.A, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		_, err = unix.IoctlGetTermios(fd, unix.TCGETS)
		return err
	case "connect":
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Connect(fd, &unix.SockaddrUnix{Name: s.A})
	case "serve": // a socket of the child's own
		l, err := net.Listen("unix", s.A)
		if err != nil {
			return err
		}
		defer l.Close()
		return step{Do: "connect", A: s.A}.try()
	case "socketpair":
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fds[1])
		defer unix.Close(fds[0])
		_, err = unix.Write(fds[0], []byte("x"))
		return err
	case "signal parent":
		return unix.Kill(unix.Getppid(), 0)
	case "signal self":
		return unix.Kill(unix.Getpid(), 0)
	}
	return fmt.Errorf("no such step")
}

func closing(fd int, err error) error {
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// kernelABI is the ABI of the running kernel; the test is skipped without Landlock.
func kernelABI(t *testing.T) int {
	t.Helper()
	v, _, e := unix.Syscall(SysCreateRuleset, 0, 0, CreateRulesetVersion)
	if e != 0 {
		t.Skip("no Landlock in this kernel:", e)
	}
	return int(v)
}

// run lets a child try the steps and returns their errors.
func run(t *testing.T, o order) []syscall.Errno {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("child: %v\n%s", err, stderr.String())
	}
	var got []syscall.Errno
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("child said %q: %v", out, err)
	}
	return got
}
