package backendtest

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Missing skips a test with the reason; when QSANDBOX_REQUIRE names what is
// missing, it fails instead, so that CI cannot go green by skipping.
func Missing(t testing.TB, what, why string) {
	t.Helper()
	required := strings.Split(os.Getenv("QSANDBOX_REQUIRE"), ",")
	if slices.Contains(required, what) || slices.Contains(required, "all") {
		t.Fatalf("%s is required here: %s", what, why)
	}
	t.Skipf("%s: %s", what, why)
}

// NeedProgram skips unless a program is installed.
func NeedProgram(t testing.TB, names ...string) {
	t.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			Missing(t, n, "not installed for this user")
		}
	}
}

// NeedRoot skips for an ordinary user.
func NeedRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

// NeedUser skips for root.
func NeedUser(t testing.TB) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("is about an ordinary user; TestAsOrdinaryUser runs it as one")
	}
}

// Long skips unless QSANDBOX_LONG=1.
func Long() bool { return os.Getenv("QSANDBOX_LONG") == "1" }

// probes remembers per setup why it cannot be used, "" when it can.
var probes sync.Map

// NeedBackend skips when a backend cannot start anything on this machine.
func NeedBackend(t testing.TB, b policy.Backend) {
	t.Helper()
	if why := (Setup{b, policy.Compat}).Unusable(); why != "" {
		Missing(t, b.String(), why)
	}
}

// Unusable tells why nothing can be started in a setup, "" when it can. The
// question is asked once.
func (s Setup) Unusable() string {
	ask, _ := probes.LoadOrStore(s, sync.OnceValue(func() string {
		dir, err := os.MkdirTemp(base, "probe-")
		if err != nil {
			return err.Error()
		}
		defer os.RemoveAll(dir)
		l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &dir, Backend: &s.Backend, Mode: &s.Mode}
		if _, err := qsandbox.Run(context.Background(), qsandbox.Request{Layers: []policy.Layer{l}, Command: []string{"/bin/true"}}); err != nil {
			return err.Error()
		}
		return ""
	}))
	return ask.(func() string)()
}
