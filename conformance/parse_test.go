package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
)

const sound = `id: LX-X-01
title: a title
severity: critical
rows: FS-01, FS-02
platforms: linux
why: because
  it matters
limit: linux-bwrap: a reason

-- command --
echo "a: b"

-- twin --
true
`

func TestParse(t *testing.T) {
	c, err := Parse("x", []byte(sound))
	if err != nil {
		t.Fatal(err)
	}
	if c.ID != "LX-X-01" || c.Why != "because it matters" || c.Command != "echo \"a: b\"\n" || c.Twin != "true\n" || !slices.Equal(c.Rows, []string{"FS-01", "FS-02"}) {
		t.Errorf("%+v", c)
	}
	if c.LimitFor("linux-bwrap") != "a reason" || c.LimitFor("linux-native") != "" {
		t.Errorf("limits: %v", c.Limits)
	}
}

// TestParseSaysWhatIsWrong: each mistake is told with file, line and field.
func TestParseSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown key":         {"why:", "whyy:", "no such key"},
		"key twice":           {"title: a title", "title: a\ntitle: b", "twice"},
		"no value":            {"title: a title", "title:", "no value"},
		"bad id":              {"LX-X-01", "lx-1", "no id"},
		"bad severity":        {"critical", "bad", "none of critical"},
		"bad row":             {"FS-02", "FS2", "no requirement"},
		"bad platform":        {"platforms: linux", "platforms: beos", "none of linux"},
		"no platform":         {"platforms: linux\n", "", "missing"},
		"no rows":             {"rows: FS-01, FS-02\n", "", "missing"},
		"no twin":             {"\n-- twin --\ntrue\n", "", "twin"},
		"no command":          {"-- command --\necho \"a: b\"\n", "", "command"},
		"unknown section":     {"-- twin --", "-- twins --", "no such section"},
		"section twice":       {"-- twin --", "-- command --\nx\n-- twin --", "twice"},
		"empty section":       {"-- twin --\ntrue\n", "-- twin --\n", "empty"},
		"bad expect":          {"why:", "expect: maybe\nwhy:", "none of denied"},
		"bad exit":            {"why:", "expect: exit 256\nwhy:", "no exit code"},
		"unknown code":        {"why:", "expect: refused NOPE\nwhy:", "none of denied"},
		"bad timeout":         {"why:", "timeout: 1h\nwhy:", "no time"},
		"bad workspace":       {"why:", "workspace: a/b\nwhy:", "double quotes"},
		"workspace above":     {"why:", "workspace: \"..\"\nwhy:", "double quotes"},
		"bad as":              {"why:", "as: wheel\nwhy:", "none of root, user"},
		"bad network":         {"why:", "network: maybe\nwhy:", "neither"},
		"bad limit":           {"limit: linux-bwrap: a reason", "limit: because", "backend: reason"},
		"limit of nobody":     {"limit: linux-bwrap:", "limit: bwrapp:", "no backend"},
		"program with a path": {"why:", "needs: /bin/sh\nwhy:", "no name"},
		"carriage return":     {"\n\n", "\r\n\n", "carriage return"},
		"no UTF-8":            {"a title", "a \xff", "UTF-8"},
		"line without a key":  {"why: because", "because", "key: value"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(sound, c.old, c.new, 1)
			if text == sound {
				t.Fatal("INVALID: nothing was changed")
			}
			_, err := Parse("dir/file.case", []byte(text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "dir/file.case:") {
				t.Errorf("want %q with the file's name, got %v", c.want, err)
			}
			if !errors.Is(err, &fault.Error{Code: fault.UsageInvalid}) {
				t.Errorf("code %v", fault.CodeOf(err))
			}
		})
	}
}

// TestParseDriver: what a case with a driver must and must not have.
func TestParseDriver(t *testing.T) {
	const head = "id: LX-X-01\ntitle: a\nwhy: b\nseverity: major\nrows: CNF-07\nplatforms: linux\n"
	for text, want := range map[string]string{
		"driver: leak\ncount: 5\nfull: 10\nexpect: works\n":                           "",
		"driver: soak-runs\nexpect: works\n":                                          "",
		"driver: soak\nexpect: works\n":                                               "none of sessions, runs, leak, soak-session, soak-runs",
		"driver: leak\nexpect: works\n":                                               "at least 2",
		"driver: runs\ncount: 1\nexpect: works\n":                                     "at least 2",
		"driver: leak\ncount: 5\nfull: 4\nexpect: works\n":                            "less than count",
		"driver: leak\ncount: 5\nfull: many\nexpect: works\n":                         "no number",
		"driver: leak\ncount: 5\n":                                                    "expects works",
		"driver: leak\ncount: 5\nexpect: works\n-- command --\ntrue\n":                "has no sections",
		"driver: soak-runs\nexpect: works\n-- policy --\n{\"network\": {}}\n":         "has no sections",
		"driver: soak-session\nexpect: works\n-- requires --\ntest -e /nonexistent\n": "has no sections",
	} {
		c, err := Parse("dir/file.case", []byte(head+text))
		if want == "" && (err != nil || c.Driver == "") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: want %q, got %v", text, want, err)
		}
	}
}

