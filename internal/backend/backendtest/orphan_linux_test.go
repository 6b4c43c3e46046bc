package backendtest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestStartAfterKillEndsTheTree: FS-04, PROC-02. The tree of a killed launcher ends by
// itself, but the next start cannot know how soon: it ends what is left before it looks
// for what was planted. Here the old init is stopped, so that it never ends by itself,
// and its command goes on to plant.
func TestStartAfterKillEndsTheTree(t *testing.T) {
	for _, s := range []Setup{setups[0], setups[2]} {
		t.Run(s.String(), func(t *testing.T) {
			NeedBackend(t, s.Backend)
			p := NewPlace(t)
			t.Setenv("XDG_STATE_HOME", p.Root+"/state")
			cmd := s.Launcher(t, p, "/bin/sh", "-c", `while :; do echo planted > .mcp.json; echo > going; done`, tagOf(p))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			going := filepath.Join(p.WS, "going")
			until(t, "the command to run", func() bool { _, err := os.Stat(going); return err == nil })
			init := initBelow(t, cmd.Process.Pid)
			defer unix.Kill(init, unix.SIGKILL) // ours until EndRun; where the test fails, nothing else has ended it
			if err := unix.Kill(init, unix.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			_ = os.Remove(going)
			until(t, "the old command to go on", func() bool { _, err := os.Stat(going); return err == nil })
			if r := s.Run(t, p, Call{Script: "true"}); !r.OK() {
				t.Fatal(r.Describe())
			}
			if status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(init), "stat")); err == nil && !strings.Contains(string(status), ") Z ") {
				t.Errorf("the old init is still there: %s", status)
			}
			gone(t, tagOf(p))
			time.Sleep(20 * time.Millisecond)
			if _, err := os.Lstat(filepath.Join(p.WS, ".mcp.json")); err == nil {
				t.Error("what the old command planted is there after the next start")
			}
		})
	}
}

// initBelow finds the first process of the sandbox that a launcher has started.
func initBelow(t *testing.T, launcher int) int {
	t.Helper()
	for _, pid := range below(launcher) {
		status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		for line := range strings.Lines(string(status)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "NSpid:" && f[2] == "1" {
				return pid
			}
		}
	}
	t.Fatal("there is no init")
	return 0
}

func until(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for limit := time.Now().Add(10 * time.Second); !ready(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("waited in vain for ", what)
		}
	}
}
