package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree is all below a directory: names, kinds, contents, times.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		data := []byte{}
		if fi.Mode().IsRegular() {
			if data, err = os.ReadFile(p); err != nil {
				return err
			}
		}
		fmt.Fprintf(&b, "%s %s %s %q\n", p, fi.Mode(), fi.ModTime(), data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBadInputChangesNothing: the exit code and the JSON error that docs/errors.md and
// docs/windows.md say, and the disk is as it was, records not even begun.
func TestBadInputChangesNothing(t *testing.T) {
	r := newRig(t)
	base := filepath.Dir(r.ws)
	outside := filepath.Join(base, "outside")
	if code := plant([]string{filepath.Join(r.ws, "main.go"), filepath.Join(r.ws, "tool.bat"), filepath.Join(r.ws, ".git", "HEAD"), filepath.Join(outside, "x")}); code != 0 {
		t.Fatal("no workspace")
	}
	root := func(p string) func(*rig) { return func(r *rig) { r.policy("compat", p) } }
	text := func(p string) func(*rig) { return func(r *rig) { r.json = p } }
	cwd := func(p string) func(*rig) { return func(r *rig) { r.ws = p } }
	home, _ := os.UserHomeDir()
	command := []string{"cmd", "/c", "echo x>made"}
	cases := []struct {
		name    string
		edit    func(*rig)
		options []string
		command []string
		exit    int
		code    string
		in      string // the message names it
	}{
		{"malformed JSON", text(`{"type":`), nil, command, 125, "POLICY_INVALID", "too early"},
		{"no object", text(`["read-only"]`), nil, command, 125, "POLICY_INVALID", "preset"},
		{"two objects", text(`{"type":"read-only"}{}`), nil, command, 125, "POLICY_INVALID", "behind"},
		{"unknown field", text(`{"type":"workspace-write","roots":[]}`), nil, command, 125, "POLICY_INVALID", "roots"},
		{"a field twice", text(`{"type":"workspace-write","type":"workspace-write"}`), nil, command, 125, "POLICY_INVALID", "twice"},
		{"unknown preset", text("danger-full-access"), nil, command, 125, "POLICY_INVALID", "danger-full-access"},
		{"misspelt type", text(`{"type":"workspace-wriet"}`), nil, command, 125, "POLICY_INVALID", "workspace-wriet"},
		{"misspelt sandbox_mode", func(r *rig) { r.policy("compact", r.ws) }, nil, command, 125, "POLICY_INVALID", "compact"},
		{"misspelt mode", func(r *rig) { r.sub = "workspace-wriet" }, nil, command, 125, "USAGE_INVALID", "workspace-wriet"},
		{"mode and type differ", func(r *rig) { r.sub = "read-only" }, nil, command, 125, "POLICY_INVALID", "agree"},
		{"cwd outside", cwd(outside), nil, command, 125, "PATH_OUTSIDE_WORKSPACE", "outside"},
		{"cwd above", cwd(base), nil, command, 125, "PATH_OUTSIDE_WORKSPACE", "outside"},
		{"cwd by ..", cwd(r.ws + `\..\outside`), nil, command, 125, "PATH_OUTSIDE_WORKSPACE", "outside"},
		{"cwd with a longer name", func(r *rig) { r.policy("compat", r.ws+`\.git`) }, nil, command, 125, "PATH_OUTSIDE_WORKSPACE", "outside"},
		{"cwd missing", cwd(r.ws + `\none`), nil, command, 125, "PATH_INVALID", "none"},
		{"cwd a file", cwd(r.ws + `\main.go`), nil, command, 125, "PATH_INVALID", "not a directory"},
		{"cwd relative", cwd("."), nil, command, 125, "PATH_INVALID", "drive letter"},
		{"cwd on the network", cwd(`\\192.0.2.1\share`), nil, command, 125, "PATH_INVALID", "network"},
		{"no roots", func(r *rig) { r.policy("compat") }, nil, command, 125, "PATH_OUTSIDE_WORKSPACE", "writable_roots"},
		{"drive root", root(`C:\`), nil, command, 125, "PATH_INVALID", "whole drive"},
		{"drive root, other spelling", root(`c:/windows/..`), nil, command, 125, "PATH_INVALID", "whole drive"},
		{"drive root, long form", root(`\\?\C:\`), nil, command, 125, "PATH_INVALID", "whole drive"},
		{"network path", root(`\\192.0.2.1\c$\x`), nil, command, 125, "PATH_INVALID", "network"},
		{"network path, slashes", root(`//192.0.2.1/c$/x`), nil, command, 125, "PATH_INVALID", "network"},
		{"network path, long form", root(`\\?\UNC\192.0.2.1\x`), nil, command, 125, "PATH_INVALID", "network"},
		{"device path", root(`\\.\C:\x`), nil, command, 125, "PATH_INVALID", "device"},
		{"stream", root(r.ws + `\main.go:x`), nil, command, 125, "PATH_INVALID", "stream"},
		{"system folder", root(`C:\windows`), nil, command, 125, "PATH_INVALID", "windows"},
		{"home directory", root(home), nil, command, 125, "PATH_INVALID", "below"},
		{"missing root", root(`C:\there\is\none`), nil, command, 125, "PATH_INVALID", "none"},
		{"no command", nil, nil, nil, 125, "USAGE_INVALID", "no command"},
		{"empty command", nil, nil, []string{""}, 125, "USAGE_INVALID", "no command"},
		{"missing command", nil, nil, []string{"no-such-program"}, 127, "COMMAND_NOT_FOUND", "no-such-program"},
		{"command of the workspace without a path", nil, nil, []string{"main.go"}, 127, "COMMAND_NOT_FOUND", "main.go"},
		{"unknown option", nil, []string{"--allow-all"}, command, 125, "USAGE_INVALID", "--allow-all"},
		{"option twice", nil, []string{"--cwd", r.ws}, command, 125, "USAGE_INVALID", "twice"},
		{"promise that cannot be kept", func(r *rig) { r.policy("strict", r.ws) }, []string{"--no-write-restricted"}, command, 125, "POLICY_UNENFORCEABLE", "strict"},
		{"who looks misspelt", nil, []string{"--protected", "calller"}, command, 125, "USAGE_INVALID", "calller"},
		{"deny a network path", nil, []string{"--deny-write", `\\192.0.2.1\x`}, command, 125, "PATH_INVALID", "network"},
		{"deny a relative path", nil, []string{"--deny-write", "main.go"}, command, 125, "PATH_INVALID", "drive letter"},
		{"deny a root", nil, []string{"--deny-write", strings.ToUpper(r.ws)}, command, 125, "POLICY_INVALID", "writable roots"},
		{"a batch file by another spelling", nil, nil, []string{`.\tool.bat.`, "&calc"}, 125, "PATH_INVALID", "dot or space"},
		{"an argument that cmd.exe would act on", nil, nil, []string{`.\tool.bat`, "&calc"}, 125, "USAGE_INVALID", "batch file"},
		{"records on the network", func(r *rig) { r.home = `\\192.0.2.1\x` }, nil, command, 125, "PATH_INVALID", "network"},
		{"report that is there", nil, []string{"--report", filepath.Join(r.ws, "main.go")}, command, 125, "USAGE_INVALID", "report"},
	}
	before := tree(t, base)
	for _, c := range cases {
		for _, sub := range []string{"run", "serve"} {
			bad := *r
			bad.home = filepath.Join(base, "unused")
			if c.edit != nil {
				c.edit(&bad)
			}
			if sub == "run" {
				got := bad.run(c.options, c.command...)
				if got.ExitCode != c.exit || got.Error == nil || got.Error.Code != c.code || !strings.Contains(got.Error.Message, c.in) || got.Stdout != "" {
					t.Errorf("%s: %d %+v, want %d %s with %q", c.name, got.ExitCode, got.Error, c.exit, c.code, c.in)
				}
			} else {
				cmd := bad.cmd(sub, c.options, c.command...)
				var out, errs bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errs
				if cmd.Run(); cmd.ProcessState.ExitCode() != c.exit || !strings.Contains(errs.String(), c.in) || out.Len() != 0 || strings.Count(errs.String(), "\n") != 1 {
					t.Errorf("%s, serve: %d %q", c.name, cmd.ProcessState.ExitCode(), errs.String())
				}
			}
			if after := tree(t, base); after != before {
				t.Fatalf("%s, %s: the disk was changed:\n%s\nwas\n%s", c.name, sub, after, before)
			}
		}
	}
	r.home = filepath.Join(base, "unused")
	if got := r.run(nil, "role:touch", "made"); got.ExitCode != 0 || !r.there("made") {
		t.Errorf("control: good input: %+v", got)
	}
}
