package seatbelt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend/seatbelt"
	"github.com/qiming-sandbox/qsandbox/internal/sbpl"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// expectation is a request with the answer that every profile of the policy below
// must give, beside the table of verdicts.
type expectation struct {
	sbpl.Request
	want bool
}

func target(who string) map[string][]string { return map[string][]string{"target": {who}} }

var run, tmp = seatbelt.StandIns[seatbelt.ParamRun], seatbelt.StandIns[seatbelt.ParamTmp]

var expectations = []expectation{
	{sbpl.Request{Op: "process-fork"}, true},
	{sbpl.Request{Op: "signal", Words: target("self")}, true}, {sbpl.Request{Op: "signal", Words: target("children")}, true}, {sbpl.Request{Op: "signal", Words: target("others")}, false},
	{sbpl.Request{Op: "process-info-pidinfo", Words: target("same-sandbox")}, true}, {sbpl.Request{Op: "process-info-pidinfo", Words: target("others")}, false}, {sbpl.Request{Op: "process-info-listpids"}, false},
	{sbpl.Request{Op: "sysctl-read", Name: "hw.ncpu"}, true}, {sbpl.Request{Op: "sysctl-read", Name: "kern.procargs2"}, false}, {sbpl.Request{Op: "sysctl-read", Name: "kern.procargs2.77"}, false}, {sbpl.Request{Op: "sysctl-write", Name: "kern.x"}, false},
	{sbpl.Request{Op: "ipc-posix-sem-create", Name: "/mp-x"}, true}, {sbpl.Request{Op: "ipc-posix-shm-read-data", Name: "/psm_1"}, true}, {sbpl.Request{Op: "ipc-posix-shm-read-data", Name: "other"}, false},
	{sbpl.Request{Op: "mach-lookup", Name: "com.apple.system.opendirectoryd.libinfo"}, true}, {sbpl.Request{Op: "mach-lookup", Name: "com.apple.SecurityServer"}, false},
	{sbpl.Request{Op: "mach-lookup", Name: "com.apple.coreservices.launchservicesd"}, false}, {sbpl.Request{Op: "mach-lookup", Name: "com.apple.dnssd.service"}, false}, {sbpl.Request{Op: "mach-register", Name: "x"}, false},
	{sbpl.Request{Op: "lsopen"}, false}, {sbpl.Request{Op: "appleevent-send", Name: "com.apple.Terminal"}, false}, {sbpl.Request{Op: "job-creation"}, false}, {sbpl.Request{Op: "iokit-open", Name: "x"}, false},
	{sbpl.Request{Op: "user-preference-read", Name: "x"}, false}, {sbpl.Request{Op: "authorization-right-obtain", Name: "x"}, false}, {sbpl.Request{Op: "system-privilege"}, false}, {sbpl.Request{Op: "mach-task-name"}, false},
	{sbpl.Request{Op: "network-outbound", Proto: "tcp", Port: 443}, false}, {sbpl.Request{Op: "network-outbound", Proto: "udp", Port: 53, Loopback: true}, false}, {sbpl.Request{Op: "network-bind", Proto: "tcp", Port: 8080}, false},
	{sbpl.Request{Op: "network-inbound", Proto: "tcp", Port: 8080}, false}, {sbpl.Request{Op: "network-outbound", Proto: "unix", Path: "/private/var/run/mDNSResponder"}, false}, {sbpl.Request{Op: "network-outbound", Proto: "unix", Path: tmp + "/s"}, true},
	{sbpl.Request{Op: "network-bind", Proto: "unix", Path: tmp + "/s"}, true}, {sbpl.Request{Op: "system-socket", Words: map[string][]string{"socket-domain": {"AF_UNIX"}}}, true}, {sbpl.Request{Op: "system-socket", Words: map[string][]string{"socket-domain": {"AF_SYSTEM"}}}, false},
	{sbpl.Request{Op: "file-read-data", Path: run + "/profile.sb"}, false}, {sbpl.Request{Op: "file-write-data", Path: run + "/profile.sb"}, false}, {sbpl.Request{Op: "file-write-create", Path: tmp + "/x"}, true}, {sbpl.Request{Op: "file-write-unlink", Path: tmp}, false},
	{sbpl.Request{Op: "file-write-data", Path: "/dev/null"}, true}, {sbpl.Request{Op: "file-write-data", Path: "/dev/dtracehelper"}, true}, {sbpl.Request{Op: "file-write-data", Path: "/dev/urandom"}, true}, {sbpl.Request{Op: "file-write-data", Path: "/dev/disk0"}, false},
	{sbpl.Request{Op: "file-write-data", Path: "/dev/ttys999"}, true}, {sbpl.Request{Op: "file-read-data", Path: "/dev/ttys001"}, false}, {sbpl.Request{Op: "file-write-data", Path: "/dev/ttys001"}, false}, {sbpl.Request{Op: "file-ioctl", Path: "/dev/ttys001"}, false}, {sbpl.Request{Op: "pseudo-tty"}, true},
	{sbpl.Request{Op: "file-write-unlink", Path: "/home/dev/ws/.git"}, false}, {sbpl.Request{Op: "file-write-unlink", Path: "/home/dev/ws/sub"}, false}, {sbpl.Request{Op: "file-write-unlink", Path: "/home/dev/ws"}, false},
	{sbpl.Request{Op: "file-write-unlink", Path: "/home/dev/ws/pkg"}, false}, {sbpl.Request{Op: "file-write-unlink", Path: "/home/dev/.cache/qsandbox/home+dev+ws"}, false}, {sbpl.Request{Op: "file-write-unlink", Path: "/home/dev/ws/a.txt"}, true},
	{sbpl.Request{Op: "file-read-data", Path: "/home/dev/ws/.ENV"}, false}, {sbpl.Request{Op: "file-write-create", Path: "/home/dev/ws/.VSCODE/tasks.json"}, false}, {sbpl.Request{Op: "file-read-data", Path: "/home/dev/.SSH/id_rsa"}, false},
	{sbpl.Request{Op: "process-exec", Path: "/home/dev/other/tool"}, false}, {sbpl.Request{Op: "process-exec", Path: "/usr/bin/env"}, true}, {sbpl.Request{Op: "file-mount", Path: "/home/dev/ws"}, false}, {sbpl.Request{Op: "file-chroot", Path: "/"}, false},
}

