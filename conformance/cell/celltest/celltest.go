// Package celltest runs tests in a throw-away environment (see package cell).
package celltest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/conformance/cell"
)

// Require names the variable that turns a skip into a failure.
const Require = "QSANDBOX_REQUIRE"

// Inside tells whether this process is in a cell. If not, it runs the test again in
// one, passes on what that says, and gives false: the caller returns.
//
// The test binary must call probe.Main for the argument "probe" in its TestMain.
func Inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(cell.EnvInside) != "" {
		// SECURITY: a variable could have been set by anybody.
		if err := cell.Sure(); err != nil {
			t.Fatalf("%s is set, but %v", cell.EnvInside, err)
		}
		return true
	}
	program := Shown(t)
	s := cell.Spec{Users: cell.Own, Dir: "/var/lib/qsandbox-test", Show: []string{filepath.Dir(program)}}
	if os.Geteuid() == 0 {
		s.Users = cell.Mapped
	}
	s.Argv = []string{program, "-test.run=^" + t.Name() + "$", "-test.v", "-test.count=1"}
	s.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.Dir, "SHELL=/bin/sh", "LANG=C.UTF-8", Require + "=" + os.Getenv(Require)}
	cmd, err := cell.Command(t.Context(), program, s)
	if err != nil {
		unavailable(t, err.Error())
		return false
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cell.Run(cmd)
	out := said.Bytes()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == cell.Failed {
		unavailable(t, string(out)+" "+err.Error())
		return false
	}
	t.Logf("in a throw-away environment:\n%s", out)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "\n--- SKIP: "+t.Name()+" ") {
		t.Skip("skipped there")
	}
	if !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
		t.Fatal("nothing was tested there")
	}
	return false
}

func unavailable(t *testing.T, why string) {
	t.Helper()
	if os.Getenv(Require) != "" {
		t.Fatalf("no throw-away environment can be made: %s", why)
	}
	t.Skipf("no throw-away environment can be made: %s", why)
}

// Shown copies the test binary to a directory of its own that everybody can read, and
// gives its path.
func Shown(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "qsandbox-celltest-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "test")
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}
