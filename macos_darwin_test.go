package qsandbox_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Trials on a real Mac: each denial with its twin. They begin with QSANDBOX_MACOS=1,
// which the workflow sets. Not verified here.

func macRun(t *testing.T, ws, script string, edit func(*policy.Layer)) (string, int) {
	t.Helper()
	backend := policy.MacosSeatbelt
	layer := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags, Name: "test"}, Workspace: &ws, Backend: &backend}
	if edit != nil {
		edit(&layer)
	}
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rep, err := qsandbox.Run(ctx, qsandbox.Request{Layers: []policy.Layer{layer}, Command: []string{"/bin/sh", "-c", script}, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	if rep.Backend != "macos-seatbelt" {
		t.Fatalf("it ran by %s", rep.Backend)
	}
	return strings.TrimSpace(out.String()), rep.Exit.Code
}

func TestMacTrials(t *testing.T) {
	if os.Getenv("QSANDBOX_MACOS") == "" {
		t.Skip("QSANDBOX_MACOS is not set")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	base, err := os.MkdirTemp(home, "qsandbox-trial-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	ws := filepath.Join(base, "ws")
	for path, text := range map[string]string{"ws/.git/hooks/x": "", "ws/.git/HEAD": "ref: refs/heads/main", "ws/.vscode/s": "", "ws/secret/k": "k", "ws/d/caf\u00e9": "c", "out/f": "f"} {
		full := filepath.Join(base, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	hide := func(l *policy.Layer) {
		l.Filesystem.DenyRead = &[]string{"secret", "d/cafe\u0301", "**/.env"}
	}
	for _, c := range []struct{ name, denied, twin string }{
		{"write outside", "echo x > ../out/new", "echo x > new"},
		{"read what is hidden", "cat secret/k", "cat .git/HEAD"},
		{"the same in another case", "cat SECRET/K", "cat .GIT/head"},
		{"the same in another form", "cat d/caf\u00e9", "ls d"},
		{"rename what holds it", "mv secret s2", "mkdir e && mv e e2"},
		{"a pattern's name is made", "echo x > .ENV", "echo x > .envx"},
		{"a protected name is made", "mkdir .idea", "mkdir .idea2"},
		{"a protected name in another case", "echo x > .VSCode/t", "echo x > vscode"},
		{"a hook", "echo x > .git/hooks/pre-commit", "echo x > .git/index"},
		{"git's folder moves away", "mv .git g", "mv .git/HEAD .git/HEAD2 && mv .git/HEAD2 .git/HEAD"},
		{"the network", "nc -z -w 2 127.0.0.1 22 || curl -sm 3 https://example.com", "python3 -c 'import socket,os; s=socket.socket(socket.AF_UNIX); s.bind(os.environ[\"TMPDIR\"]+\"/s\")' || [ ! -x /usr/bin/python3 ]"},
		{"a signal to others", "kill -0 1 || kill -0 $PPID", "sleep 5 & kill $!"},
		{"arguments of others", "ps -axo args | grep -q launchd", "sysctl -n hw.ncpu"},
		{"another sandbox inside", "/usr/bin/sandbox-exec -p '(version 1)(allow default)' /usr/bin/true", "/usr/bin/true"},
		{"open", "open -g -a Calculator", "echo x > /dev/null"},
		{"the profile", "cat \"${TMPDIR%/tmp}/run/profile.sb\"", "touch \"$TMPDIR/x\""},
	} {
		if out, code := macRun(t, ws, c.denied, hide); code == 0 {
			t.Errorf("%s: was allowed: %s", c.name, out)
		}
		if out, code := macRun(t, ws, c.twin, hide); code != 0 {
			t.Errorf("%s, the twin: %d %s", c.name, code, out)
		}
	}
	if _, code := macRun(t, ws, "exit 7", nil); code != 7 {
		t.Errorf("exit code %d", code)
	}
	left, _ := filepath.Glob(filepath.Join(home, ".local/state/qsandbox/run/*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
