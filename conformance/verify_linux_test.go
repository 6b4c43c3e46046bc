package conformance

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/conformance/cell/celltest"
	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// selected gives embedded cases by id.
func selected(t *testing.T, match func(*Case) bool) []*Case {
	t.Helper()
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(c *Case) bool { return !match(c) })
}

func ids(list ...string) func(*Case) bool {
	return func(c *Case) bool { return slices.Contains(list, c.ID) }
}

// keepEnvironment: verify puts decoys into the environment of its process.
func keepEnvironment(t *testing.T) {
	t.Helper()
	for _, k := range append([]string{"HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "QSANDBOX_STORE", wordEnv}, planted...) {
		v, ok := os.LookupEnv(k)
		t.Setenv(k, v)
		if !ok {
			os.Unsetenv(k)
		}
	}
}

func verified(t *testing.T, o Options) *results.Report {
	t.Helper()
	keepEnvironment(t)
	r, err := Verify(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func myself() []Identity {
	if os.Geteuid() == 0 {
		return []Identity{AsRoot}
	}
	return []Identity{AsUser}
}

// need skips when a backend cannot be had; QSANDBOX_REQUIRE makes that a failure.
func need(t *testing.T, backend string) {
	t.Helper()
	d, err := qsandbox.Doctor(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range d.Backends {
		if b.Name == backend && b.Answer != qsandbox.AnswerYes {
			if slices.Contains(strings.Split(os.Getenv("QSANDBOX_REQUIRE"), ","), backend) {
				t.Fatalf("%s is required here: %s", backend, b.Reason)
			}
			t.Skipf("%s: %s", backend, b.Reason)
		}
	}
}

// TestVerify runs a few cases of each kind on both backends, as both identities.
func TestVerify(t *testing.T) {
	need(t, "linux-native")
	need(t, "linux-bwrap")
	r := verified(t, Options{Cases: selected(t, ids("LX-WRITE-01", "LX-HIDE-01", "LX-NET-01", "LX-EXIT-03", "LX-EXIT-06", "LX-PATH-01", "LX-TERM-01", "LX-ENV-01", "FB-01", "FB-03", "LX-MODE-01", "WN-01", "MC-01")), Version: "test"})
	for _, rec := range r.Records {
		want := results.Pass
		if rec.CaseID == "WN-01" || rec.CaseID == "MC-01" {
			want = results.Skip
		}
		if rec.Status != want {
			t.Errorf("%s %s %s: %s (%s)", rec.CaseID, rec.Backend, rec.Mode, rec.Status, rec.Notes)
		}
		if want == results.Skip && rec.Notes == "" {
			t.Errorf("%s is skipped without a reason", rec.CaseID)
		}
	}
	if len(r.Degradations) == 0 || !r.Degradations[0].Event || len(r.Permissive) == 0 || !r.Permissive[0].Warned {
		t.Errorf("degradations %v, permissive %v", r.Degradations, r.Permissive)
	}
	if code := results.GateExit(r.Gates()); code != 0 {
		t.Errorf("gates: %+v", r.Gates())
	}
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := results.Read("own", data); err != nil {
		t.Errorf("what was written cannot be read: %v", err)
	}
	if os.Geteuid() == 0 {
		for _, e := range r.Evidence {
			if e.CaseID == "LX-WRITE-01" && len(e.Runs) != 2 {
				t.Errorf("as root, a case runs as root and as a user: %d runs", len(e.Runs))
			}
		}
	}
}

// TestNoSandboxFailsEveryDenyCase gives the harness a sandbox that is none: no deny
// case may pass. It runs in cells. QSANDBOX_LONG=1 takes every case, else every third.
func TestNoSandboxFailsEveryDenyCase(t *testing.T) {
	every, n := 3, 0
	if os.Getenv("QSANDBOX_LONG") != "" {
		every = 1
	}
	list := selected(t, func(c *Case) bool {
		if n++; n%every != 0 {
			return false
		}
		return slices.Contains(c.Platforms, "linux") && c.Want == Denied && c.Skip == "" && c.Severity == Critical && !strings.Contains(c.ID, "-SIG-")
	})
	r := verified(t, Options{Cases: list, Template: "env {command}", As: []Identity{AsUser}, Modes: []string{"compat"}})
	failed := 0
	for _, rec := range r.Records {
		switch {
		case rec.Status == results.Fail && slices.Contains([]string{"NOT DENIED: the attempt worked inside", "the attempt was refused, and yet it had its effect outside"}, said(rec)):
			failed++
		case rec.Status == results.KnownLimit && strings.HasSuffix(said(rec), "(NOT DENIED: the attempt worked inside)"):
			failed++
		case rec.Status == results.Skip && said(rec) != "":
		default: // a failure of the twin, or an invalid control, shows nothing
			t.Errorf("without any sandbox %s says %s (%s)", rec.CaseID, rec.Status, rec.Notes)
		}
	}
	if failed < 60/every {
		t.Errorf("only %d cases were tried", failed)
	}
	t.Logf("%d of %d deny cases fail without a sandbox", failed, len(r.Records))
}

// said gives a record's notes without the identity.
func said(r results.Record) string {
	who, notes, ok := strings.Cut(r.Notes, ": ")
	if !ok || !strings.HasPrefix(who, "as ") {
		return r.Notes
	}
	return notes
}

// weak is a sandbox of ours with a fault that no plan can have.
type weak struct {
	product
	before, after func(call)
	instead       func(context.Context, call) (inside, bool)
}

func (w weak) run(ctx context.Context, k call) inside {
	if w.before != nil {
		w.before(k)
	}
	if w.instead != nil {
		if in, ok := w.instead(ctx, k); ok {
			return in
		}
	}
	in := w.product.run(ctx, k)
	if w.after != nil {
		w.after(k)
	}
	return in
}

// TestFaultsBesideThePlanAreNoticed: what a launcher or a backend could do wrong.
func TestFaultsBesideThePlanAreNoticed(t *testing.T) {
	if !celltest.Inside(t) {
		return
	}
	need(t, "linux-native")
	for name, w := range map[string]struct {
		box  weak
		must string
		says string // the beginning of how it fails
	}{
		"a surviving daemon": {weak{after: func(k call) {
			cmd := exec.Command("sh", "-c", "sleep 9; :", "TAG-"+k.p.u)
			_ = cmd.Start()
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		}}, "LX-LIMIT-01", "afterwards"},
		"a file left in the workspace": {weak{after: func(k call) { _ = os.WriteFile(filepath.Join(k.p.ws, ".placeholder"), nil, 0o644) }}, "LX-GIT-10", "afterwards"},
		"a file left outside":          {weak{after: func(k call) { _ = os.WriteFile(filepath.Join(k.p.out, "left"), nil, 0o644) }}, "LX-WRITE-02", "outside:"},
		"a protected name left":        {weak{after: func(k call) { _ = os.WriteFile(filepath.Join(k.p.ws, ".mcp.json"), nil, 0o644) }}, "LX-ESC-SHELL-03", "the attempt was refused, and yet"},
		"an inherited descriptor":      {weak{instead: bare}, "LX-FD-01", "NOT DENIED"},
		"an unwrapped command":         {weak{instead: bare}, "LX-WRITE-01", "NOT DENIED"},
		"a wrong exit code": {weak{instead: func(ctx context.Context, k call) (inside, bool) {
			return inside{code: 0, backend: k.backend}, true
		}}, "LX-EXIT-02", "it ended with code 0"},
		"a silent fallback": {weak{instead: func(ctx context.Context, k call) (inside, bool) {
			return inside{code: 0, backend: "none", degraded: true}, true
		}}, "FB-01", "the event sandbox:unavailable did not come"},
		"no warning": {weak{instead: func(ctx context.Context, k call) (inside, bool) {
			in := k.runProduct(ctx)
			in.events = nil
			return in, true
		}}, "LX-MODE-01", "the event permissive:used did not come"},
	} {
		t.Run(name, func(t *testing.T) {
			r := verified(t, Options{Cases: selected(t, ids(w.must)), As: myself(), box: w.box, Backends: []string{"linux-native", "policy"}})
			if len(r.Records) == 0 {
				t.Fatal("INVALID: nothing was run")
			}
			for _, rec := range r.Records {
				if rec.Status != results.Fail || !strings.HasPrefix(said(rec), w.says) {
					t.Errorf("SURVIVED: %s %s says %s (%s), wanted a failure that says %q", rec.CaseID, rec.Mode, rec.Status, rec.Notes, w.says)
				}
			}
		})
	}
}

func (k call) runProduct(ctx context.Context) inside { return product{}.run(ctx, k) }

func bare(ctx context.Context, k call) (inside, bool) {
	tr := k.p.outsideArgv(ctx, k.argv, "", k.limit)
	return inside{code: tr.exit, out: tr.out, backend: k.backend}, true
}

// TestInvalidIsNoPass: a control that does not work makes a case invalid, and the gate fails.
func TestInvalidIsNoPass(t *testing.T) {
	need(t, "linux-native")
	text := strings.Replace(sound, `echo "a: b"`, "false", 1)
	c, err := Parse("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	noEffect, err := Parse("x", []byte(strings.Replace(sound, "LX-X-01", "LX-X-02", 1)+"-- effect --\nfalse\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := verified(t, Options{Cases: []*Case{c, noEffect}, As: myself(), Backends: []string{"linux-native"}})
	why := map[string]string{"LX-X-01": "without the sandbox the attempt does not work: it shows nothing", "LX-X-02": "without the sandbox the attempt has no effect that can be seen"}
	seen := map[string]bool{}
	for _, rec := range r.Records {
		seen[rec.CaseID] = true
		if rec.Status != results.Invalid || said(rec) != why[rec.CaseID] {
			t.Errorf("%s: %s (%s)", rec.CaseID, rec.Status, rec.Notes)
		}
	}
	if len(seen) != 2 {
		t.Errorf("records of %v", seen)
	}
	if code := results.GateExit(r.Gates()); code == 0 {
		t.Error("the gates hold")
	}
}

// TestNothingIsLeft: the throw-away place is gone.
func TestNothingIsLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, Options{Cases: selected(t, ids("LX-EXIT-01")), As: myself(), Dir: dir}); r.Summary.Pass == 0 || r.Summary.Fail+r.Summary.Invalid > 0 {
		t.Errorf("%+v", r.Summary)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
}
