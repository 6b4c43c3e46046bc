package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/helpercmd"
)

// kept is all below a directory: names, kinds, contents. The audit log is not: a refused
// run stands in it.
func kept(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p == filepath.Join(dir, "state") || p == filepath.Join(dir, "state", "qsandbox") || e.Name() == "audit.jsonl" {
			return nil
		}
		data := []byte{}
		if e.Type().IsRegular() {
			data, err = os.ReadFile(p)
		}
		fmt.Fprintf(&b, "%s %s %q\n", p, e.Type(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBadInputChangesNothingHere: WIN-12, the same answers as on Windows, as far as the
// systems have the same paths; no records are begun, and nothing is run.
func TestBadInputChangesNothingHere(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, outside := filepath.Join(dir, "ws"), filepath.Join(dir, "outside")
	for _, d := range []string{ws, outside} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(ws, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(ws, "link")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Chdir(ws)
	good := policyJSON(t, "compat", false, ws)
	for _, c := range []struct {
		name, mode, cwd, policy string
		options                 []string
		exit                    int
		code, in                string
	}{
		{"malformed JSON", "workspace-write", ws, `{"type":`, nil, 125, "POLICY_INVALID", "too early"},
		{"unknown field", "workspace-write", ws, `{"type":"workspace-write","roots":[]}`, nil, 125, "POLICY_INVALID", "roots"},
		{"misspelt sandbox_mode", "workspace-write", ws, policyJSON(t, "compact", false, ws), nil, 125, "POLICY_INVALID", "compact"},
		{"misspelt mode", "workspace-wriet", ws, good, nil, 125, "USAGE_INVALID", "workspace-wriet"},
		{"mode and type differ", "read-only", ws, good, nil, 125, "POLICY_INVALID", "agree"},
		{"cwd outside", "workspace-write", outside, good, nil, 125, "PATH_OUTSIDE_WORKSPACE", "outside"},
		{"cwd by a link", "workspace-write", filepath.Join(ws, "link"), good, nil, 125, "PATH_OUTSIDE_WORKSPACE", "link"},
		{"cwd missing", "workspace-write", filepath.Join(ws, "none"), good, nil, 125, "PATH_INVALID", "none"},
		{"cwd relative", "workspace-write", ".", good, nil, 125, "PATH_INVALID", "absolute"},
		{"no roots", "workspace-write", ws, `{"type":"workspace-write","writable_roots":[]}`, nil, 125, "PATH_OUTSIDE_WORKSPACE", "writable roots"},
		{"the whole disk", "workspace-write", ws, policyJSON(t, "compat", false, "/"), nil, 125, "PATH_INVALID", "everything"},
		{"a path of Windows", "workspace-write", ws, policyJSON(t, "compat", false, `C:\ws`), nil, 125, "PATH_INVALID", "absolute"},
		{"missing command", "workspace-write", ws, good, nil, 127, "COMMAND_NOT_FOUND", "no-such-program"},
		{"unknown option", "workspace-write", ws, good, []string{"--allow-all"}, 125, "USAGE_INVALID", "--allow-all"},
		{"promise that cannot be kept", "workspace-write", ws, policyJSON(t, "strict", false, ws), []string{"--no-write-restricted"}, 125, "POLICY_UNENFORCEABLE", "strict"},
		{"deny a relative path", "workspace-write", ws, good, []string{"--deny-write", "file"}, 125, "PATH_INVALID", "--deny-write"},
		{"deny a root", "workspace-write", ws, good, []string{"--deny-write", ws}, 125, "POLICY_INVALID", "writable roots"},
		{"relative records", "workspace-write", ws, good, []string{"--home", "rel"}, 125, "PATH_INVALID", "--home"},
		{"report that is there", "workspace-write", ws, good, []string{"--report", filepath.Join(ws, "file")}, 125, "USAGE_INVALID", "report"},
	} {
		if c.name == "missing command" && usable() != "" {
			continue // it is looked up when the sandbox is known
		}
		before := kept(t, dir)
		for _, sub := range []string{"run", "serve"} {
			args := append([]string{sub, "--mode", c.mode, "--cwd", c.cwd, "--policy-json", c.policy}, c.options...)
			code, out, errs := call("", append(args, "--", "no-such-program")...)
			if code != c.exit || !strings.Contains(errs, c.in) || strings.Count(errs, "\n") != 1 {
				t.Errorf("%s, %s: %d %q %q", c.name, sub, code, out, errs)
			}
			if r, err := helpercmd.ParseResult([]byte(out)); sub == "run" && (err != nil || r.Error == nil || r.Error.Code != c.code || r.ExitCode != c.exit) {
				t.Errorf("%s: %q %v", c.name, out, err)
			}
			if after := kept(t, dir); after != before {
				t.Fatalf("%s, %s: the disk was changed:\n%s\nwas\n%s", c.name, sub, after, before)
			}
		}
	}
}
