//go:build unix

package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/qiming-sandbox/qsandbox/policy"
)

func TestSamplesMatch(t *testing.T) {
	for _, pattern := range []string{"*.pem", "**/*.pem", "**/.env*", "secret/**", "a/**/b", "x?y", "[abc]z", "[a-f]/g", `\*lit`, "{one,two}.key", "{a{b,c},d}/e", "**/id_{rsa,ed25519}", "a**b", "**"} {
		sample := sampleOf(pattern)
		if ok, err := policy.Match(pattern, sample); err != nil || !ok {
			t.Errorf("%q: %q (%v)", pattern, sample, err)
		}
	}
	for _, pattern := range []string{"[", "[]", "{a,b", "[!a]x"} { // no guess, or one that the match refuses
		if ok, _ := policy.Match(pattern, sampleOf(pattern)); ok {
			t.Errorf("%q: %q", pattern, sampleOf(pattern))
		}
	}
}

// TestFilesThatPatternsName: in the workspace they are made, in the home found, and
// nowhere else is looked or written.
func TestFilesThatPatternsName(t *testing.T) {
	top := t.TempDir()
	home, ws, other := filepath.Join(top, "home"), filepath.Join(top, "ws"), filepath.Join(top, "other")
	for _, f := range []string{"home/a.kdbx", "home/.docker/ca.pem", "home/.docker/deep/no.pem", "home/d/e/f.key", "other/x.pem"} {
		if err := write(filepath.Join(top, f), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	for entry, want := range map[string][]string{
		"~/*.kdbx":              {home + "/a.kdbx"},
		"~/.docker/*.pem":       {home + "/.docker/ca.pem"},
		"~/**/*.key":            {home + "/d/e/f.key"},
		"~/{a,b}.kdbx":          {home + "/a.kdbx"},
		"~/*.none":              nil,
		"*.pem":                 {ws + "/any.pem"},
		"**/.env*":              {ws + "/any/deep/.envany"},
		"sub/**":                {ws + "/sub/any/deep"},
		other + "/*.pem":        nil,
		"../other/*.pem":        nil,
		"[!a].pem":              nil,
		"{../other/x,any}*.pem": nil,
	} {
		if got := named(entry, home, ws); !slices.Equal(got, want) {
			t.Errorf("%s: %v, wanted %v", entry, got, want)
		}
	}
	if left, err := os.ReadDir(other); err != nil || len(left) != 1 {
		t.Errorf("beside the workspace: %v %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(ws, "any.pem")); err != nil {
		t.Error(errors.New("the decoy was not made"))
	}
}
