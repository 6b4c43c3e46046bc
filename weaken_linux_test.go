package qsandbox_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/conformance"
	"github.com/qiming-sandbox/qsandbox/conformance/cell/celltest"
	"github.com/qiming-sandbox/qsandbox/conformance/probe"
	"github.com/qiming-sandbox/qsandbox/conformance/results"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/seccomp"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
)

// TestMain lets the test binary be the probe of cases.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		os.Exit(probe.Main(os.Args[2:], os.Stdout, os.Stderr))
	}
	if os.Getenv(conformance.WorkerEnv) != "" {
		os.Unsetenv(conformance.WorkerEnv)
		if err := conformance.Work(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// weakening is a fault that a change could bring into a plan, with a case that must
// notice it.
type weakening struct {
	name string
	do   func(*plan.Plan)
	must string // the case; it passes without the weakening
	says string // how it fails; "" is notDenied, as a twin that is broken notices nothing
}

const notDenied = "NOT DENIED: the attempt worked inside"

// notices tells whether a record is the failure that a weakening must bring, and not
// another that shows nothing of the protection.
func (w weakening) notices(r results.Record) bool {
	_, notes, _ := strings.Cut(r.Notes, ": ") // "as root: "
	return r.Status == results.Fail && notes == cmp.Or(w.says, notDenied)
}

// without drops mounts.
func without(p *plan.Plan, match func(m plan.Mount) bool) {
	p.Mounts = slices.DeleteFunc(p.Mounts, match)
}

func at(dst string) func(plan.Mount) bool { return func(m plan.Mount) bool { return m.Dst == dst } }

// show binds a path of the host where the sandbox has its own.
func show(p *plan.Plan, dst string, readOnly bool) {
	var st unix.Stat_t
	if unix.Stat(dst, &st) != nil {
		return
	}
	m := plan.Mount{Kind: plan.Bind, Src: dst, Dst: dst, ID: spec.ID{Dev: uint64(st.Dev), Ino: st.Ino}, Dir: st.Mode&unix.S_IFMT == unix.S_IFDIR, ReadOnly: readOnly, Origin: "weakened"}
	if i := slices.IndexFunc(p.Mounts, at(dst)); i >= 0 {
		p.Mounts[i] = m
		return
	}
	p.Mounts = append(p.Mounts, m)
}

// outOf gives the place beside the workspace.
func outOf(p *plan.Plan) string {
	for _, kv := range p.Env {
		if v, ok := strings.CutPrefix(kv, "OUT="); ok {
			return v
		}
	}
	return "/nonexistent"
}

func homeOf(p *plan.Plan) string { return filepath.Dir(outOf(p)) + "/../home" }

var weakenings = []weakening{
	{"no network namespace", func(p *plan.Plan) { p.Isolation.Net = false }, "LX-NET-01", ""},
	{"the directory above is writable", func(p *plan.Plan) { p.Landlock = nil; show(p, filepath.Dir(outOf(p)), false) }, "LX-WRITE-16", ""},
	{"a second writable place", func(p *plan.Plan) { p.Landlock = nil; show(p, outOf(p), false) }, "LX-WRITE-02", ""},
	{"a writable home", func(p *plan.Plan) { p.Landlock = nil; show(p, filepath.Clean(homeOf(p)), false) }, "LX-WRITE-26", ""},
	{"no filter", func(p *plan.Plan) { p.Seccomp = nil }, "LX-ESC-LOAD-03", ""},
	{"no filter, keys", func(p *plan.Plan) { p.Seccomp = nil }, "LX-ESC-KEY-03", ""},
	{"no filter, pages of code", func(p *plan.Plan) { p.Seccomp = nil }, "LX-ESC-LOAD-10", ""},
	{"no filter, terminals", func(p *plan.Plan) { p.Seccomp = nil }, "LX-ESC-IOCTL-06", ""},
	{"the filter of nested sandboxes", nested, "LX-ESC-NS-02", ""},
	{"the host's /proc", func(p *plan.Plan) { p.Landlock = nil; show(p, "/proc", true) }, "LX-NS-01", ""},
	{"the host's /dev", func(p *plan.Plan) {
		p.Landlock = nil
		without(p, at("/dev/shm"))
		show(p, "/dev", true)
		p.Stdin = spec.StdinPipe // no device can be opened there
	}, "LX-DEV-01", ""},
	{"the host's /tmp", func(p *plan.Plan) { without(p, at("/tmp")) }, "LX-WRITE-22", ""},
	{"the host's /var/tmp", func(p *plan.Plan) { without(p, at("/var/tmp")) }, "LX-WRITE-23", ""},
	{"no uts namespace", func(p *plan.Plan) { p.Isolation.UTS = false }, "LX-NS-03", ""},
	{"no ipc namespace", func(p *plan.Plan) { p.Isolation.IPC = false }, "LX-NS-03", ""},
	{"a variable that leaks", func(p *plan.Plan) { p.Env = append(p.Env, "HOST_SECRET="+os.Getenv("HOST_SECRET")) }, "LX-ENV-01", ""},
	{"a key that leaks", func(p *plan.Plan) { p.Env = append(p.Env, "ANTHROPIC_API_KEY="+os.Getenv("ANTHROPIC_API_KEY")) }, "ENV-01", ""},
	{"a loader hook", func(p *plan.Plan) { p.Env = append(p.Env, "NODE_OPTIONS=--x") }, "LX-ENV-03", ""},
	{"no TMPDIR", func(p *plan.Plan) {
		p.Env = slices.DeleteFunc(p.Env, func(s string) bool { return strings.HasPrefix(s, "TMPDIR=") })
	}, "LX-ENV-07", "the command should work, and gave 1"},
	{"a hidden file shown", func(p *plan.Plan) { without(p, func(m plan.Mount) bool { return m.Kind == plan.HideFile }) }, "LX-HIDE-01", ""},
	{"a hidden directory shown", func(p *plan.Plan) {
		without(p, func(m plan.Mount) bool { return m.Kind == plan.HideDir && strings.HasSuffix(m.Dst, "/sub") })
	}, "LX-HIDE-07", ""},
	{"credentials shown", func(p *plan.Plan) {
		without(p, func(m plan.Mount) bool { return strings.HasPrefix(m.Origin, "credential") })
	}, "LX-HIDE-12", ""},
	{"caches of other workspaces shown", func(p *plan.Plan) {
		without(p, func(m plan.Mount) bool {
			return strings.Contains(m.Origin, "caches of other") || m.Kind == plan.Seal && strings.Contains(m.Dst, ".cache")
		})
	}, "LX-ENV-05", ""},
	{"the launcher's records shown", func(p *plan.Plan) {
		without(p, func(m plan.Mount) bool { return strings.Contains(m.Origin, "records of the launcher") })
	}, "LX-HIDE-16", ""},
	{"a read-only rule lost", func(p *plan.Plan) {
		p.Landlock = nil
		without(p, func(m plan.Mount) bool { return m.ReadOnly && strings.HasSuffix(m.Dst, "/sub") })
	}, "LX-RULE-06", ""},
	{"git's files not protected", func(p *plan.Plan) {
		p.Landlock = nil
		without(p, func(m plan.Mount) bool { return strings.Contains(m.Dst, "/.git") })
	}, "LX-GIT-01", ""},
	{"editor settings not protected", func(p *plan.Plan) {
		p.Landlock = nil
		without(p, func(m plan.Mount) bool { return strings.Contains(m.Dst, "/.vscode") })
	}, "LX-GIT-05", ""},
	{"a socket of the host not covered", func(p *plan.Plan) {
		without(p, func(m plan.Mount) bool { return strings.HasSuffix(m.Dst, "/host.sock") })
	}, "LX-SOCK-01", ""},
	{"no Landlock: abstract sockets", func(p *plan.Plan) { p.Landlock = nil }, "LX-SOCK-04", ""},
	{"no Landlock: a FIFO of the host", func(p *plan.Plan) { p.Landlock = nil }, "LX-WRITE-39", ""},
	{"no time limit", func(p *plan.Plan) { p.Limits.Timeout = 0 }, "LX-LIMIT-03", "it did not end within 5s"},
	{"no size of /tmp", func(p *plan.Plan) {
		for i := range p.Mounts {
			p.Mounts[i].Size = 0
		}
	}, "LX-LIMIT-06", ""},
	{"another directory to start in", func(p *plan.Plan) { p.Cwd = filepath.Dir(p.Cwd) }, "LX-PATH-12", "the command should work, and gave 1"},
	{"another command", func(p *plan.Plan) { p.Exe, p.Argv = "/bin/true", []string{"true"} }, "LX-EXIT-03", "it ended with code 0 signal \"\", wanted code 42 signal \"\""},
}

func nested(p *plan.Plan) {
	prog, err := seccomp.Compile(seccomp.Options{Arch: "amd64", Nested: true})
	if err == nil {
		p.Seccomp, p.Landlock = prog.Bytes(), nil
	}
}

// cases gives the embedded cases with one of the ids.
func cases(t *testing.T, ids ...string) []*conformance.Case {
	t.Helper()
	all, err := conformance.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(c *conformance.Case) bool { return !slices.Contains(ids, c.ID) })
}

func verified(t *testing.T, list []*conformance.Case) map[string]results.Record {
	t.Helper()
	who := conformance.AsUser
	if os.Geteuid() == 0 {
		who = conformance.AsRoot
	}
	rep, err := conformance.Verify(t.Context(), conformance.Options{Cases: list, Backends: []string{"linux-native"}, Modes: []string{"compat"}, As: []conformance.Identity{who}})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]results.Record{}
	for _, r := range rep.Records {
		out[r.CaseID] = r
	}
	return out
}