// broken gives the first thing that a profile says otherwise than it should.
func broken(t testing.TB, p *sbpl.Profile, s *spec.Spec) (what string) {
	t.Helper()
	for _, e := range expectations {
		if answer(t, p, e.Request) != e.want {
			return e.Op + " " + e.Path + e.Name + e.Proto
		}
	}
	for _, path := range append(slices.Clone(targets), fresh...) {
		for _, op := range []spec.Op{spec.OpRead, spec.OpWrite, spec.OpExec} {
			q := spec.Query{Op: op, Path: path}
			v, err := seatbelt.JudgeProfile(p, q)
			if err != nil {
				t.Fatal(err)
			}
			want := spec.Decide(s, q).Allowed && !(op == spec.OpWrite && slices.Contains(fresh, path))
			if v.Allowed != want {
				return string(op) + " " + path
			}
		}
	}
	return ""
}

func strictest(t testing.TB) *spec.Spec {
	return bound(t, "darwin", policy.Compat, func(p *policy.Policy) {
		p.Filesystem.DenyRead = []string{"**/.env", "own.key", "sub/deep"}
		p.Filesystem.DenyWrite = []string{"vendor", "**/*.lock"}
	})
}

// plus gives a profile with more at its end.
func plus(p *sbpl.Profile, t testing.TB, text string) *sbpl.Profile {
	t.Helper()
	more, err := sbpl.Parse("(version 1)(deny default)"+text, sbpl.Options{Params: seatbelt.StandIns})
	if err != nil {
		t.Fatal(err)
	}
	return &sbpl.Profile{Default: p.Default, Rules: append(slices.Clone(p.Rules), more.Rules...)}
}

// without gives a profile less some rules.
func without(p *sbpl.Profile, drop func(sbpl.Rule) bool) *sbpl.Profile {
	return &sbpl.Profile{Default: p.Default, Rules: slices.DeleteFunc(slices.Clone(p.Rules), drop)}
}

// edited gives a profile whose filters were changed.
func edited(p *sbpl.Profile, change func(sbpl.Rule) []sbpl.Filter) *sbpl.Profile {
	out := &sbpl.Profile{Default: p.Default, Rules: slices.Clone(p.Rules)}
	for i := range out.Rules {
		out.Rules[i].Filters = change(out.Rules[i])
	}
	return out
}

