package backend_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// fake is a backend whose probe gives one of the three answers (POL-07).
type fake struct {
	name   string
	answer answer
}

type answer string

const (
	yes     answer = "available"
	no      answer = "unavailable"
	unknown answer = "could not tell"
	absent  answer = "not in this build"
)

var answers = []answer{yes, no, unknown, absent}

func (f fake) Name() string { return f.name }

func (f fake) Probe(context.Context, host.Host) (backend.Support, error) {
	switch f.answer {
	case yes:
		return backend.Support{Available: true, Path: f.name}, nil
	case no:
		return backend.Support{Reason: f.name + " is shut", Remedy: "open " + f.name}, nil
	}
	return backend.Support{}, errors.New("EAGAIN")
}

func (f fake) Compile(*spec.Spec, backend.Support) (*plan.Plan, error) { return &plan.Plan{}, nil }

func choose(goos string, p policy.Policy, bwrap, native answer) (backend.Choice, error) {
	return chooseAt(fromStart, goos, p, bwrap, native)
}

// moment is when in a session a choice is made.
type moment string

const (
	fromStart moment = "at the start"
	later     moment = "after a sandboxed run"
)

func chooseAt(m moment, goos string, p policy.Policy, bwrap, native answer) (backend.Choice, error) {
	list := []backend.Backend{fake{"none", yes}}
	for name, a := range map[string]answer{"linux-bwrap": bwrap, "linux-native": native} {
		if a != absent {
			list = append(list, fake{name, a})
		}
	}
	return backend.Chooser{Backends: list, Host: host.Host{GOOS: goos}, Probing: true, Sandboxed: m == later}.Choose(context.Background(), p)
}

// expect is an independent statement of POL-03 to POL-06.
func expect(m moment, p policy.Policy, bwrap, native answer) (name string, degraded bool, err error) {
	asked := map[policy.Backend][]answer{policy.Auto: {bwrap, native}, policy.LinuxBwrap: {bwrap}, policy.LinuxNative: {native}, policy.None: {yes}}[p.Backend]
	names := map[policy.Backend][]string{policy.Auto: {"linux-bwrap", "linux-native"}, policy.LinuxBwrap: {"linux-bwrap"}, policy.LinuxNative: {"linux-native"}, policy.None: {"none"}}[p.Backend]
	if !p.Enabled {
		return "none", false, nil
	}
	doubt := false
	for i, a := range asked {
		if a == yes {
			return names[i], false, nil
		}
		doubt = doubt || a == unknown
	}
	switch {
	case doubt:
		return "", false, fault.ErrSandboxUndetermined
	case p.Mode == policy.Strict || p.AutoFallback == policy.Manual || m == later && p.AutoFallback == policy.StartupOnly:
		return "", false, fault.ErrSandboxUnavailable
	}
	return "none", true, nil
}

// TestChooseTable: every backend × mode × fallback × moment × answers × enabled.
func TestChooseTable(t *testing.T) {
	for _, enabled := range []bool{true, false} {
		for _, b := range []policy.Backend{policy.Auto, policy.LinuxBwrap, policy.LinuxNative, policy.None} {
			for _, m := range []policy.Mode{policy.Strict, policy.Compat, policy.Permissive} {
				for _, f := range []policy.AutoFallback{policy.Manual, policy.StartupOnly, policy.Session} {
					for _, ba := range answers {
						for _, na := range answers {
							p := policy.Policy{Enabled: enabled, Backend: b, Mode: m, AutoFallback: f}
							for _, at := range []moment{fromStart, later} {
								t.Run(fmt.Sprintf("enabled %v/%v/%v/%v/%s/bwrap %s/native %s", enabled, b, m, f, at, ba, na), func(t *testing.T) { checkChoice(t, at, p, ba, na) })
							}
						}
					}
				}
			}
		}
	}
}

