package policy

import (
	"regexp"
	"strings"
	"testing"
)

// TestRegexpsMatchWhatTheGlobMatches: the expressions of a glob and the glob itself
// give the same answers (globs mean the same on every system).
func TestRegexpsMatchWhatTheGlobMatches(t *testing.T) {
	paths := []string{"/a", "/a/b", "/a/.env", "/a/b/c.go", "/a/b/c.gox", "/a.b", "/aXb", "/a/x[1]", "/a/(b)", "/a/b/.ENV", "/a//b", "/a/é", "/a/K", "/a/\n", "/b", "/-", "/a/^", "/a/]", "/a/+b"}
	for _, g := range []string{"/", "/*", "/a/**", "/**/.env", "/**", "/a/*.go", "/**/*.go", "/a/?", "/a/[a-c]", "/a/[!a-c]", "/a/{b,.env}", "/{a,b}/**/c.*", "/a.b", `/a/x\[1\]`, "/a/(b)", "/a/[+-9]b", "/[*-a]", `/a/[\]\^]`, "/a/k", "/a/+b", "/**/b/**"} {
		for _, compile := range []func(string) (*Glob, error){Compile, CompileFold} {
			glob, err := compile(g)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range paths {
				if p != tidy(p) {
					continue
				}
				if got := anyFound(t, glob, p); got != glob.Match(p) {
					t.Errorf("%q on %q: expression %v, glob %v (%q)", g, p, got, glob.Match(p), glob.Regexps())
				}
			}
		}
	}
}

func anyFound(t testing.TB, g *Glob, p string) bool {
	for _, e := range g.Regexps() {
		re, err := regexp.Compile("(?s)^(?:" + e + ")$")
		if err != nil {
			t.Fatalf("%q: %v", e, err)
		}
		if re.MatchString(p) {
			return true
		}
	}
	return false
}

func TestRegexpsOfEveryProtectedName(t *testing.T) {
	for _, p := range Protected() {
		g, err := CompileFold(p.Match)
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Regexps()) == 0 {
			t.Errorf("%s has no expression", p.Name)
		}
		for _, e := range g.Regexps() {
			if _, err := regexp.Compile(e); err != nil || strings.ContainsAny(e, "{}") {
				t.Errorf("%s: %q %v", p.Name, e, err)
			}
		}
	}
}

func FuzzRegexps(f *testing.F) {
	for _, s := range [][2]string{{"/a/**", "/a/b"}, {"/**/[a-z]?{x,y}", "/q/bcx"}, {"/a/[!/]", "/a/b"}, {"/[\xff]", "/\xff"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g, err := Compile(pattern)
		if err != nil || len(pattern) > 200 || len(path) > 200 || !g.abs || !isAbs(path) || path == "/" || path != tidy(path) || path != strings.ToValidUTF8(path, "?") || pattern != strings.ToValidUTF8(pattern, "?") {
			return
		}
		if strings.ContainsAny(pattern, "\ufffd") || strings.ContainsAny(path, "\ufffd") {
			return
		}
		if got, want := anyFound(t, g, path), g.Match(path); got != want {
			t.Errorf("%q on %q: expression %v, glob %v: %q", pattern, path, got, want, g.Regexps())
		}
	})
}
