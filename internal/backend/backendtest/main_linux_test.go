package backendtest

import (
	"os"
	"testing"

	"github.com/qiming-sandbox/qsandbox/policy"
)

func TestMain(m *testing.M) { os.Exit(Main(m, Options{Home: true})) }

// TestAsOrdinaryUser runs everything here again as an ordinary user.
func TestAsOrdinaryUser(t *testing.T) {
	skip := "^TestAsOrdinaryUser$"
	if !Long() {
		skip += "|^TestNothingIsLeft$" // 650 runs; as root is enough every time
	}
	AsOrdinaryUser(t, skip)
}

// setups are all backends that isolate, in the modes that isolate.
var setups = []Setup{
	{policy.LinuxNative, policy.Compat}, {policy.LinuxNative, policy.Strict},
	{policy.LinuxBwrap, policy.Compat}, {policy.LinuxBwrap, policy.Strict},
}

// both are the backends in compat.
var both = []Setup{setups[0], setups[2]}

// direct are the ways to run without isolation (the table of modes).
var direct = []Setup{{policy.None, policy.Compat}, {policy.LinuxNative, policy.Permissive}, {policy.LinuxBwrap, policy.Permissive}}

// each runs a test on every setup.
func each(t *testing.T, list []Setup, f func(t *testing.T, s Setup)) {
	for _, s := range list {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			NeedBackend(t, s.Backend)
			if why := s.Unusable(); why != "" {
				t.Skipf("%v does not start (TestEverySetupStarts tells): %s", s, why)
			}
			f(t, s)
		})
	}
}

func everywhere() []Setup { return append(append([]Setup{}, setups...), direct...) }

// TestEverySetupStarts: where a backend works at all, it works in every mode.
func TestEverySetupStarts(t *testing.T) {
	for _, s := range everywhere() {
		t.Run(s.String(), func(t *testing.T) {
			NeedBackend(t, s.Backend)
			if why := s.Unusable(); why != "" {
				t.Error(why)
			}
		})
	}
}
