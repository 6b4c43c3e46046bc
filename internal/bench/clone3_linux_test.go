package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Where clone3(2) is refused, as by filters of older containers, the outer program is
// forked instead. Its twin without the refusal is TestSystemCalls.
func TestStartWithoutClone3(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	b := place(t, true)
	outside := filepath.Join(b.dir, "outside")
	if err := os.WriteFile(outside, nil, 0o644); err != nil { // the control: without the sandbox it can be made
		t.Fatal(err)
	}
	os.Remove(outside)
	argv := b.ours("linux-bwrap", b.workspace, "sh", "-c", "echo inside; echo x > "+outside)
	if out, err := exec.Command(argv[0], b.ours("linux-bwrap", b.workspace, noop)[1:]...).CombinedOutput(); err != nil {
		if strings.Contains(os.Getenv("QSANDBOX_REQUIRE"), "linux-bwrap") {
			t.Fatalf("%v: %s", err, out)
		}
		t.Skipf("cannot be run here: %v: %s", err, out)
	}
	for _, errno := range []string{"ENOSYS", "EPERM"} {
		t.Run(errno, func(t *testing.T) {
			log := t.TempDir() + "/trace"
			cmd := exec.Command("strace", append([]string{"-f", "-qq", "-o", log, "-e", "trace=clone3", "-e", "inject=clone3:error=" + errno}, argv...)...)
			cmd.Dir = b.workspace
			out, _ := cmd.CombinedOutput()
			trace, _ := os.ReadFile(log)
			if !strings.Contains(string(trace), errno) {
				t.Skipf("nothing was refused here: %s", out)
			}
			if !strings.Contains(string(out), "inside\n") {
				t.Errorf("the command did not run: %s", out)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Error("it ran outside")
			}
		})
	}
}