// TestWeakeningsAreNoticed weakens the plan in one way after another; each time the
// case that stands for the protection must fail, and without it pass (CNF-03). All
// of it happens in a throw-away environment: a weakened plan lets things through.
func TestWeakeningsAreNoticed(t *testing.T) {
	if !celltest.Inside(t) {
		return
	}
	keepEnvironment(t)
	var ids []string
	for _, w := range weakenings {
		ids = append(ids, w.must)
	}
	sound := verified(t, cases(t, ids...))
	caught, untried := 0, 0
	for _, w := range weakenings {
		t.Run(w.name, func(t *testing.T) {
			switch r := sound[w.must]; r.Status {
			case results.Skip:
				untried++
				t.Skipf("%s cannot be tried here: %s", w.must, cmp.Or(r.Notes, "NO REASON"))
			case results.Pass:
			default:
				t.Fatalf("%s does not pass without the weakening: %s %s", w.must, cmp.Or(r.Status, "nothing"), r.Notes)
			}
			r := verifiedWeak(t, w.do, w.must)
			if !w.notices(r) {
				t.Fatalf("SURVIVED: %s says %s (%s), wanted a failure that says %q", w.must, cmp.Or(r.Status, "nothing"), r.Notes, cmp.Or(w.says, notDenied))
			}
			caught++
		})
	}
	if caught+untried != len(weakenings) || untried > len(weakenings)/4 {
		t.Errorf("%d of %d weakenings were noticed, %d could not be tried", caught, len(weakenings), untried)
	}
	t.Logf("%d of %d weakenings were noticed, %d could not be tried", caught, len(weakenings), untried)
}

