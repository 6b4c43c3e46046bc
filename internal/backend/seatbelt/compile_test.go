package seatbelt_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/backend/seatbelt"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/sbpl"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

func TestPlanOfEachMode(t *testing.T) { // MAC-01, MAC-02, MAC-05
	for _, mode := range []policy.Mode{policy.Compat, policy.Strict, policy.Permissive} {
		s := bound(t, "darwin", mode, nil)
		p, err := seatbelt.Backend{}.Compile(s, backend.Support{Available: true})
		if mode == policy.Strict {
			// Strict takes nothing below enforced, and no real Mac has shown anything yet.
			if fault.CodeOf(err) != fault.PolicyUnenforceable {
				t.Errorf("strict: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if p.Outer.Program != "/usr/bin/sandbox-exec" || !strings.HasPrefix(p.Profile.Text, "(version 1)\n(deny default)\n") {
			t.Errorf("%s: %s %.40s", mode, p.Outer.Program, p.Profile.Text)
		}
		if p.Isolation.Direct != (mode == policy.Permissive) {
			t.Errorf("%s: direct %v", mode, p.Isolation.Direct)
		}
		for _, kv := range p.Env {
			if mode != policy.Permissive && strings.HasPrefix(kv, "TMPDIR=") {
				t.Errorf("%s: %s would be the host's", mode, kv)
			}
		}
		for _, r := range p.Enforcement {
			// SECURITY: what only the model shows may not be told as a fact (MAC-05).
			if mode != policy.Permissive && slices.Contains([]string{"FS-01", "FS-02", "FS-03", "FS-06", "MAC-01", "MAC-02", "MAC-03", "NET-01"}, r.Requirement) && r.Level == report.Enforced {
				t.Errorf("%s is said to be enforced", r.Requirement)
			}
		}
	}
}

func TestPermissiveAllowsByName(t *testing.T) { // MAC-02
	p := profileOf(t, bound(t, "darwin", policy.Permissive, nil))
	for _, op := range []string{"file-write-create", "file-read-data", "process-exec*", "signal", "network-outbound", "mach-lookup", "process-fork"} {
		if !answer(t, p, sbpl.Request{Op: op, Path: "/etc/x", Name: "x", Proto: "tcp"}) {
			t.Errorf("%s is denied", op)
		}
	}
}

func TestServices(t *testing.T) {
	lookup := func(name string, edit func(*policy.Policy)) bool {
		return answer(t, profileOf(t, bound(t, "darwin", policy.Compat, edit)), sbpl.Request{Op: "mach-lookup", Name: name})
	}
	on := func(p *policy.Policy) { p.Network.Mode = policy.NetworkOn }
	for _, c := range []struct {
		name, group  string
		unasked, net bool
	}{
		{"com.apple.system.opendirectoryd.libinfo", "directory", true, true},
		{"com.apple.logd", "logging", true, true},
		{"com.apple.dnssd.service", "dns", false, true},
		{"com.apple.SystemConfiguration.configd", "configd", false, true},
		{"com.apple.trustd.agent", "trust", false, true},
		{"com.apple.cfprefsd.agent", "preferences", false, false},
		{"com.apple.SecurityServer", "keychain", false, false},
		{"com.apple.coreservices.launchservicesd", "launchservices", false, false},
		{"com.apple.pasteboard.1", "pasteboard", false, false},
		{"com.apple.CoreSimulator.CoreSimulatorService", "simulator", false, false},
	} {
		if got := lookup(c.name, nil); got != c.unasked {
			t.Errorf("%s unasked: %v", c.name, got)
		}
		if got := lookup(c.name, on); got != c.net {
			t.Errorf("%s with the network on: %v", c.name, got)
		}
		if !lookup(c.name, func(p *policy.Policy) { p.Macos.Services = []string{c.group} }) {
			t.Errorf("%s is not had by naming %s", c.name, c.group)
		}
	}
	s := bound(t, "darwin", policy.Compat, func(p *policy.Policy) { p.Macos.Services = []string{"everything"} })
	if _, err := (seatbelt.Backend{}).Compile(s, backend.Support{Available: true}); fault.CodeOf(err) != fault.PolicyInvalid {
		t.Errorf("a group that there is not: %v", err)
	}
}

func TestEveryRuleHasAReason(t *testing.T) {
	for _, sit := range situations {
		p, err := seatbelt.ProfileOf(bound(t, "darwin", sit.mode, sit.edit))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Rules {
			if r.Why == "" || r.Origin == "" {
				text, _ := r.Text()
				t.Errorf("%s: why %q, origin %q: %s", sit.name, r.Why, r.Origin, text)
			}
		}
	}
}

func TestNameThatCannotBeWritten(t *testing.T) { // MAC-04
	s := bound(t, "darwin", policy.Compat, nil)
	s.Rules = append(s.Rules, spec.Rule{Path: "/home/dev/ws/\xff", Access: spec.Deny, Kind: spec.File})
	_, err := seatbelt.Backend{}.Compile(s, backend.Support{Available: true})
	if fault.CodeOf(err) != fault.PolicyUnenforceable {
		t.Errorf("%v", err)
	}
}

func TestProbe(t *testing.T) { // POL-07
	mac := hostOf("darwin")
	mac.Kernel = func() host.Kernel { return host.Kernel{Release: "25.0.0"} }
	program := host.Info{Mode: 0o755}
	mac.Stat = func(string) (host.Info, error) { return program, nil }
	try := func(err error) seatbelt.Backend {
		return seatbelt.Backend{Trial: backend.Trial{
			Try:  func(context.Context, *plan.Plan) error { return err },
			Firm: func(err error) bool { return errors.Is(err, fs.ErrPermission) },
		}}
	}
	ctx := context.Background()
	if s, err := try(nil).Probe(ctx, mac); err != nil || !s.Available || s.Path != seatbelt.Program {
		t.Errorf("%+v %v", s, err)
	}
	if s, err := try(fs.ErrPermission).Probe(ctx, mac); err != nil || s.Available || s.Remedy == "" {
		t.Errorf("in a sandbox already: %+v %v", s, err)
	}
	if _, err := try(errors.New("no processes left")).Probe(ctx, mac); err == nil {
		t.Error("a shortage was taken for a no")
	}
	if _, err := (seatbelt.Backend{}).Probe(ctx, mac); err == nil {
		t.Error("nobody tried, and it was an answer")
	}
	program.UID = 501
	if s, err := try(nil).Probe(ctx, mac); err != nil || s.Available {
		t.Errorf("a program of somebody else: %+v %v", s, err)
	}
	program = host.Info{Mode: 0o777}
	if s, ok := try(nil).Assume(mac); ok {
		t.Errorf("a program that anybody can change: %+v", s)
	}
	mac.Stat = func(string) (host.Info, error) { return host.Info{}, fs.ErrNotExist }
	if s, err := try(nil).Probe(ctx, mac); err != nil || s.Available {
		t.Errorf("no program: %+v %v", s, err)
	}
	if s, err := try(nil).Probe(ctx, hostOf("linux")); err != nil || s.Available || s.Reason == "" {
		t.Errorf("on Linux: %+v %v", s, err)
	}
}

func TestJudgeAnswersForTheProfile(t *testing.T) { // POL-14
	s := bound(t, "darwin", policy.Compat, nil)
	for _, c := range []struct {
		q    spec.Query
		want bool
		rule string
	}{
		{spec.Query{Op: spec.OpRead, Path: "/home/dev/.ssh/id_rsa"}, false, "(deny"},
		{spec.Query{Op: spec.OpRead, Path: "/etc/passwd"}, true, "(allow file-read*)"},
		{spec.Query{Op: spec.OpWrite, Path: "/home/dev/ws/x"}, true, "(allow"},
		{spec.Query{Op: spec.OpWrite, Path: "/etc/x"}, false, "(deny default)"},
		{spec.Query{Op: spec.OpConnect, Host: "[::1]:80"}, false, "(deny default)"},
	} {
		v, err := seatbelt.Backend{}.Judge(s, c.q)
		if err != nil || v.Allowed != c.want || !strings.HasPrefix(v.Rule, c.rule) {
			t.Errorf("%+v: %+v %v", c.q, v, err)
		}
	}
}
