package livetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/policy"
)

func TestMain(m *testing.M) { os.Exit(backendtest.Main(m, backendtest.Options{Home: true})) }

var built struct {
	sync.Once
	path string
	out  []byte
	err  error
}

// program builds the real thing: what a client starts is what is tested.
func program(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		backendtest.Missing(t, "go", "it is needed to build the server")
	}
	built.Do(func() {
		built.path = filepath.Join(backendtest.Base(), "qsandbox")
		cmd := exec.Command("go", "build", "-o", built.path, "../../../cmd/qsandbox")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "HOME="+os.Getenv("HOME"))
		built.out, built.err = cmd.CombinedOutput()
	})
	if built.err != nil {
		t.Fatalf("build: %v\n%s", built.err, built.out)
	}
	return built.path
}

// backends runs a test with each backend that isolates.
func backends(t *testing.T, f func(t *testing.T, b policy.Backend)) {
	for _, b := range []policy.Backend{policy.LinuxNative, policy.LinuxBwrap} {
		t.Run(b.String(), func(t *testing.T) {
			backendtest.NeedBackend(t, b)
			f(t, b)
		})
	}
}
