//go:build unix

package spec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// TestStrictArgumentMounts: LNX-03, what an absolute argument opens, and what not.
func TestStrictArgumentMounts(t *testing.T) {
	for arg, want := range map[string]string{ // argument -> a path that becomes readable, or "-" and one that must not
		"/srv/data/f":          "/srv/data/f",
		"/srv/data":            "/srv/data/f",
		"/srv/data/secret":     "-/srv/data/secret/k",
		"/srv/data/secret/k":   "-/srv/data/secret/k",
		"/":                    "-/srv/data/f",
		"/home":                "-/home/dev/notes",
		"/home/dev":            "-/home/dev/notes",
		"/home/dev/notes":      "-/home/dev/notes",
		"/home/dev/../dev":     "-/home/dev/notes",
		"/home/dev/.ssh/id":    "-/home/dev/.ssh/id",
		"/home/dev/ws/planted": "-/home/dev/.ssh/id",
		"/run/docker.sock":     "-/run/docker.sock",
		"/srv":                 "/srv/data/f",
		"/var":                 "-/var/log/x",
		"/nowhere/at/all":      "-/srv/data/f",
		"relative/../../x":     "-/srv/data/f",
	} {
		t.Run(arg, func(t *testing.T) {
			h := machine(backendtest.Machine{"/var/log/x": "x"}).Host()
			s, err := bind(t, h, spec.Command{Argv: []string{"tool", arg}}, func(l *policy.Layer) {
				modeOf(policy.Strict)(l)
				l.Filesystem.DenyRead = &[]string{"/srv/data/secret"}
			})
			if err != nil {
				t.Fatal(err)
			}
			p, deny := strings.CutPrefix(want, "-")
			if v := spec.Decide(s, spec.Query{Op: spec.OpRead, Path: p}); v.Allowed == deny {
				t.Errorf("read %s: %v by %s (%s)", p, v.Allowed, v.Rule, v.Origin)
			}
			for _, q := range []string{p, "/home/dev/.ssh/id", "/srv/data/secret/k"} {
				if v := spec.Decide(s, spec.Query{Op: spec.OpWrite, Path: q}); v.Allowed {
					t.Errorf("an argument made %s writable", q)
				}
			}
		})
	}
}

// TestStrictShowsTheCommand: LNX-03, dirname(command), also through a link.
func TestStrictShowsTheCommand(t *testing.T) {
	h := machine(backendtest.Machine{"/srv/tools/bin/x": "!x", "/srv/tools/bin/l": "->../real/y", "/srv/tools/real/y": "!x"}).Host()
	for _, cmd := range []string{"/srv/tools/bin/x", "/srv/tools/bin/l"} {
		s, err := bind(t, h, spec.Command{Argv: []string{cmd}}, modeOf(policy.Strict))
		if err != nil {
			t.Errorf("%s: %v", cmd, err)
			continue
		}
		for _, p := range []string{s.Exe} {
			if v := spec.Decide(s, spec.Query{Op: spec.OpExec, Path: p}); !v.Allowed {
				t.Errorf("%s: executing %s is not allowed: %s", cmd, p, v.Why)
			}
		}
	}
	s, err := bind(t, h, spec.Command{Argv: []string{"x"}}, func(l *policy.Layer) {
		modeOf(policy.Strict)(l)
		l.Env.Set = &map[string]string{"PATH": "/srv/tools/bin:/usr/bin"}
	})
	if err != nil {
		t.Errorf("a command of PATH: %v", err)
	} else if s.Exe != "/srv/tools/bin/x" {
		t.Errorf("found %s", s.Exe)
	}
}

// TestGlobWalkIsBounded: a tree made large on purpose, and one with links in a circle.
func TestGlobWalkIsBounded(t *testing.T) {
	m := machine(backendtest.Machine{"/home/dev/ws/loop/again": "->..", "/home/dev/ws/a/.env": "x", "/home/dev/ws/out": "->/srv", "/srv/x/.env": "x"})
	for i := range 300 {
		m[fmt.Sprintf("/home/dev/ws/big/%d/f", i)] = "x"
	}
	s, err := bind(t, m.Host(), spec.Command{}, func(l *policy.Layer) { l.Filesystem.DenyRead = &[]string{"**/.env"} })
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Patterns) == 0 || s.Patterns[len(s.Patterns)-1].Found != 1 {
		t.Errorf("patterns %+v", s.Patterns)
	}
	for p, allowed := range map[string]bool{"/home/dev/ws/a/.env": false, "/home/dev/ws/new/.env": false, "/srv/x/.env": true, "/home/dev/ws/a/env": true} {
		if v := spec.Decide(s, spec.Query{Op: spec.OpRead, Path: p}); v.Allowed != allowed {
			t.Errorf("read %s: %v by %s", p, v.Allowed, v.Rule)
		}
	}
}