func denies(op string) func(sbpl.Rule) bool {
	return func(r sbpl.Rule) bool { return r.Action == sbpl.Deny && slices.Contains(r.Ops, op) }
}

func withName(name string) func(sbpl.Filter) bool {
	return func(f sbpl.Filter) bool { return f.Name == name }
}

// TestWeakProfilesAreCaught: what a change of the builder could take away by mistake
// is seen by the table or by the expectations.
func TestWeakProfilesAreCaught(t *testing.T) {
	s := strictest(t)
	good := profileOf(t, s)
	if what := broken(t, good, s); what != "" {
		t.Fatalf("the profile itself: %s", what)
	}
	mutants := map[string]*sbpl.Profile{
		"default allow":        {Default: sbpl.Allow, Rules: good.Rules},
		"no rule hides":        without(good, denies("file-read*")),
		"no rule keeps":        without(good, denies("file-write*")),
		"no pins":              without(good, denies("file-write-unlink")),
		"sysctl in full":       without(good, denies("sysctl-read")),
		"executing everywhere": without(good, denies("process-exec*")),
		"no new names": without(good, func(r sbpl.Rule) bool {
			return r.Action == sbpl.Deny && len(r.Filters) == 1 && r.Filters[0].Name == "regex" && slices.Contains(r.Ops, "file-write*")
		}),
		"one spelling": edited(good, func(r sbpl.Rule) []sbpl.Filter {
			if r.Action == sbpl.Allow || len(r.Filters) < 2 {
				return r.Filters
			}
			return slices.DeleteFunc(slices.Clone(r.Filters), withName("regex"))
		}),
		"the folder without what lies in it": edited(good, func(r sbpl.Rule) []sbpl.Filter {
			out := slices.Clone(r.Filters)
			for i := range out {
				if r.Action == sbpl.Deny && out[i].Name == "subpath" {
					out[i] = sbpl.Literal(out[i].Values...)
				} else if r.Action == sbpl.Deny && out[i].Name == "regex" && len(out) > 1 {
					out[i] = out[0]
				}
			}
			return out
		}),
		"what only a tree of its own may": edited(good, func(r sbpl.Rule) []sbpl.Filter {
			return slices.DeleteFunc(slices.Clone(r.Filters), withName("target"))
		}),
		"general after special": func() *sbpl.Profile {
			out := &sbpl.Profile{Rules: slices.Clone(good.Rules)}
			slices.Reverse(out.Rules)
			return out
		}(),
		"denies first": func() *sbpl.Profile {
			out := &sbpl.Profile{Rules: slices.Clone(good.Rules)}
			slices.SortStableFunc(out.Rules, func(a, b sbpl.Rule) int { return int(a.Action) - int(b.Action) })
			return out
		}(),
	}
	for _, text := range []string{
		`(allow file*)`, `(allow file-read*)`, `(allow file-write* (subpath "/home/dev"))`, `(allow file-write* (subpath "/home/dev/ws"))`, `(allow file-write-unlink (subpath "/home/dev/ws"))`,
		`(allow file-write-create (regex #"^/home/dev/ws/"))`, `(allow file-read* (literal "/home/dev/ws/.env"))`, `(allow file-read* (subpath "/home/dev/.ssh"))`, `(allow file-write* (subpath "/dev"))`, `(allow file-read* (regex #"^/dev/tty"))`,
		`(allow file-ioctl)`, `(allow file-mount)`, `(allow file-chroot)`, `(allow file-read* (subpath (param "RUN")))`, `(allow file-write* (subpath (param "DIR")))`,
		`(allow process-exec*)`, `(allow process-exec (subpath "/home/dev"))`, `(allow process-info*)`, `(allow signal)`, `(allow sysctl*)`, `(allow sysctl-read)`, `(allow ipc*)`,
		`(allow mach*)`, `(allow mach-lookup)`, `(allow mach-lookup (global-name "com.apple.SecurityServer"))`, `(allow mach-register)`, `(allow mach-task-name)`,
		`(allow network*)`, `(allow network-outbound (remote ip "localhost:*"))`, `(allow network-outbound (remote tcp "*:443"))`, `(allow network-bind (local ip "*:*"))`, `(allow network-inbound)`, `(allow network-outbound (literal "/private/var/run/mDNSResponder"))`, `(allow system-socket)`,
		`(allow lsopen)`, `(allow appleevent-send)`, `(allow job-creation)`, `(allow iokit*)`, `(allow user-preference*)`, `(allow authorization-right-obtain)`, `(allow system*)`,
		`(deny default)(deny file-read*)`, `(deny process-fork)`, `(deny file-write* (subpath (param "TMP")))`, `(deny pseudo-tty)`, `(deny mach-lookup)`, `(deny process-exec*)`,
	} {
		mutants[text] = plus(good, t, text)
	}
	for name, m := range mutants {
		if broken(t, m, s) == "" {
			t.Errorf("nobody saw: %s", name)
		}
	}
	t.Logf("%d weakened or broken profiles, all seen", len(mutants))
}