// verifiedWeak runs a case with a weakened plan. The weakening must have been asked for.
func verifiedWeak(t *testing.T, do func(*plan.Plan), id string) results.Record {
	t.Helper()
	var plans atomic.Int32
	defer qsandbox.Weaken(func(p *plan.Plan) { plans.Add(1); do(p) })()
	r := verified(t, cases(t, id))[id]
	if plans.Load() == 0 {
		t.Errorf("no plan of %s was weakened", id)
	}
	return r
}

// TestNoticing: other outcomes than the failure that a weakening must bring are none.
func TestNoticing(t *testing.T) {
	denied, works := weakening{}, weakening{says: "it ended with code 0"}
	for _, c := range []struct {
		w      weakening
		status results.Status
		notes  string
		want   bool
	}{
		{denied, results.Fail, notDenied, true},
		{denied, results.Pass, "", false},
		{denied, results.Invalid, notDenied, false},
		{denied, results.KnownLimit, "limit (" + notDenied + ")", false},
		{denied, results.Skip, "not here", false},
		{denied, "", "", false},
		{denied, results.Fail, "the twin, which should work inside, does not", false},
		{denied, results.Fail, "the sandbox could not be had: " + notDenied, false},
		{works, results.Fail, "it ended with code 0", true},
		{works, results.Fail, notDenied, false},
	} {
		if got := c.w.notices(results.Record{Status: c.status, Notes: "as root: " + c.notes}); got != c.want {
			t.Errorf("%s %q: %v", c.status, c.notes, got)
		}
	}
}

