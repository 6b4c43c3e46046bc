package seatbelt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/qiming-sandbox/qsandbox/internal/backend/seatbelt"
	"github.com/qiming-sandbox/qsandbox/internal/sbpl"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// FuzzNameInPolicy: whatever a path of a policy is called, it decides about itself and
// changes nothing else (MAC-04, FS-06).
func FuzzNameInPolicy(f *testing.F) {
	for _, name := range []string{"a b", `a"b`, `a\b`, "a\nb", "-a", `") (allow default) ("`, "a)(allow file*", ";x", "\u00e9", "e\u0301", "\u2028(allow file*)", "\r\n", "(param \"RUN\")", "#\"", "[a]{2}(b)*$", "\u212a", "\xff", "a\x00", "\u017f"} {
		for access := range uint8(4) {
			f.Add(name, access)
		}
	}
	base := strictest(f)
	f.Fuzz(func(t *testing.T, name string, access uint8) {
		name = "zz" + strings.ReplaceAll(name, "/", "") // not one of the table's own
		s := *base
		r := spec.Rule{Path: "/home/dev/ws/" + name, Given: "/home/dev/ws/" + name, Access: spec.Access(access % 4), Kind: spec.Dir, Mount: true, Layer: spec.User, Origin: "filesystem (" + name + ")"}
		s.Rules = append(append([]spec.Rule{}, base.Rules...), r)
		p, err := seatbelt.ProfileOf(&s)
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.Text()
		if err != nil {
			if utf8.ValidString(name) && !strings.Contains(name, "\x00") && len(name) < 1000 {
				t.Fatalf("%q: %v", name, err)
			}
			return
		}
		p, err = sbpl.Parse(text, sbpl.Options{Params: seatbelt.StandIns})
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		for _, e := range expectations {
			if answer(t, p, e.Request) != e.want {
				t.Fatalf("%q with %s changes %s %s%s", name, r.Access, e.Op, e.Path, e.Name)
			}
		}
		if !protectedName(name) {
			for op, want := range map[string]bool{"file-read-data": r.Access >= spec.Read, "file-write-data": r.Access == spec.Write} {
				if got := answer(t, p, sbpl.Request{Op: op, Path: r.Path}); got != want {
					t.Fatalf("%q with %s: %s is %v", name, r.Access, op, got)
				}
			}
		}
	})
}

// protectedName tells whether another rule is about such names, too.
func protectedName(name string) bool {
	for _, row := range policy.Protected() {
		if g, err := policy.CompileFold(row.Match); err == nil && g.MatchUpward(name) {
			return true
		}
	}
	return strings.Contains(strings.ToLower(name), ".lock") || strings.Contains(strings.ToLower(name), ".env")
}
