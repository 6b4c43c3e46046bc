package spec

import (
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/policy"
)

func TestWithinFold(t *testing.T) {
	for _, c := range []struct {
		root, path string
		want       bool
	}{
		{"/a/B", "/A/b", true}, {"/a/b", "/a/b/c", true}, {"/a/b", "/a", false}, {"/a/b", "/a/bc", false}, {"/a", "/", false},
		{"/k", "/\u212a/x", true}, {"/é", "/É", true}, {"/a", "/b", false},
	} {
		if withinFold(c.root, c.path) != c.want {
			t.Errorf("%q in %q: %v", c.path, c.root, !c.want)
		}
	}
}

// TestCaseOnlyTakesAway: in another case a path is denied what it is denied, and
// given nothing.
func TestCaseOnlyTakesAway(t *testing.T) {
	rules := []Rule{{Path: "/ws", Access: Write}, {Path: "/ws/secret", Access: Deny}, {Path: "/ws/secret/open", Access: Read}, {Path: "/ws/ro", Access: Read}}
	mac, linux := &Spec{GOOS: "darwin", Policy: policy.Default(), Rules: rules}, &Spec{GOOS: "linux", Policy: policy.Default(), Rules: rules}
	for _, c := range []struct {
		op         Op
		path       string
		mac, linux bool
	}{
		{OpRead, "/ws/secret/x", false, false}, {OpRead, "/ws/SECRET/x", false, true}, {OpWrite, "/ws/Secret", false, true},
		{OpRead, "/ws/secret/open/x", true, true}, {OpRead, "/ws/secret/OPEN/x", false, false},
		{OpWrite, "/ws/RO/x", false, true}, {OpRead, "/ws/RO/x", true, true}, {OpWrite, "/WS/x", false, false}, {OpWrite, "/ws/x", true, true},
	} {
		for s, want := range map[*Spec]bool{mac: c.mac, linux: c.linux} {
			if v := Decide(s, Query{Op: c.op, Path: c.path}); v.Allowed != want {
				t.Errorf("%s: %s %s: %+v", s.GOOS, c.op, c.path, v)
			}
		}
	}
}

// TestOtherForm: the name on the disk is no planted link.
func TestOtherForm(t *testing.T) {
	at := map[string]host.Info{"/Users/U": {Dev: 1, Ino: 2}, "/users/u": {Dev: 1, Ino: 2}, "/x": {Dev: 1, Ino: 3}}
	h := host.Host{GOOS: "darwin", Lstat: func(p string) (host.Info, error) { return at[p], nil }}
	r := Rule{Path: "/Users/U", Kind: Dir, ID: ID{1, 2}}
	for path, want := range map[string]bool{"/users/u": true, "/x": false} {
		if (&binder{h: h}).otherForm(path, r) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	if missing := (Rule{Path: "/a/New"}); !(&binder{h: h}).otherForm("/A/new", missing) || (&binder{h: h}).otherForm("/b/new", missing) {
		t.Error("a place that is missing")
	}
	h.GOOS = "linux"
	if (&binder{h: h}).otherForm("/users/u", r) {
		t.Error("on Linux a name is a name")
	}
}

// TestPatternsFoldWhereTheyTakeAway: a pattern that hides or forbids writing is about
// every case of a name, one that shows is not.
func TestPatternsFoldWhereTheyTakeAway(t *testing.T) {
	for _, c := range []struct {
		access Access
		takes  bool
		folds  bool
	}{{Deny, false, true}, {Read, true, true}, {Read, false, false}} {
		for goos, folds := range map[string]bool{"darwin": c.folds, "linux": false} {
			g, err := newGlob(host.Host{GOOS: goos}, "/ws/**/.env", c.access, User, "", c.takes)
			if err != nil {
				t.Fatal(err)
			}
			if g.Match("/ws/a/.ENV") != folds || !g.Match("/ws/a/.env") {
				t.Errorf("%s, %v, takes %v: another case matches: %v", goos, c.access, c.takes, !folds)
			}
		}
	}
}
