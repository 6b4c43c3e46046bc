package qsandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// TestScarceProcesses starts commands under every low limit on processes (ulimit -u).
// Where there is no room the start is refused; below that the Go runtime ends the
// launcher before anything of ours runs. Nothing is left, and nothing is said to have
// run that did not.
func TestScarceProcesses(t *testing.T) {
	if ws := os.Getenv("QSANDBOX_TEST_WS"); ws != "" {
		runScarce(ws)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, for an account whose processes can be counted")
	}
	base, err := os.MkdirTemp("/var", "qsandbox-scarce-")
	if err != nil {
		t.Skip("no directory outside /tmp can be made: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	program, ws := filepath.Join(base, "test"), filepath.Join(base, "ws")
	copyProgram(t, program)
	_ = os.Mkdir(ws, 0o700)
	for _, dir := range []string{base, ws} {
		if err := os.Chown(dir, scarceUser, scarceUser); err != nil {
			t.Fatal(err)
		}
	}
	if out := scarce(t, program, ws, 200); !strings.Contains(out, "ran: 0") {
		if os.Getenv("QSANDBOX_REQUIRE") == "" {
			t.Skipf("the control: an ordinary user has no sandbox here: %s", out)
		}
		t.Fatalf("the control: %s", out)
	}
	ran, refused, aborted := 0, 0, 0
	for limit := 1; limit <= 60; limit += 1 + limit/30 {
		did := filepath.Join(ws, "did")
		_ = os.Remove(did)
		out := scarce(t, program, ws, limit)
		_, err := os.Stat(did)
		switch {
		case strings.Contains(out, "ran: 0"):
			ran++
			if err != nil {
				t.Errorf("limit %d: it did not run: %s", limit, out)
			}
		case strings.Contains(out, "refused: "+string(fault.LaunchFailed)), strings.Contains(out, "refused: "+string(fault.SandboxUndetermined)):
			refused++
			if err == nil {
				t.Errorf("limit %d: it ran all the same: %s", limit, out)
			}
		case threadless(out) && limit < 20, strings.Contains(out, "Resource temporarily unavailable") && limit < 3:
			aborted++
		default:
			t.Errorf("limit %d: %s", limit, out)
		}
		if left := processesOf(scarceUser); left != "" {
			t.Errorf("limit %d: left behind: %s", limit, left)
		}
	}
	t.Logf("%d ran, %d were refused, %d launchers could not begin", ran, refused, aborted)
	if ran == 0 || refused == 0 {
		t.Error("not everything was seen")
	}
}

const scarceUser = 61236

// threadless knows the Go runtime's words, without and with cgo.
func threadless(out string) bool {
	return strings.Contains(out, "failed to create new OS thread") || strings.Contains(out, "pthread_create failed")
}

// scarce lets this program be the launcher under a limit.
func scarce(t *testing.T, program, ws string, limit int) string {
	t.Helper()
	cmd := exec.Command("bash", "-c", fmt.Sprintf(`ulimit -u %d; exec "$0" -test.run='^TestScarceProcesses$'`, limit), program)
	cmd.Dir = ws
	cmd.Env = []string{"QSANDBOX_TEST_WS=" + ws, "PATH=" + os.Getenv("PATH"), "HOME=" + ws, "XDG_STATE_HOME=" + filepath.Join(filepath.Dir(ws), "state")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: scarceUser, Gid: scarceUser}}
	out, _ := cmd.CombinedOutput()
	return string(out)
}

func runScarce(ws string) {
	native := policy.LinuxNative
	rep, err := qsandbox.Run(context.Background(), qsandbox.Request{Command: []string{"sh", "-c", "echo x > did"},
		Layers: layer(ws, func(l *policy.Layer) { l.Backend = &native })})
	if err != nil {
		fmt.Printf("refused: %s: %v\n", fault.CodeOf(err), err)
		return
	}
	fmt.Printf("ran: %d\n", rep.Exit.Code)
}

// processesOf names the processes of an account that do not end by themselves.
func processesOf(uid uint32) (left string) {
	for range 50 {
		left = ""
		list, _ := filepath.Glob("/proc/[0-9]*")
		for _, p := range list {
			var st syscall.Stat_t
			if syscall.Stat(p, &st) == nil && st.Uid == uid {
				name, _ := os.ReadFile(p + "/comm")
				left += p + " " + string(name)
			}
		}
		if left == "" {
			return ""
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left
}
