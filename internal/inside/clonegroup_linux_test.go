package inside

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// group2 makes a cgroup of version 2, or skips.
func group2(t *testing.T) string {
	t.Helper()
	for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(mount, "cgroup.controllers")); err != nil {
			continue
		}
		dir := filepath.Join(mount, fmt.Sprintf("inside-test-%d", os.Getpid()))
		if err := os.Mkdir(dir, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		return dir
	}
	t.Skip("no cgroup of version 2 can be made here")
	return ""
}

// TestCloneIntoGroup: the child is in the group from its first instruction.
func TestCloneIntoGroup(t *testing.T) {
	if !CanClone {
		t.Skip("no raw child on this architecture")
	}
	dir := group2(t)
	group, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(group)
	b := NewBuilder(false)
	argv := []string{"/bin/cat", "/proc/self/cgroup"}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b.Call(Setup, "connect the output", unix.SYS_DUP3, Int(int(w.Fd())), Int(1), Int(0))
	b.Call(Setup, "execute cat", unix.SYS_EXECVE, Str(argv[0]), Ref(b.Strings(argv)), Ref(b.Strings(nil)))
	child, err := Clone(build(t, b), 0, nil, int(w.Fd()), group)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	var ws unix.WaitStatus
	out := make([]byte, 4096)
	n, _ := r.Read(out)
	if _, err := unix.Wait4(child.PID, &ws, 0, nil); err != nil || ws != 0 {
		t.Fatalf("%v, status %v, %q", err, ws, out[:n])
	}
	child.Release()
	if want := "0::/" + filepath.Base(dir) + "\n"; !strings.Contains(string(out[:n]), want) {
		t.Errorf("the child is in %q, not in %q", out[:n], want)
	}
	if _, err := Clone(build(t, NewBuilder(false)), 0, nil, 0, int(r.Fd())); err == nil {
		t.Error("a pipe was taken for a group")
	}
}