func checkChoice(t *testing.T, at moment, p policy.Policy, bwrap, native answer) {
	name, degraded, want := expect(at, p, bwrap, native)
	got, err := chooseAt(at, "linux", p, bwrap, native)
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Fatalf("error %v, want %v", err, want)
	}
	if err != nil {
		if got.Backend != nil {
			t.Fatalf("an error, and yet a backend: %s", got.Backend.Name())
		}
		return
	}
	if got.Backend.Name() != name || got.Degraded != degraded {
		t.Fatalf("%s degraded %v, want %s %v", got.Backend.Name(), got.Degraded, name, degraded)
	}
	if degraded && strings.Contains(string(bwrap+native), string(no)) && got.Remedy == "" && p.Backend == policy.Auto && bwrap == no {
		t.Error("no remedy")
	}
	if degraded != (got.Reason != "") {
		t.Errorf("degraded %v with reason %q", degraded, got.Reason)
	}
	if len(got.Trace) == 0 || got.Trace[len(got.Trace)-1].Answer != "chosen" {
		t.Errorf("the trace does not end with the choice: %+v", got.Trace)
	}
	if !p.Enabled && (degraded || len(got.Trace) != 1) {
		t.Errorf("POL-04: enabled=false is no degradation and asks nobody: %+v", got)
	}
}

// TestOnlySessionGoesOnWithoutASandbox: once a session has run in one, POL-06.
func TestOnlySessionGoesOnWithoutASandbox(t *testing.T) {
	p := policy.Policy{Enabled: true, Mode: policy.Compat, AutoFallback: policy.StartupOnly}
	if _, err := chooseAt(later, "linux", p, no, no); !errors.Is(err, fault.ErrSandboxUnavailable) || !strings.Contains(err.Error(), "startup-only") {
		t.Errorf("startup-only: %v", err)
	}
	p.AutoFallback = policy.Session
	if c, err := chooseAt(later, "linux", p, no, no); err != nil || !c.Degraded {
		t.Errorf("session: %+v %v", c, err)
	}
}

// TestStartupOnlyAndSessionActAlikeAtStart: POL-06.
func TestStartupOnlyAndSessionActAlikeAtStart(t *testing.T) {
	for _, m := range []policy.Mode{policy.Strict, policy.Compat, policy.Permissive} {
		for _, ba := range answers {
			for _, na := range answers {
				p := policy.Policy{Enabled: true, Mode: m, AutoFallback: policy.StartupOnly}
				a, errA := choose("linux", p, ba, na)
				p.AutoFallback = policy.Session
				b, errB := choose("linux", p, ba, na)
				if !reflect.DeepEqual(a, b) || fault.CodeOf(errA) != fault.CodeOf(errB) {
					t.Errorf("%v %s %s: %+v %v, but %+v %v", m, ba, na, a, errA, b, errB)
				}
			}
		}
	}
}

// TestAutoByPlatform: POL-03.
func TestAutoByPlatform(t *testing.T) {
	for goos, want := range map[string][]string{"darwin": {"macos-seatbelt"}, "windows": {"windows-sandbox"}, "linux": {"linux-bwrap", "linux-native"}} {
		if got := backend.Candidates(policy.Auto, goos); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v", goos, got)
		}
	}
}

// TestUnavailableTellsReasonAndRemedy: POL-05, POL-07.
func TestUnavailableTellsReasonAndRemedy(t *testing.T) {
	_, err := choose("linux", policy.Policy{Enabled: true, Mode: policy.Compat}, no, no)
	for _, want := range []string{"linux-bwrap is shut", "linux-native is shut", "open linux-bwrap", "open linux-native"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell %q", err, want)
		}
	}
}

// TestNativeAfterBwrapIsNoDegradation: POL-03.
func TestNativeAfterBwrapIsNoDegradation(t *testing.T) {
	c, err := choose("linux", policy.Policy{Enabled: true, Mode: policy.Strict}, no, yes)
	if err != nil || c.Degraded || c.Reason != "" || c.Backend.Name() != "linux-native" || c.Trace[0].Reason == "" {
		t.Errorf("%+v %v", c, err)
	}
}