// TestPatternsHoldInStrictToo: what compat hides, strict hides.
func TestPatternsHoldInStrictToo(t *testing.T) {
	h := machine(backendtest.Machine{"/srv/rw/.env": "x"}).Host()
	for _, m := range []policy.Mode{policy.Compat, policy.Strict} {
		s, err := bind(t, h, spec.Command{}, func(l *policy.Layer) {
			modeOf(m)(l)
			l.Filesystem.Writable, l.Filesystem.DenyRead = &[]string{"/srv/rw"}, &[]string{"**/.env"}
		})
		if err != nil {
			t.Fatal(err)
		}
		if v := spec.Decide(s, spec.Query{Op: spec.OpRead, Path: "/srv/rw/.env"}); v.Allowed {
			t.Errorf("%v shows /srv/rw/.env by %s", m, v.Rule)
		}
	}
}

// TestEnvironmentIsExact: VAR-01, VAR-02.
func TestEnvironmentIsExact(t *testing.T) {
	h := machine(nil).Host()
	h.Environ = func() []string {
		return []string{"HOME=/home/dev", "PATH=/usr/bin", "LC_ALL=C", "AWS_SECRET=s", "LD_PRELOAD=/x", "NODE_OPTIONS=x", "NAMED=1", "TERM=xterm", "SSH_AUTH_SOCK=/run/a", "=odd", "novalue"}
	}
	s, err := bind(t, h, spec.Command{Env: map[string]string{"LD_LIBRARY_PATH": "/x", "MINE": "1", "BASH_ENV": "/x"}}, func(l *policy.Layer) {
		l.Env.Pass = &[]string{"NAMED", "NODE_OPTIONS", "LD_PRELOAD"}
		l.Env.AllowHooks = &[]string{"NODE_OPTIONS"}
	})
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Join(s.Env, "\n") + "\n"
	for _, want := range []string{"HOME=/home/dev\n", "PATH=/usr/bin\n", "LC_ALL=C\n", "NAMED=1\n", "NODE_OPTIONS=x\n", "MINE=1\n", "TERM=xterm\n", "TMPDIR=/tmp\n"} {
		if !strings.Contains(env, want) {
			t.Errorf("missing %q", want)
		}
	}
	for _, bad := range []string{"AWS_SECRET", "LD_", "BASH_ENV", "SSH_AUTH_SOCK", "odd", "novalue"} {
		if strings.Contains(env, bad) {
			t.Errorf("%s passed", bad)
		}
	}
	if len(s.Notices) < 3 {
		t.Errorf("dropped hooks are not told: %+v", s.Notices)
	}
}

// TestPatternsAndPathsBelow: what random testing found. A path that is written down
// beats the pattern that finds it, below it too; a pattern that takes writing away
// shows nothing; on Linux no pattern keeps a new name from being made.
func TestPatternsAndPathsBelow(t *testing.T) {
	h := machine(backendtest.Machine{"/srv/a/f": "x", "/srv/b/f": "x", "/home/dev/ws/x": "x"}).Host()
	for _, c := range []struct {
		mode    policy.Mode
		op      spec.Op
		path    string
		allowed bool
	}{
		{policy.Compat, spec.OpRead, "/srv/a/f", true},
		{policy.Compat, spec.OpRead, "/srv/b/f", false},
		{policy.Strict, spec.OpRead, "/srv/c/f", false},
		{policy.Compat, spec.OpWrite, "/home/dev/ws/x", true},
		{policy.Compat, spec.OpWrite, "/home/dev/ws/new.lock", true},
		{policy.Compat, spec.OpRead, "/home/dev/ws/new.key", false},
	} {
		s, err := bind(t, h, spec.Command{}, func(l *policy.Layer) {
			modeOf(c.mode)(l)
			l.Filesystem.Readable = &[]string{"/srv/a"}
			l.Filesystem.DenyRead = &[]string{"/srv/[ab]", "**/*.key"}
			l.Filesystem.DenyWrite = &[]string{"/srv/c/**", "**/*.lock"}
		})
		if err != nil {
			t.Fatal(err)
		}
		if v := spec.Decide(s, spec.Query{Op: c.op, Path: c.path}); v.Allowed != c.allowed {
			t.Errorf("%v: %s %s: %v by %s", c.mode, c.op, c.path, v.Allowed, v.Rule)
		}
	}
}

// TestContentsOfTheWorkspaceAreHidden: "/ws/**" may not hide the workspace itself,
// which is written down, and so must hide what is in it.
func TestContentsOfTheWorkspaceAreHidden(t *testing.T) {
	h := machine(backendtest.Machine{"/home/dev/ws/key": "x", "/home/dev/ws/d/key": "x"}).Host()
	for _, pattern := range []string{"/home/dev/ws/**", "/home/dev/w*", "**"} {
		s, err := bind(t, h, spec.Command{}, func(l *policy.Layer) { l.Filesystem.DenyRead = &[]string{pattern} })
		if err != nil {
			t.Fatal(err)
		}
		want := pattern == "/home/dev/w*" // the path that is written down wins there
		for _, p := range []string{"/home/dev/ws/key", "/home/dev/ws/d/key"} {
			if v := spec.Decide(s, spec.Query{Op: spec.OpRead, Path: p}); v.Allowed != want {
				t.Errorf("denyRead %s: read %s: %v by %s", pattern, p, v.Allowed, v.Rule)
			}
		}
	}
}
