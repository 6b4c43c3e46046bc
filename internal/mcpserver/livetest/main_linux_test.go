package livetest

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/policy"
)

func TestMain(m *testing.M) {
	// HOME is about to be a directory of the test's own; what is built there is built anew.
	if os.Getenv("GOCACHE") == "" {
		if out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output(); err == nil {
			if dirs := strings.Fields(string(out)); len(dirs) == 2 {
				buildEnv = []string{"GOCACHE=" + dirs[0], "GOMODCACHE=" + dirs[1]}
			}
		}
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8") // they wait more than they work
	}
	os.Exit(backendtest.Main(m, backendtest.Options{Home: true}))
}

var buildEnv []string

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
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Env = append(cmd.Env, buildEnv...)
		built.out, built.err = cmd.CombinedOutput()
	})
	if built.err != nil {
		t.Fatalf("build: %v\n%s", built.err, built.out)
	}
	return built.path
}

// pace says whether a test bears others beside it.
type pace uint8

const (
	alone pace = iota // it counts what the machine has
	atOnce
)

// backends runs a test with each backend that isolates.
func backends(t *testing.T, p pace, f func(t *testing.T, b policy.Backend)) {
	for _, b := range []policy.Backend{policy.LinuxNative, policy.LinuxBwrap} {
		t.Run(b.String(), func(t *testing.T) {
			if p == atOnce {
				t.Parallel()
			}
			backendtest.NeedBackend(t, b)
			f(t, b)
		})
	}
}
