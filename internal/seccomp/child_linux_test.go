package seccomp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The test binary plays the child: it installs a filter on itself and then makes
// raw calls, or executes a program.
const childEnv = "QSANDBOX_SECCOMP_CHILD"

// order is what the parent tells the child.
type order struct {
	Filter bool // install the filter; false is the control
	Opts   Options
	Calls  []rawCall // make these calls and print their errors
	Exec   []string  // or execute this
}

// rawCall is a system call by number.
type rawCall struct {
	Nr   uintptr
	Args [6]uintptr
}

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		os.Unsetenv(childEnv)
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
	runtime.LockOSThread()
	if o.Filter {
		if err := install(o.Opts); err != nil {
			return err
		}
	}
	if o.Exec != nil {
		path, err := exec.LookPath(o.Exec[0])
		if err != nil {
			return err
		}
		return syscall.Exec(path, o.Exec, os.Environ())
	}
	out := make([]int, len(o.Calls))
	for i, c := range o.Calls {
		a := c.Args
		_, _, e := unix.RawSyscall6(c.Nr, a[0], a[1], a[2], a[3], a[4], a[5])
		out[i] = int(e)
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// install puts the filter on every thread of the process.
func install(o Options) error {
	p, err := Compile(o)
	if err != nil {
		return err
	}
	b := p.Bytes() // the bytes, to test the encoding too
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: (*unix.SockFilter)(unsafe.Pointer(&b[0]))}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(b)
	if e != 0 {
		return fmt.Errorf("seccomp(2): %w", e)
	}
	return nil
}

// child prepares a run of the test binary as a child.
func child(t *testing.T, o order) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	cmd.Dir = t.TempDir()
	return cmd
}

// errnos makes calls in a child and returns their errors.
func errnos(t *testing.T, o order, files ...*os.File) []syscall.Errno {
	t.Helper()
	cmd := child(t, o)
	cmd.ExtraFiles = files
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

// execute runs a program in a filtered (or, for the control, an unfiltered) child.
func execute(t *testing.T, o order) (string, error) {
	t.Helper()
	out, err := child(t, o).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
