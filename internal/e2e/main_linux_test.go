package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/policy"
)

func TestMain(m *testing.M) { os.Exit(backendtest.Main(m, backendtest.Options{})) }

func TestAsOrdinaryUser(t *testing.T) { backendtest.AsOrdinaryUser(t, "^TestAsOrdinaryUser$") }

var (
	compat = []backendtest.Setup{{Backend: policy.LinuxNative, Mode: policy.Compat}, {Backend: policy.LinuxBwrap, Mode: policy.Compat}}
	strict = []backendtest.Setup{{Backend: policy.LinuxNative, Mode: policy.Strict}}
	all    = append(append([]backendtest.Setup{}, compat...), strict...)
)

// slow gives the backends for what builds a standard library from nothing: one
// in the ordinary run, both in the long one.
func slow() []backendtest.Setup {
	if backendtest.Long() {
		return compat
	}
	return compat[:1]
}

// job is something that people do with a program.
type job struct {
	needs  []string
	setup  string // on the host, in the workspace
	policy backendtest.Policy
	env    map[string]string
	script string // inside
	after  string // on the host
	modes  []backendtest.Setup
}

func (j job) run(t *testing.T) {
	t.Helper()
	t.Parallel()
	backendtest.NeedProgram(t, j.needs...)
	for _, s := range j.modes {
		t.Run(s.String(), func(t *testing.T) {
			backendtest.NeedBackend(t, s.Backend)
			p := backendtest.NewPlace(t)
			p.Host(t, "rm -rf own.txt sub\n"+j.setup)
			s.Must(t, p, backendtest.Call{Policy: j.policy, Env: j.env, Script: "set -e\n" + j.script, Limit: 4 * time.Minute})
			if j.after != "" {
				p.Host(t, j.after)
			}
		})
	}
}

// usable skips when a program is there but does not work for this user, as a
// shim whose toolchain lies in another user's home.
func usable(t *testing.T, name string, args ...string) {
	t.Helper()
	backendtest.NeedProgram(t, name)
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		backendtest.Missing(t, name, "does not work for this user: "+strings.TrimSpace(string(out)))
	}
}

// repoRoot is this module's own source.
func repoRoot(t *testing.T) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(wd))
}