// TestParseRuns: what a case that runs outside must and must not have.
func TestParseRuns(t *testing.T) {
	const head = "id: MIG-01\ntitle: a\nwhy: b\nseverity: major\nrows: POL-12\nplatforms: linux\nruns: outside\n"
	for text, want := range map[string]string{
		"backends: policy\nexpect: works\n":                       "",
		"backends: policy\nexpect: exit 3\n":                      "",
		"expect: works\n":                                         "backends: policy",
		"backends: linux-native\nexpect: works\n":                 "backends: policy",
		"backends: policy\nexpect: signal SIGKILL\n":              "works or exit N",
		"backends: policy\nexpect: refused POLICY_INVALID\n":      "works or exit N",
		"backends: policy\nexpect: works\nterminal: yes\n":        "no sandbox",
		"backends: policy\nexpect: works\nexpect-backend: none\n": "no sandbox",
		"backends: policy\nexpect: works\n-- policy --\n{}\n":     "no sandbox",
		"backends: policy\nexpect: works\n-- twin --\nls\n":       "no sandbox",
	} {
		c, err := Parse("dir/file.case", []byte(head+text+"-- command --\ntest 1 = 1\n"))
		if want == "" && (err != nil || c.where() != "outside") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: want %q, got %v", text, want, err)
		}
	}
	if _, err := Parse("x", []byte(strings.Replace(head, "outside", "inside", 1)+"backends: policy\nexpect: works\n-- command --\ntrue\n")); err == nil || !strings.Contains(err.Error(), "the only value is outside") {
		t.Errorf("runs: inside: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sound)
	f.Add("id: A\n-- command --\n")
	all, err := Embedded()
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range all[:8] {
		data, _ := embedded.ReadFile(c.File)
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("f", []byte(text))
		if err != nil {
			if c != nil && fault.CodeOf(err) != fault.UsageInvalid {
				t.Errorf("code %v", fault.CodeOf(err))
			}
			return
		}
		if c.ID == "" || c.Why == "" || len(c.Rows) == 0 || c.Want == Denied && c.Twin == "" && c.Skip == "" && c.Driver == "" {
			t.Errorf("accepted: %+v", c)
		}
	})
}

func TestTemplates(t *testing.T) {
	for _, name := range TemplateNames() {
		if words, err := Template(name); err != nil || len(words) < 3 {
			t.Errorf("%s: %v %v", name, words, err)
		}
	}
	words, err := Template(`box --a 'b c' "d\"e" f\ g {ws}x -- {command}`)
	if want := []string{"box", "--a", "b c", `d"e`, "f g", "{ws}x", "--", "{command}"}; err != nil || !slices.Equal(words, want) {
		t.Errorf("%q %v", words, err)
	}
	for _, bad := range []string{"", "box", "box 'a {command}", `box {command} \`, "@nothing", "box x{command}"} {
		if _, err := Template(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// TestWhatCannotBeJudged: a program that is not there is an error and no list of failures;
// one that gives up where it is tried is skipped with the reason.
func TestWhatCannotBeJudged(t *testing.T) {
	if _, err := installed("no-such-sandbox -- {command}"); fault.CodeOf(err) != fault.SandboxUnavailable || !strings.Contains(err.Error(), "no-such-sandbox") {
		t.Errorf("%v", err)
	}
	if words, err := installed("{bin}/box -- {command}"); err != nil || len(words) != 3 {
		t.Errorf("%v %v", words, err)
	}
	c := &Case{}
	for name, tried := range map[string]bool{"/usr/bin/firejail": false, "firejail": false, "bwrap": true} {
		if why := (wrapper{[]string{name, "{command}"}}).cannot(c); (why == "") != tried {
			t.Errorf("%s: %q", name, why)
		}
	}
	box := wrapper{[]string{"bwrap", "{command}"}}
	for _, x := range []struct {
		c     Case
		tried bool
	}{{Case{Modes: []string{"strict"}}, false}, {Case{Modes: []string{"permissive"}}, false}, {Case{Modes: []string{"strict", "compat"}}, true}, {Case{Backends: []string{"none"}}, false}, {Case{Backends: Isolating["linux"]}, true}, {Case{Policy: "{}"}, false}} {
		if why := box.cannot(&x.c); (why == "") != x.tried {
			t.Errorf("modes %v backends %v: %q", x.c.Modes, x.c.Backends, why)
		}
	}
}
