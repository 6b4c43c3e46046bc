package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/seccomp"
)

// The test binary plays the command too: it puts itself under the filter, hands the
// listener to the test, waits for a byte and executes a program or makes operations.
const childEnv = "QSANDBOX_GUARD_CHILD"

type order struct {
	Notify bool     // the supervised filter; else the plain one
	Proc   bool     // in a pid namespace: mount a /proc of its own
	Jail   string   // in a mount namespace: everything is read-only but this directory
	Exec   []string // the program
	Ops    string   // or a file of operations to make, one result a line on stdout
	Bench  string   // or a benchmark
	Race   string   // or an attack from two threads
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
	if o.Jail != "" {
		if err := jail(o.Jail); err != nil {
			return fmt.Errorf("jail: %w", err)
		}
	}
	if o.Proc {
		if err := ownProc(); err != nil {
			return err
		}
	}
	if err := dropAll(); err != nil {
		return err
	}
	if err := underFilter(o.Notify); err != nil {
		return err
	}
	switch {
	case o.Ops != "":
		return playOps(o.Ops)
	case o.Race != "":
		return playRace(o.Race)
	case o.Bench != "":
		return playBench(o.Bench)
	}
	path, err := exec.LookPath(o.Exec[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, o.Exec, os.Environ())
}

// jail keeps random operations, which root makes here, from the machine.
func jail(dir string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	tree, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &attr); err != nil {
		return err
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, dir, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	return unix.Chdir(cwd)
}

func ownProc() error {
	return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

// dropAll gives up all capabilities, as the init does.
func dropAll() error {
	for c := range unix.CAP_LAST_CAP + 1 {
		everyThread(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, uintptr(c), 0)
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if e := everyThread(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&data[0])), 0); e != 0 {
		return e
	}
	if e := everyThread(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0); e != 0 {
		return e
	}
	return nil
}

// everyThread makes a call on all threads; with the race detector, which needs cgo, on
// this one, from which the program is executed.
func everyThread(nr, a, b, c uintptr) syscall.Errno {
	_, _, e := syscall.AllThreadsSyscall6(nr, a, b, c, 0, 0, 0)
	if e == syscall.ENOTSUP {
		_, _, e = syscall.RawSyscall6(nr, a, b, c, 0, 0, 0)
	}
	return e
}

// underFilter installs the filter on all threads and sends the listener.
func underFilter(notify bool) error {
	o := seccomp.Options{Arch: runtime.GOARCH, Notify: notify, Openat2: seccomp.Openat2Allow}
	flags := uintptr(unix.SECCOMP_FILTER_FLAG_TSYNC)
	if notify {
		o.Openat2 = seccomp.Openat2Notify
		flags |= unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	}
	p, err := seccomp.Compile(o)
	if err != nil {
		return err
	}
	b := p.Bytes()
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: (*unix.SockFilter)(unsafe.Pointer(&b[0]))}
	fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(b)
	if e != 0 {
		return fmt.Errorf("seccomp(2): %w", e)
	}
	if notify {
		if err := unix.Sendmsg(3, []byte{1}, unix.UnixRights(int(fd)), nil, 0); err != nil {
			return err
		}
		unix.Close(int(fd))
	} else if _, err := unix.Write(3, []byte{1}); err != nil {
		return err
	}
	var one [1]byte
	if n, err := unix.Read(3, one[:]); n != 1 {
		return errors.Join(errors.New("nobody says go"), err)
	}
	return unix.Close(3)
}
