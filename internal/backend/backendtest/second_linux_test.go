package backendtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/launch"
)

// secondParts are what is tried on the portable start every time: one mode's contract,
// the other mode's in the run as an ordinary user, and what the init does with the
// command. QSANDBOX_TEST_SECOND=1 tries everything on it.
func secondParts() []string {
	mode := "compat"
	if os.Geteuid() != 0 {
		mode = "strict"
	}
	return []string{
		"^TestContract$/./././^linux-native$/^" + mode + "$",
		"^(TestExitCodes|TestSignalsOfTheCommand|TestTerminal|TestJobControl)$/^linux-native$",
	}
}

// TestSecondStart runs a part of the tests here again, with every sandbox started as
// where there is no fast way.
func TestSecondStart(t *testing.T) {
	if launch.EverySecondStart {
		t.Skip("everything here starts so")
	}
	NeedBackend(t, Native.Backend)
	for _, part := range secondParts() {
		dir, err := os.MkdirTemp(base, "second-")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/exe", "-test.v", "-test.run="+part, "-test.timeout="+remaining(t).String())
		cmd.Args[0] = os.Args[0]
		cmd.Env = append(os.Environ(), secondEnv+"=1", baseEnv+"="+filepath.Clean(dir))
		out, err := cmd.CombinedOutput()
		if n := strings.Count(string(out), "--- PASS"); err != nil || n < 10 {
			t.Errorf("%s: %d passed, %v\n%s", part, n, err, failures(string(out)))
		}
		removeAll(t, dir)
	}
}