// TestEveryDenialIsNeeded: each rule that takes away, left out alone, is seen. Rules
// that name patterns alone are rows of the list of protected names: TestProtectedNames
// asks about those, and several may cover one name.
func TestEveryDenialIsNeeded(t *testing.T) {
	s := strictest(t)
	good := profileOf(t, s)
	seen, rows, twice := 0, 0, 0
	for i, r := range good.Rules {
		if r.Action != sbpl.Deny {
			continue
		}
		m := &sbpl.Profile{Rules: slices.Delete(slices.Clone(good.Rules), i, i+1)}
		switch {
		case broken(t, m, s) != "":
			seen++
		case len(r.Filters) == 1 && r.Filters[0].Name == "regex":
			rows++
		case stillDenied(t, m, r):
			twice++
		default:
			text, err := r.Text()
			t.Errorf("nobody would see that this is missing: %s %v", text, err)
		}
	}
	t.Logf("%d rules that take away are seen one by one, %d are said twice, %d are rows of protected names", seen, twice, rows)
}

// stillDenied tells whether another rule takes the same away: a thing that exists and
// that a pattern matches as well.
func stillDenied(t testing.TB, p *sbpl.Profile, r sbpl.Rule) bool {
	for _, op := range r.Ops {
		if answer(t, p, sbpl.Request{Op: op, Path: r.Filters[0].Values[0]}) {
			return false
		}
	}
	return true
}

// TestProtectedNames: every row of the list is denied before it exists, in every
// writable root, in any case; a name that is only like it is free.
func TestProtectedNames(t *testing.T) { // FS-04
	s := bound(t, "darwin", policy.Compat, func(p *policy.Policy) { p.Filesystem.Writable = []string{"/home/dev/other", "/home/dev"} })
	p := profileOf(t, s)
	asked := 0
	for _, row := range policy.Protected() {
		if seatbelt.GitMakes(row) {
			continue
		}
		for _, base := range []string{"/home/dev/ws/fresh", "/home/dev/other/fresh"} {
			if row.Scope == "home" {
				base = "/home/dev"
			}
			name := example(row.Match)
			if name == "" {
				continue
			}
			asked++
			for _, path := range []string{base + "/" + name, base + "/" + strings.ToUpper(name)} {
				if answer(t, p, sbpl.Request{Op: "file-write-create", Path: path}) {
					t.Errorf("%s: %s can be made", row.Name, path)
				}
			}
			if like := base + "/" + name + "-not"; row.Kind != "dir" && !strings.ContainsAny(row.Match, "*?") && !answer(t, p, sbpl.Request{Op: "file-write-create", Path: like}) {
				t.Errorf("%s: %s cannot be made", row.Name, like)
			}
		}
	}
	t.Logf("%d names", asked)
	if asked < 60 {
		t.Error("hardly any row was asked about")
	}
}

// example gives one name that a pattern of the list matches, "" for one that is too
// clever for this test.
func example(match string) string {
	if i := strings.IndexByte(match, '{'); i >= 0 {
		j := strings.IndexByte(match, '}')
		if j < i || strings.Count(match, "{") > 1 {
			return ""
		}
		match = match[:i] + strings.Split(match[i+1:j], ",")[0] + match[j+1:]
	}
	match = strings.TrimPrefix(match, "**/")
	if strings.ContainsAny(match, "[]?{}\\") {
		return ""
	}
	return strings.ReplaceAll(strings.ReplaceAll(match, "**", "d"), "*", "x")
}
