package seatbelt_test

import (
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// machine is one that both systems could have: the same paths, so that their
// verdicts can be compared.
var machine = backendtest.Machine{
	"/home/dev/ws": "/", "/home/dev/ws/a.txt": "", "/home/dev/ws/.env": "", "/home/dev/ws/sub/.env": "", "/home/dev/ws/sub/deep/f": "",
	"/home/dev/ws/vendor/x": "", "/home/dev/ws/vendor/patches/p": "", "/home/dev/ws/own.key": "", "/home/dev/ws/bin/tool": "!",
	"/home/dev/ws/out": "->/home/dev/other", "/home/dev/ws/a b/c\"d": "", "/home/dev/ws/sp ace/f": "",
	"/home/dev/ws/.git/HEAD": "", "/home/dev/ws/.git/config": "", "/home/dev/ws/.git/objects": "/", "/home/dev/ws/.git/refs": "/", "/home/dev/ws/.git/hooks/pre-commit": "!",
	"/home/dev/ws/.vscode/settings.json": "", "/home/dev/ws/pkg/.idea/x.xml": "", "/home/dev/ws/.mcp.json": "",
	"/home/dev/other/file": "", "/home/dev/other/tool": "!", "/home/dev/notes.txt": "", "/home/dev/.ssh/id_rsa": "", "/home/dev/.netrc": "", "/home/dev/.aws/credentials": "",
	"/home/dev/.bashrc": "", "/home/dev/.local/state/qsandbox/journal/x": "", "/home/dev/.cache/qsandbox/other/f": "", "/home/dev/data/set/1": "", "/home/dev/data/set/open/2": "",
	"/home/dev/data/set/open/rw/3": "", "/home/dev/data/set/open/rw/key": "", "/home/dev/tools/bin/mytool": "!", "/home/dev/.nvm/versions/node": "!", "/opt/homebrew/bin/rg": "!",
	"/usr/bin/make": "!", "/usr/bin/env": "!", "/bin/sh": "!", "/usr/lib/dyld": "!", "/etc/passwd": "", "/tmp/host": "", "/var/tmp": "/", "/dev/null": "", "/proc": "/", "/run/docker.sock": "socket", "/home/dev/agent.sock": "socket",
	"/usr/local/bin/tool": "!", "/sbin/ping": "!",
}

// hostOf gives the machine as one of a system.
func hostOf(goos string) host.Host {
	h := machine.Host()
	h.GOOS = goos
	env := map[string]string{"HOME": "/home/dev", "PATH": "/usr/bin:/bin:/home/dev/tools/bin:/home/dev/ws/bin", "XDG_CACHE_HOME": "/home/dev/.cache"}
	h.Lookup = func(k string) (string, bool) { v, ok := env[k]; return v, ok }
	h.Environ = func() []string {
		var out []string
		for k, v := range env {
			out = append(out, k+"="+v)
		}
		return out
	}
	h.Sockets = func() ([]string, error) { return []string{"/run/docker.sock", "/home/dev/agent.sock"}, nil }
	return h
}

// bound binds a policy on the machine.
func bound(t testing.TB, goos string, mode policy.Mode, edit func(*policy.Policy)) *spec.Spec {
	t.Helper()
	p := policy.Default()
	p.Mode, p.Workspace = mode, "/home/dev/ws"
	if edit != nil {
		edit(&p)
	}
	s, err := spec.Bind(hostOf(goos), policy.Effective{Policy: p}, spec.Command{Argv: []string{"make", "-j4"}, Cwd: "/home/dev/ws/sub"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
