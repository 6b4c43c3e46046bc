package winhelper_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/internal/backend/winhelper"
	"github.com/qiming-sandbox/qsandbox/internal/helpercmd"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

var support = backend.Support{Available: true, Path: `C:\Program Files\qsandbox\qiming-sandbox-helper.exe`, Version: "1"}

func TestGoldenPlans(t *testing.T) { backendtest.Golden(t, winhelper.Backend{}, support) }

func example(mode policy.Mode, sub policy.WindowsMode) *spec.Spec {
	pol := policy.Default()
	pol.Mode, pol.WindowsMode = mode, sub
	s := &spec.Spec{GOOS: "windows", GOARCH: "amd64", Policy: pol, Cwd: `C:\ws\sub`, Argv: []string{"make", "-j4", ""}, Exe: `C:\bin\make.exe`,
		Env: []string{"CI=1", `Path=C:\bin`, "SECRET=x=y"}}
	rule := func(p string, a spec.Access, k spec.Kind) spec.Rule {
		return spec.Rule{Path: p, Given: p, Access: a, Kind: k, Mount: k != spec.Missing}
	}
	s.Workspace = rule(`C:\ws`, spec.Write, spec.Dir)
	s.Rules = []spec.Rule{s.Workspace, rule(`C:\ws\.git`, spec.Read, spec.Dir), rule(`C:\ws\gone`, spec.Read, spec.Missing), rule(`C:\extra`, spec.Write, spec.Dir)}
	return s
}

// TestCaller is WIN-03: {run, serve} x modes x sub-modes.
func TestCaller(t *testing.T) {
	for _, c := range []struct {
		sub     helpercmd.Sub
		mode    policy.Mode
		win     policy.WindowsMode
		flag    string
		roots   []string
		limited bool
	}{
		{helpercmd.Run, policy.Strict, policy.WorkspaceWrite, "", []string{`C:\ws`}, true},
		{helpercmd.Run, policy.Compat, policy.WorkspaceWrite, "", []string{`C:\ws`, `C:\extra`}, true},
		{helpercmd.Run, policy.Permissive, policy.WorkspaceWrite, "--no-write-restricted", []string{`C:\ws`, `C:\extra`}, false},
		{helpercmd.Run, policy.Strict, policy.ReadOnly, "", nil, true},
		{helpercmd.Run, policy.Compat, policy.ReadOnly, "", nil, true},
		{helpercmd.Run, policy.Permissive, policy.ReadOnly, "--no-write-restricted", nil, false},
		{helpercmd.Serve, policy.Strict, policy.WorkspaceWrite, "--write-restricted", []string{`C:\ws`}, true},
		{helpercmd.Serve, policy.Compat, policy.WorkspaceWrite, "--write-restricted", []string{`C:\ws`, `C:\extra`}, true},
		{helpercmd.Serve, policy.Permissive, policy.WorkspaceWrite, "", []string{`C:\ws`, `C:\extra`}, false},
		{helpercmd.Serve, policy.Strict, policy.ReadOnly, "--write-restricted", nil, true},
		{helpercmd.Serve, policy.Compat, policy.ReadOnly, "--write-restricted", nil, true},
		{helpercmd.Serve, policy.Permissive, policy.ReadOnly, "", nil, false},
	} {
		w := winhelper.Command(example(c.mode, c.win), c.sub)
		args := w.Args()
		back, err := helpercmd.Parse(c.sub, args[1:])
		if err != nil {
			t.Errorf("%q: the helper refuses it: %v", args, err)
			continue
		}
		for _, f := range []string{"--write-restricted", "--no-write-restricted"} {
			if slices.Contains(args, f) != (f == c.flag) {
				t.Errorf("%s %s %s: %q, want the flag %q", c.sub, c.mode, c.win, args, c.flag)
			}
		}
		if !slices.Equal(back.Policy.WritableRoots, c.roots) || back.WriteRestricted() != c.limited {
			t.Errorf("%s %s %s: roots %q, restricted %v", c.sub, c.mode, c.win, back.Policy.WritableRoots, back.WriteRestricted())
		}
		if c.roots != nil && !slices.Equal(back.DenyWrite, []string{`C:\ws\.git`}) {
			t.Errorf("%s %s: stays read-only: %q", c.sub, c.mode, back.DenyWrite)
		}
		if !slices.Equal(back.PassEnv, []string{"CI", "SECRET"}) || strings.Contains(strings.Join(args, " "), "x=y") {
			t.Errorf("variables: %q in %q", back.PassEnv, args)
		}
		if !reflect.DeepEqual(back.Argv, []string{"make", "-j4", ""}) {
			t.Errorf("command %q", back.Argv)
		}
	}
}

