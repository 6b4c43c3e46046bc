package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/internal/helpercmd"
)

var usable = sync.OnceValue(func() string {
	d, err := qsandbox.Doctor(context.Background())
	if err != nil {
		return err.Error()
	}
	for _, b := range d.Backends {
		if b.Name == d.Auto {
			return ""
		}
	}
	return "no backend can be used here: " + d.Auto
})

// place gives a directory with two workspaces, where a sandbox hides neither.
func place(t *testing.T) (dir, ws, other string) {
	t.Helper()
	if why := usable(); why != "" {
		if os.Getenv("QSANDBOX_REQUIRE") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	dir, err := os.MkdirTemp("/var", "qsandbox-helper-")
	if err != nil {
		dir, err = os.MkdirTemp(os.Getenv("HOME"), "qsandbox-helper-")
	}
	if err != nil {
		t.Skip("no directory outside /tmp can be made: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ws, other = filepath.Join(dir, "w s"), filepath.Join(dir, "other")
	for _, d := range []string{ws, other} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	return dir, ws, other
}

func policyJSON(t *testing.T, mode string, network bool, roots ...string) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"type": "workspace-write", "writable_roots": roots, "sandbox_mode": mode, "network_access": network})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func answer(t *testing.T, args ...string) helpercmd.Result {
	t.Helper()
	code, out, errs := call("", args...)
	r, err := helpercmd.ParseResult([]byte(out))
	if err != nil || r.ExitCode != code {
		t.Fatalf("%v: %d %q %q", err, code, out, errs)
	}
	return r
}

// TestWritesWhereItMay: WN-01, WN-02, WN-03 on this system's own sandbox (WIN-12).
func TestWritesWhereItMay(t *testing.T) {
	dir, ws, other := place(t)
	try := "for d in '" + ws + "' '" + other + "' '" + dir + "'; do if (echo x >\"$d/f\") 2>/dev/null; then echo yes; rm \"$d/f\"; else echo no; fi; done"
	read := `{"type":"read-only"}`
	for _, c := range []struct{ mode, policy, want string }{
		{"workspace-write", policyJSON(t, "compat", false, ws, other), "yes yes no"},
		{"workspace-write", policyJSON(t, "compat", false, other, ws), "yes yes no"}, // the root that holds cwd is the workspace
		{"workspace-write", policyJSON(t, "compat", false, ws), "yes no no"},
		{"read-only", read, "no no no"},
		{"read-only", "read-only", "no no no"},
		{"workspace-write", policyJSON(t, "permissive", false, ws), "yes yes yes"},
	} {
		r := answer(t, "run", "--mode", c.mode, "--cwd", ws, "--policy-json", c.policy, "--", "sh", "-c", try)
		if got := strings.Join(strings.Fields(r.Stdout), " "); got != c.want {
			t.Errorf("%s: %q, want %q (%s)", c.policy, got, c.want, r.Stderr)
		}
	}
	for _, sub := range []string{"run", "serve"} {
		code, out, errs := call("", sub, "--mode", "workspace-write", "--cwd", other, "--policy-json", policyJSON(t, "compat", false, ws), "--", "sh", "-c", "echo x >f")
		if code != 125 || !strings.Contains(out+errs, "writable roots") {
			t.Errorf("%s outside: %d %q %q", sub, code, out, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(other, "f")); err == nil {
		t.Error("a refused command ran")
	}
}

// TestRunAndServe: answers, exit codes, input, time.
func TestRunAndServe(t *testing.T) {
	_, ws, _ := place(t)
	p := policyJSON(t, "compat", false, ws)
	r := answer(t, "run", "--mode", "workspace-write", "--cwd", ws, "--policy-json", p, "--", "sh", "-c", "printf out; printf 'err\\377' >&2; exit 3")
	if r.ExitCode != 3 || r.Stdout != "out" || r.StderrBase64 == "" || r.TimedOut || len(r.Enforcement) == 0 {
		t.Errorf("%+v", r)
	}
	if r := answer(t, "run", "--timeout", "300ms", "--mode", "workspace-write", "--cwd", ws, "--policy-json", p, "--", "sleep", "30"); !r.TimedOut || r.ExitCode != helpercmd.ExitTimeout {
		t.Errorf("%+v", r)
	}
	if r := answer(t, "run", "--mode", "workspace-write", "--cwd", ws, "--policy-json", p, "--", "no-such-program"); r.ExitCode != 127 || r.Error == nil || r.Error.Code != "COMMAND_NOT_FOUND" {
		t.Errorf("%+v", r)
	}
	code, out, errs := call("line\n", "serve", "--mode", "workspace-write", "--cwd", ws, "--policy-json", p, "--", "sh", "-c", "cat; echo oops >&2; exit 9")
	if code != 9 || out != "line\n" || errs != "oops\n" {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if r := answer(t, "run", "--output", "10", "--mode", "workspace-write", "--cwd", ws, "--policy-json", p, "--", "sh", "-c", "echo 0123456789abcdef"); !strings.Contains(r.Stdout, "left out") || !r.Truncated {
		t.Errorf("%+v", r)
	}
}

// TestEnvironment: ENV-03, and what is named passes.
func TestEnvironment(t *testing.T) {
	_, ws, _ := place(t)
	t.Setenv("ANTHROPIC_API_KEY", "leak_test")
	t.Setenv("NAMED", "1")
	t.Setenv("NODE_OPTIONS", "--max-old-space-size=64")
	p := policyJSON(t, "compat", false, ws)
	plain := answer(t, "run", "--mode", "workspace-write", "--cwd", ws, "--policy-json", p, "--", "env").Stdout
	named := answer(t, "run", "--mode", "workspace-write", "--cwd", ws, "--policy-json", p, "--pass-env", "NAMED", "--pass-env", "NODE_OPTIONS", "--", "env").Stdout
	if strings.Contains(plain, "leak_test") || strings.Contains(plain, "NAMED") || strings.Contains(plain, "NODE_OPTIONS") {
		t.Errorf("passes: %s", plain)
	}
	if lines := strings.Split(named, "\n"); !slices.Contains(lines, "NAMED=1") || !slices.Contains(lines, "NODE_OPTIONS=--max-old-space-size=64") || strings.Contains(named, "leak_test") {
		t.Errorf("named ones: %s", named)
	}
}

// TestDenyWrite and the .git of the workspace (WN-07): hooks cannot be planted.
func TestDenyWrite(t *testing.T) {
	_, ws, _ := place(t)
	for _, d := range []string{"vendor", ".git/hooks"} {
		if err := os.MkdirAll(filepath.Join(ws, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(ws, ".git/HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := answer(t, "run", "--mode", "workspace-write", "--cwd", ws, "--policy-json", policyJSON(t, "compat", false, ws), "--deny-write", filepath.Join(ws, "vendor"), "--",
		"sh", "-c", "for f in vendor/x .git/hooks/pre-commit ok; do (echo x >$f) 2>/dev/null && echo $f; done")
	if strings.TrimSpace(r.Stdout) != "ok" {
		t.Errorf("written: %q", r.Stdout)
	}
}
