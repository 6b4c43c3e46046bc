package seatbelt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend/seatbelt"
	"github.com/qiming-sandbox/qsandbox/internal/sbpl"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// answer asks the profile; both readings must allow.
func answer(t testing.TB, p *sbpl.Profile, q sbpl.Request) bool {
	t.Helper()
	ok := true
	for _, o := range sbpl.Orders {
		v, err := p.Decide(q, o)
		if err != nil {
			t.Fatal(err)
		}
		ok = ok && v.Allowed
	}
	return ok
}

// swapCase writes every letter in the other case.
func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r ^ 0x20
		}
		return r
	}, s)
}

// TestNoCaseOpensAnything: whatever is denied is denied in every case, wherever the
// spelling changes. For names that only a form of Unicode tells apart, see below.
func TestNoCaseOpensAnything(t *testing.T) {
	asked, spelt := 0, 0
	for _, sit := range situations {
		s := bound(t, "darwin", sit.mode, sit.edit)
		if !s.Isolated() {
			continue
		}
		p := profileOf(t, s)
		for _, path := range append(slices.Clone(targets), fresh...) {
			dir, base := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
			for _, op := range []string{"file-read-data", "file-write-create", "file-write-unlink", "process-exec*"} {
				if answer(t, p, sbpl.Request{Op: op, Path: path}) {
					continue
				}
				asked++
				for _, other := range []string{swapCase(path), dir + swapCase(base), swapCase(dir) + base} {
					if other == path {
						continue
					}
					spelt++
					if answer(t, p, sbpl.Request{Op: op, Path: other}) {
						t.Errorf("%s: %s %s is denied, %s is not", sit.name, op, path, other)
					}
				}
			}
		}
	}
	t.Logf("%d denials in %d other spellings", asked, spelt)
	if asked < 500 {
		t.Error("the table hardly denies anything")
	}
}

// TestFormsOfUnicode: composed and decomposed characters name the same file.
func TestFormsOfUnicode(t *testing.T) {
	const composed, decomposed = "/home/dev/ws/caf\u00e9", "/home/dev/ws/cafe\u0301"
	for _, written := range []string{composed, decomposed} {
		s := bound(t, "darwin", policy.Compat, func(p *policy.Policy) {
			p.Filesystem.DenyRead = []string{written, "**/ge" + "\u0301" + "heim*"}
			p.Filesystem.DenyWrite = []string{"**/*.\u00e9"}
		})
		p := profileOf(t, s)
		for _, c := range []struct {
			op, path string
			want     bool
		}{
			{"file-read-data", composed, false}, {"file-read-data", decomposed, false}, {"file-read-data", composed + "/x", false},
			{"file-read-data", "/home/dev/ws/CAF\u00c9", false}, {"file-read-data", "/home/dev/ws/CAFE\u0301", false},
			{"file-read-data", "/home/dev/ws/cafe", true}, {"file-read-data", "/home/dev/ws/cafex", true},
			{"file-read-data", "/home/dev/ws/a/g\u00e9heim.txt", false}, {"file-read-data", "/home/dev/ws/a/ge\u0301heim.txt", false}, {"file-read-data", "/home/dev/ws/a/geheim.txt", true},
			{"file-write-create", "/home/dev/ws/x.e\u0301", false}, {"file-write-create", "/home/dev/ws/x.\u00c9", false}, {"file-write-create", "/home/dev/ws/x.e", true},
			{"file-write-create", "/home/dev/ws/.vs\u017fcode/x", true}, // not a fold of it: one letter more
			{"file-write-create", "/home/dev/ws/.v\u017fcode/x", false}, // the long s folds to s
			{"file-write-create", "/home/dev/ws/.\u212a", true},
		} {
			if got := answer(t, p, sbpl.Request{Op: c.op, Path: c.path}); got != c.want {
				t.Errorf("written %q: %s %q: %v", written, c.op, c.path, got)
			}
		}
	}
}

// TestPins: what holds something hidden or read-only can be neither renamed nor
// removed, up to the writable root, in any case (FS-04).
func TestPins(t *testing.T) {
	s := bound(t, "darwin", policy.Compat, func(p *policy.Policy) {
		p.Filesystem.DenyRead = []string{"sub/deep"}
		p.Filesystem.Writable = []string{"/home/dev/other"}
	})
	p := profileOf(t, s)
	for path, want := range map[string]bool{
		"/home/dev/ws": false, "/home/dev/ws/sub": false, "/home/dev/ws/SUB": false, "/home/dev/ws/sub/deep": false, "/home/dev/ws/.git": false, "/home/dev/ws/.git/hooks": false,
		"/home/dev/ws/.git/config": false, "/home/dev/ws/pkg": false, "/home/dev/ws/pkg/.idea": false, "/home/dev/ws/.vscode": false, "/home/dev/other": false,
		seatbelt.StandIns[seatbelt.ParamTmp]: false,
		"/home/dev/ws/a.txt":                 true, "/home/dev/ws/new": true, "/home/dev/ws/sub/other": true, "/home/dev/other/file": true, "/home/dev/ws/.git/index": true,
		seatbelt.StandIns[seatbelt.ParamTmp] + "/x": true,
	} {
		if got := answer(t, p, sbpl.Request{Op: "file-write-unlink", Path: path}); got != want {
			t.Errorf("rename or remove %s: %v", path, got)
		}
	}
}