// TestWeakeningsOfTheOwnPolicyAreNoticed does the same with the cases about the policy
// that this account would use, in a home of decoys.
func TestWeakeningsOfTheOwnPolicyAreNoticed(t *testing.T) {
	if !celltest.Inside(t) {
		return
	}
	home, err := os.MkdirTemp("/var/lib", "qsandbox-own-") // /tmp is another one inside
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	for _, name := range []string{".ssh/id_ed25519", ".docker/ca.pem", ".profile"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755), os.WriteFile(filepath.Join(home, name), []byte("decoy\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	own := func() map[string]results.Record {
		t.Helper()
		keepEnvironment(t)
		t.Setenv("HOME", home)
		t.Setenv("QSANDBOX_STORE", filepath.Join(home, "none.db"))
		rep, err := conformance.Verify(t.Context(), conformance.Options{Cases: cases(t, "USER-01", "USER-02", "USER-03", "USER-04")})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]results.Record{}
		for _, r := range rep.Records {
			out[r.CaseID] = r
		}
		return out
	}
	for id, r := range own() {
		if r.Status != results.Pass || r.Mode != "compat" {
			t.Fatalf("%s does not pass without a weakening: %+v", id, r)
		}
	}
	for _, w := range []struct {
		name, must, says string
		do               func(*plan.Plan)
	}{
		{"credentials shown", "USER-02", "read ~/.ssh", func(p *plan.Plan) {
			without(p, func(m plan.Mount) bool { return strings.HasPrefix(m.Origin, "credential") })
		}},
		{"a file of a pattern shown", "USER-02", "NOT DENIED: read ~/.docker/ca.pem", func(p *plan.Plan) {
			without(p, func(m plan.Mount) bool { return strings.HasSuffix(m.Dst, "/ca.pem") })
		}},
		{"a writable home", "USER-03", "write ~", func(p *plan.Plan) { p.Landlock = nil; show(p, home, false) }},
		{"the workspace is not writable", "USER-04", "own.txt", func(p *plan.Plan) {
			for i := range p.Mounts {
				if strings.HasSuffix(p.Mounts[i].Dst, "/own/ws") {
					p.Mounts[i].ReadOnly = true
				}
			}
		}},
	} {
		t.Run(w.name, func(t *testing.T) {
			defer qsandbox.Weaken(w.do)()
			if r := own()[w.must]; r.Status != results.Fail || !strings.Contains(r.Notes, w.says) {
				t.Errorf("SURVIVED: %+v", r)
			}
		})
	}
}

// keepEnvironment: verify puts decoys into the environment of its process.
func keepEnvironment(t *testing.T) {
	t.Helper()
	for _, k := range []string{"HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "QSANDBOX_STORE", "HOST_SECRET", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN"} {
		if v, ok := os.LookupEnv(k); ok {
			t.Setenv(k, v)
		} else {
			t.Setenv(k, "")
			os.Unsetenv(k)
		}
	}
}

var assignment = regexp.MustCompile(`(?m)^\s*alter\s*=`)

// TestNothingWeakensInAProgram: only a test file may set the seam.
func TestNothingWeakensInAProgram(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatal("no sources", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f, "_test.go") && assignment.Match(data) {
			t.Errorf("%s sets alter", f)
		}
	}
}