// TestNothingIsCalledEnforcedThatWasNotSeen: what rests on the model says modelled.
func TestNothingIsCalledEnforcedThatWasNotSeen(t *testing.T) {
	p, err := winhelper.Backend{}.Compile(example(policy.Compat, policy.WorkspaceWrite), support)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]report.Level{"FS-01": report.Modelled, "FS-02": report.Modelled, "FS-03": report.None, "NET-01": report.Advisory, "PROC-02": report.Modelled, "FS-06": report.Modelled}
	for _, r := range p.Enforcement {
		if l, ok := want[r.Requirement]; ok && l != r.Level {
			t.Errorf("%s is called %s", r.Requirement, r.Level)
		}
		delete(want, r.Requirement)
	}
	if len(want) > 0 {
		t.Errorf("no row for %v", want)
	}
	if _, err := (winhelper.Backend{}).Compile(example(policy.Strict, policy.WorkspaceWrite), support); !errors.Is(err, fault.ErrPolicyUnenforceable) {
		t.Errorf("strict: %v", err)
	}
	if s, _ := json.Marshal(p.Notices); !strings.Contains(string(s), "network:best-effort") {
		t.Errorf("no word about the network: %s", s)
	}
}

func TestLongCommandLine(t *testing.T) {
	s := example(policy.Compat, policy.WorkspaceWrite)
	for range 1000 {
		s.Rules = append(s.Rules, spec.Rule{Path: `C:\ws\` + strings.Repeat("x", 40), Access: spec.Read, Kind: spec.File, Mount: true})
	}
	if _, err := (winhelper.Backend{}).Compile(s, support); !errors.Is(err, fault.ErrPolicyUnenforceable) {
		t.Errorf("%v", err)
	}
}

// TestProbe: three answers (POL-07, WIN-11).
func TestProbe(t *testing.T) {
	version, _ := json.Marshal(helpercmd.Version{Name: helpercmd.HelperName, Version: "1", Protocol: helpercmd.Protocol, Capabilities: helpercmd.Capabilities})
	answer := func(r helpercmd.Result) string { b, _ := json.Marshal(r); return string(b) }
	good := answer(helpercmd.Result{Stdout: string(version)})
	for _, c := range []struct {
		name             string
		goos, ver, run   string
		verErr           error
		there, available bool
		undetermined     bool
		reason           string
	}{
		{name: "all is well", goos: "windows", there: true, ver: string(version), run: good, available: true},
		{name: "other system", goos: "linux", there: true, reason: "needs Windows"},
		{name: "no helper", goos: "windows", reason: "not beside"},
		{name: "cannot be started", goos: "windows", there: true, verErr: errors.New("no memory"), undetermined: true},
		{name: "too old", goos: "windows", there: true, ver: `{"name":"qiming-sandbox-helper","protocol":1,"capabilities":[]}`, reason: "too old"},
		{name: "other protocol", goos: "windows", there: true, ver: `{"name":"qiming-sandbox-helper","protocol":7}`, reason: "protocol 7"},
		{name: "token not restricted", goos: "windows", there: true, ver: string(version), run: answer(helpercmd.Fail(fault.New(fault.SandboxUnavailable, "restrict the token", "", ""))), reason: "restrict the token"},
		{name: "other failure", goos: "windows", there: true, ver: string(version), run: answer(helpercmd.Fail(fault.New(fault.LaunchFailed, "start", "", ""))), undetermined: true},
		{name: "nonsense", goos: "windows", there: true, ver: string(version), run: "oops", undetermined: true},
	} {
		h := backendtest.Machine{}.Host()
		h.GOOS, h.Exists = c.goos, func(string) bool { return c.there }
		b := winhelper.Backend{Trial: backend.Trial{
			Beside: func(n string) string { return `C:\q\` + n },
			Program: func(_ context.Context, _ string, args ...string) (string, error) {
				if args[0] == "version" {
					return c.ver, c.verErr
				}
				return c.run, nil
			},
		}}
		sup, err := b.Probe(context.Background(), h)
		if sup.Available != c.available || (err != nil) != c.undetermined || !strings.Contains(sup.Reason, c.reason) {
			t.Errorf("%s: %+v, %v", c.name, sup, err)
		}
	}
}
