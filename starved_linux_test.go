package qsandbox_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/launch"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// starved is how many processes an account may have in the attack, and starvedUser who it is.
const (
	starved     = 60
	starvedUser = 61234
)

// TestNoProcessesIsNoReason: a command that eats the account's process limit must not
// bring the next one to run without a sandbox: that a start fails is no firm no (POL-05).
func TestNoProcessesIsNoReason(t *testing.T) {
	if room := os.Getenv("QSANDBOX_TEST_ROOM"); room != "" {
		starve(t, room, os.Getenv("QSANDBOX_TEST_WS"))
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, for an account whose processes can be counted")
	}
	base, err := os.MkdirTemp("/var", "qsandbox-starved-")
	if err != nil {
		t.Skip("no directory outside /tmp can be made: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	program, ws := filepath.Join(base, "test"), filepath.Join(base, "ws")
	copyProgram(t, program)
	if err := os.Mkdir(ws, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{base, ws} {
		if err := os.Chown(dir, starvedUser, starvedUser); err != nil {
			t.Fatal(err)
		}
	}
	if out := play(t, program, ws, "all"); !strings.Contains(out, "startup-only: sandboxed") {
		if os.Getenv("QSANDBOX_REQUIRE") == "" {
			t.Skipf("the control: an ordinary user has no sandbox here: %s", out)
		}
		t.Fatalf("the control: %s", out)
	} else if !strings.Contains(out, "absent: degraded") {
		t.Errorf("the other control, a firm no: %s", out)
	}
	refused := 0
	for room := range 8 {
		out := play(t, program, ws, strconv.Itoa(room))
		if strings.Contains(out, "only: degraded") || strings.Contains(out, "session: degraded") {
			t.Errorf("with room for %d more processes: %s", room, out)
		}
		refused += strings.Count(out, ": "+string(fault.SandboxUndetermined)) + strings.Count(out, ": "+string(fault.LaunchFailed))
	}
	if refused == 0 {
		t.Error("the attack never made a start fail")
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, from); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// play lets this program be the launcher of an ordinary user.
func play(t *testing.T, program, ws, room string) string {
	t.Helper()
	cmd := exec.Command(program, "-test.run=^TestNoProcessesIsNoReason$", "-test.v")
	cmd.Dir = ws
	cmd.Env = []string{"QSANDBOX_TEST_ROOM=" + room, "QSANDBOX_TEST_WS=" + ws, "PATH=" + os.Getenv("PATH"), "HOME=" + ws, "GOMAXPROCS=2",
		"XDG_STATE_HOME=" + filepath.Join(filepath.Dir(ws), "state")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: starvedUser, Gid: starvedUser}}
	out, _ := cmd.CombinedOutput() // a launcher that cannot even make a thread ends: nothing ran then
	return string(out)
}

// starve fills the process limit but for some room, and then runs commands.
func starve(t *testing.T, room, ws string) {
	if n, err := strconv.Atoi(room); err == nil {
		// Without them a busy machine has the runtime ask for a thread when there is no room:
		// the launcher aborts, and no start is tried at all.
		launch.KeepThreads(16)
		if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: starved, Max: starved}); err != nil {
			t.Fatal(err)
		}
		var fill []*exec.Cmd
		defer func() {
			for _, c := range fill {
				_ = c.Process.Kill()
				_ = c.Wait()
			}
		}()
		for {
			c := exec.Command("sleep", "60")
			if c.Start() != nil {
				break
			}
			fill = append(fill, c)
		}
		for range min(n, len(fill)) {
			last := fill[len(fill)-1]
			_ = last.Process.Kill()
			_ = last.Wait()
			fill = fill[:len(fill)-1]
		}
	}
	absent := policy.MacosSeatbelt
	for name, set := range map[string]func(*policy.Layer){
		"startup-only": func(l *policy.Layer) { f := policy.StartupOnly; l.AutoFallback = &f },
		"session":      func(l *policy.Layer) { f := policy.Session; l.AutoFallback = &f },
		"absent":       func(l *policy.Layer) { f := policy.Session; l.AutoFallback, l.Backend = &f, &absent },
	} {
		rep, err := qsandbox.Run(context.Background(), qsandbox.Request{Command: []string{"true"}, Layers: layer(ws, set)})
		switch {
		case rep.Degraded:
			fmt.Printf("%s: degraded (%s)\n", name, rep.Reason)
		case err != nil:
			fmt.Printf("%s: %s\n", name, fault.CodeOf(err))
		default:
			fmt.Printf("%s: sandboxed\n", name)
		}
	}
}
