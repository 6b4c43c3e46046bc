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

// difference is a place where macOS and Linux may answer differently, with the
// reason. A difference that never shows is an error: the list stays honest.
type difference struct {
	why  string
	when func(c query) bool
	seen int
}

// query is one cell of the table: the same question to both systems.
type query struct {
	situation
	spec.Query
	linux, mac bool
	linuxWhy   string
}

func (c query) target() string { return c.Path + c.Host }

func under(roots ...string) func(string) bool {
	return func(p string) bool {
		return slices.ContainsFunc(roots, func(r string) bool { return spec.Within(r, p) })
	}
}

var differences = []*difference{
	{why: "strict on Linux has an empty root; macOS has one file system for all, and strict reads all that is not hidden (MAC-01)", when: func(c query) bool {
		return c.mode == policy.Strict && c.Op == spec.OpRead && !c.linux && c.mac
	}},
	{why: "macOS limits what may be executed, Linux what may be read (MAC-01)", when: func(c query) bool {
		return c.Op == spec.OpExec && c.linux && !c.mac && !under("/usr/bin", "/bin")(c.Path)
	}},
	{why: "a protected name that does not exist yet: macOS denies its creation, Linux finds it after the run or has a supervisor (FS-04)", when: func(c query) bool {
		return c.Op == spec.OpWrite && c.linux && !c.mac && slices.Contains(fresh, c.Path)
	}},
	{why: "a pattern: macOS asks it about names made later, Linux about what is there at the start (FS-02)", when: func(c query) bool {
		return c.Op == spec.OpWrite && c.linux && !c.mac && strings.Contains(c.linuxWhy, "keeps no new name from coming into being")
	}},
	{why: "the loopback of a Linux sandbox is its own, that of macOS is the host's", when: func(c query) bool {
		return c.Op == spec.OpConnect && c.linux && !c.mac && (strings.HasPrefix(c.Host, "127.") || strings.HasPrefix(c.Host, "localhost") || strings.HasPrefix(c.Host, "[::1]"))
	}},
}

// ask gives every cell of the table.
func ask(t testing.TB, visit func(c query, mac *spec.Spec)) {
	for _, sit := range situations {
		linux, mac := bound(t, "linux", sit.mode, sit.edit), bound(t, "darwin", sit.mode, sit.edit)
		p := profileOf(t, mac)
		one := func(q spec.Query) {
			v, err := seatbelt.JudgeProfile(p, q)
			if err != nil {
				t.Fatal(err)
			}
			d := spec.Decide(linux, q)
			visit(query{sit, q, d.Allowed, v.Allowed, d.Why}, mac)
		}
		for _, p := range append(slices.Clone(targets), fresh...) {
			for _, op := range []spec.Op{spec.OpRead, spec.OpWrite, spec.OpExec} {
				one(spec.Query{Op: op, Path: p})
			}
		}
		for _, h := range connections {
			one(spec.Query{Op: spec.OpConnect, Host: h})
		}
	}
}

// TestSameVerdictsAsLinux: the same policy gives the same verdicts on both systems,
// but for the listed differences (MAC-05).
func TestSameVerdictsAsLinux(t *testing.T) {
	for _, d := range differences {
		d.seen = 0
	}
	cells, allowed, denied, listed := 0, 0, 0, 0
	ask(t, func(c query, _ *spec.Spec) {
		cells++
		if c.mac {
			allowed++
		} else {
			denied++
		}
		if c.linux == c.mac {
			return
		}
		for _, d := range differences {
			if d.when(c) {
				d.seen++
				listed++
				return
			}
		}
		t.Errorf("%s: %s %s: linux %v, macOS %v", c.name, c.Op, c.target(), c.linux, c.mac)
	})
	for _, d := range differences {
		if d.seen == 0 {
			t.Errorf("this difference never shows: %s", d.why)
		}
		t.Logf("%4d  %s", d.seen, d.why)
	}
	t.Logf("%d cells, %d agree, %d differ for a listed reason; macOS allows %d and denies %d", cells, cells-listed, listed, allowed, denied)
	if allowed < cells/10 || denied < cells/10 {
		t.Error("the table hardly asks for both answers")
	}
}

// TestProfileSaysWhatThePolicySays: on macOS itself the policy's answer and the
// profile's are the same, apart from names that do not exist yet.
func TestProfileSaysWhatThePolicySays(t *testing.T) {
	ask(t, func(c query, mac *spec.Spec) {
		d := spec.Decide(mac, c.Query)
		switch {
		case d.Allowed == c.mac:
		case c.Op == spec.OpWrite && d.Allowed && slices.Contains(fresh, c.Path):
		case c.Op == spec.OpConnect && d.Allowed && strings.Contains(d.Why, "loopback of its own"):
		default:
			t.Errorf("%s: %s %s: policy %v (%s), profile %v", c.name, c.Op, c.target(), d.Allowed, d.Rule, c.mac)
		}
	})
}

// TestBothReadingsAgree: which rule wins is known only from what people tried. Our
// profiles do not depend on it.
func TestBothReadingsAgree(t *testing.T) {
	ops := []string{"file-read-data", "file-read-metadata", "file-read-xattr", "file-write-data", "file-write-create", "file-write-unlink", "file-write-mode", "file-write-xattr", "process-exec*", "file-ioctl", "file-map-executable"}
	for _, sit := range situations {
		p := profileOf(t, bound(t, "darwin", sit.mode, sit.edit))
		for _, path := range append(append(slices.Clone(targets), fresh...), "/dev/null", "/dev/ttys001", "/dev/ttys999", "/dev/tty", seatbelt.StandIns[seatbelt.ParamTmp]+"/x", seatbelt.StandIns[seatbelt.ParamRun]+"/p", seatbelt.StandIns[seatbelt.ParamTmp]) {
			for _, op := range ops {
				q := sbpl.Request{Op: op, Path: path}
				a, err1 := p.Decide(q, sbpl.LastMatch)
				b, err2 := p.Decide(q, sbpl.Nearest)
				if err1 != nil || err2 != nil || a.Allowed != b.Allowed {
					t.Errorf("%s: %s %s: last match %v, nearest %v, %v %v", sit.name, op, path, a.Allowed, b.Allowed, err1, err2)
				}
			}
		}
	}
}

// profileOf compiles, writes and reads a profile, as sandbox-exec would get it.
func profileOf(t testing.TB, s *spec.Spec) *sbpl.Profile {
	t.Helper()
	p, err := seatbelt.ProfileOf(s)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Text()
	if err != nil {
		t.Fatal(err)
	}
	p, err = sbpl.Parse(text, sbpl.Options{Params: seatbelt.StandIns})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
