package cell_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/conformance/cell"
	"github.com/qiming-sandbox/qsandbox/conformance/cell/celltest"
	"github.com/qiming-sandbox/qsandbox/conformance/probe"
)

// TestMain lets the test binary be the first process of a cell.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		os.Exit(probe.Main(os.Args[2:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func mine() cell.Users {
	if os.Geteuid() == 0 {
		return cell.Mapped
	}
	return cell.Own
}

// in runs a script in a cell.
func in(t *testing.T, users cell.Users, program, script string) (string, int) {
	t.Helper()
	s := cell.Spec{Users: users, Decoys: true, Dir: "/var/lib/cell-test", Show: []string{filepath.Dir(program)}, Argv: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}}
	cmd, err := cell.Command(t.Context(), program, s)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cell.Run(cmd)
	code := cmd.ProcessState.ExitCode()
	if code == cell.Failed {
		if os.Getenv(celltest.Require) != "" {
			t.Fatal(out.String())
		}
		t.Skip(out.String())
	}
	return out.String(), code
}

// TestNothingGetsOut: what a control did once to a machine of ours, and more, does
// not reach the outside. Everything named here is a decoy of this test, or is tried
// in a way that the outside would show.
func TestNothingGetsOut(t *testing.T) {
	program := celltest.Shown(t)
	dir := filepath.Dir(program)
	decoy := filepath.Join(dir, "decoy")
	if err := os.WriteFile(decoy, []byte("kept\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(decoy, 0o666); err != nil {
		t.Fatal(err)
	}
	victim := exec.Command("/bin/sh", "-c", "read x")
	hold, err := victim.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
	before := outside(t)
	harm := []string{
		"rm -rf /etc/passwd; ! [ -e /etc/passwd ]",
		"echo x >> /etc/passwd",
		"umount -l /proc || true",
		"rm -f /dev/null; mv /dev/null /dev/other; chmod 000 /dev/null; true",
		"mount -o remount,rw / ; mount -o remount,rw /usr; mount -o remount,rw,bind /usr; ! touch /usr/qsandbox-made",
		"! rm -rf /usr/bin/env",
		fmt.Sprintf("! kill -9 %d", victim.Process.Pid),
		"kill -9 -1; true",
		fmt.Sprintf("mount -o remount,rw,bind %s; ! rm %s; ! sh -c 'echo gone > %s'", dir, decoy, decoy),
		"unshare -r -m sh -c 'mount -o remount,rw,bind /usr && touch /usr/qsandbox-made' && exit 1; true",
		"umount -l /usr; true",
		"mkdir d && mount -t proc proc d; ! sh -c 'echo x > d/sys/kernel/core_pattern'",
		"echo x > /proc/sysrq-trigger; hostname other; true",
		"! ls " + t.TempDir(),
		"[ -z \"$(ls /home /root /run/user 2>/dev/null | grep -v :)\" ]",
	}
	for _, script := range harm {
		out, code := in(t, mine(), program, script)
		if code != 0 && os.Geteuid() == 0 {
			t.Errorf("%q gave %d: %s", script, code, out)
		}
	}
	if data, err := os.ReadFile(decoy); err != nil || string(data) != "kept\n" {
		t.Errorf("the decoy was reached: %q %v", data, err)
	}
	// To send it a signal would tell nothing: that works on the dead, too, until they are waited for.
	if _, err := fmt.Fprintln(hold, "go"); err != nil {
		t.Error(err)
	}
	if err := victim.Wait(); err != nil {
		t.Errorf("the process outside was reached: %v", err)
	}
	if after := outside(t); after != before {
		t.Errorf("the outside changed:\n%s\n%s", before, after)
	}
}

// outside says how what the harm above is aimed at looks.
func outside(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, f := range []string{"/etc/passwd", "/proc/sys/kernel/core_pattern", "/proc/self/mountinfo", "/proc/sys/kernel/hostname"} {
		data, err := os.ReadFile(f)
		fmt.Fprintf(&b, "%s %q %v\n", f, data, err)
	}
	for _, f := range []string{"/dev/null", "/usr", "/usr/bin/env", "/etc", "/proc/self/status"} {
		info, err := os.Lstat(f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, f, info.Mode())
	}
	if _, err := os.Lstat("/usr/qsandbox-made"); err == nil {
		b.WriteString("made\n")
	}
	return b.String()
}

// TestEffectsCanBeSeen is the twin: in a cell the same things work on its own things.
func TestEffectsCanBeSeen(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("as root only: the others can do none of it anywhere")
	}
	program := celltest.Shown(t)
	for _, script := range []string{
		"rm /etc/passwd && ! [ -e /etc/passwd ]",
		"umount -l /proc; mkdir d && mount -t tmpfs none d && touch d/x && umount -l d && ! [ -e d/x ]",
		"mkdir d && mount -t tmpfs none d && touch d/x",
		"echo x > /proc/sys/kernel/core_pattern && grep -q x /proc/sys/kernel/core_pattern",
		"sleep 9 & kill -9 $!",
		"hostname other && [ \"$(hostname)\" = other ]",
		"echo x > /dev/null && : > /dev/shm/x",
	} {
		if out, code := in(t, cell.Mapped, program, script); code != 0 {
			t.Errorf("%q gave %d: %s", script, code, out)
		}
	}
}

// TestCellRefuses: its first process touches nothing where it is not in a cell.
func TestCellRefuses(t *testing.T) {
	before := outside(t)
	var msg bytes.Buffer
	if code := cell.Main([]string{`{"Dir":"/x","Outer":"mnt:[0]","Argv":["/bin/true"]}`}, &msg); code != cell.Failed || !strings.Contains(msg.String(), "not in namespaces of its own") {
		t.Errorf("%d %s", code, msg.String())
	}
	if err := cell.Sure(); err == nil {
		t.Error("this process takes itself for one in a cell")
	}
	if outside(t) != before {
		t.Error("something changed")
	}
}

// TestThreadsThatEndLeaveCellsAlone: a cell lives as long as it runs, whatever threads of
// this program end meanwhile. A thread ends with a goroutine that has locked it.
func TestThreadsThatEndLeaveCellsAlone(t *testing.T) {
	program := celltest.Shown(t)
	if _, code := in(t, mine(), program, "exit 3"); code != 3 {
		t.Fatalf("code %d", code)
	}
	stop := make(chan struct{})
	var killers, cells sync.WaitGroup
	for range 4 {
		killers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				ended := make(chan struct{})
				go func() {
					runtime.LockOSThread() // and never unlocked
					time.Sleep(time.Millisecond)
					close(ended)
				}()
				<-ended
			}
		})
	}
	for range 4 {
		cells.Go(func() {
			for range 8 {
				cmd, err := cell.Command(t.Context(), program, cell.Spec{Users: mine(), Dir: "/var/lib/cell-test", Show: []string{filepath.Dir(program)}, Argv: []string{"/bin/sh", "-c", "sleep 0.05; exit 3"}})
				if err != nil {
					t.Error(err)
					return
				}
				if err := cell.Run(cmd); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 3 {
					t.Errorf("the cell did not end by itself: %v", err)
				}
			}
		})
	}
	cells.Wait()
	close(stop)
	killers.Wait()
}
