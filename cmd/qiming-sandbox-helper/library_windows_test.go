package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/internal/helpercmd"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// asHelper plays the helper where the test binary has its name, as beside qsandbox.exe.
// A file version.json there is what it says of itself.
func asHelper(args []string) (code int, is bool) {
	self, err := os.Executable()
	if err != nil || filepath.Base(self) != helpercmd.HelperName+".exe" || len(args) > 0 && strings.HasPrefix(args[0], "role:") {
		return 0, false
	}
	if data, err := os.ReadFile(filepath.Join(filepath.Dir(self), "version.json")); err == nil && len(args) > 0 && args[0] == "version" {
		os.Stdout.Write(data)
		return 0, true
	}
	return execute(args, streams{os.Stdin, os.Stdout, os.Stderr}), true
}

// library is a program that uses package qsandbox: a policy, then a command.
func library(a []string) int {
	layer, err := policy.Parse("test", []byte(a[0]))
	if err != nil {
		fmt.Fprint(os.Stderr, err)
		return 1
	}
	wd, _ := os.Getwd()
	rep, err := qsandbox.Run(context.Background(), qsandbox.Request{Layers: []policy.Layer{layer}, Command: a[1:], Cwd: wd, Stdout: os.Stderr, Stderr: os.Stderr})
	if err != nil && rep.Error == nil {
		rep.Error = &report.Failure{Message: err.Error()}
	}
	json.NewEncoder(os.Stdout).Encode(rep)
	return 0
}

// terminal is a program that gives a command a terminal of 100 by 30, and then of 120 by
// 40. It prints how the change went, and the exit code.
func terminal(a []string) int {
	layer, err := policy.Parse("test", []byte(a[0]))
	if err != nil {
		fmt.Fprint(os.Stderr, err)
		return 1
	}
	wd, _ := os.Getwd()
	rep, err := qsandbox.Run(context.Background(), qsandbox.Request{Layers: []policy.Layer{layer}, Command: a[1:], Cwd: wd, Stdout: os.Stderr,
		Terminal: &qsandbox.Terminal{Rows: 30, Cols: 100}, Started: func(s *qsandbox.Session) {
			fmt.Print("none: ", s.Resize(qsandbox.Terminal{}) != nil, "; ")
			fmt.Print("resized: ", s.Resize(qsandbox.Terminal{Rows: 40, Cols: 120}), "; ")
		}})
	if err != nil || rep.Exit == nil {
		fmt.Print(err)
		return 1
	}
	fmt.Print("exit: ", rep.Exit.Code)
	return 0
}

// TestTerminalOfTheLibrary: the size, and a change of it, reach the helper. What the
// command sees of it on a real Windows: not verified here.
func TestTerminalOfTheLibrary(t *testing.T) {
	r := newRig(t)
	dir := installed(t, r)
	ws, _ := json.Marshal(r.ws)
	c := exec.Command(filepath.Join(dir, "qsandbox.exe"), "role:terminal", fmt.Sprintf(`{"version":1,"mode":"compat","workspace":%s}`, ws),
		filepath.Join(dir, helpercmd.HelperName+".exe"), "role:exit", "9")
	c.Dir, c.Env = r.ws, append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(filepath.Dir(r.ws), "state"))
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil || string(out) != "none: true; resized: <nil>; exit: 9" {
		t.Errorf("%v %q %q", err, out, errs.String())
	}
}

// installed puts both programs into one directory, as a release does.
func installed(t *testing.T, r *rig) string {
	t.Helper()
	t.Cleanup(func() { (&rig{t: t, env: r.env}).acl("revoke") }) // the library uses the usual records
	dir := filepath.Join(filepath.Dir(r.ws), "bin")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	os.Mkdir(dir, 0o755)
	for _, name := range []string{"qsandbox.exe", helpercmd.HelperName + ".exe"} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// byLibrary runs a role by package qsandbox and the installed helper.
func byLibrary(t *testing.T, r *rig, dir string, command ...string) report.Report {
	t.Helper()
	ws, _ := json.Marshal(r.ws)
	pol := fmt.Sprintf(`{"version":1,"mode":"compat","workspace":%s,"filesystem":{"denyWrite":["*.lock","vendor"]}}`, ws)
	c := exec.Command(filepath.Join(dir, "qsandbox.exe"), append([]string{"role:library", pol}, command...)...)
	c.Dir, c.Env = r.ws, append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(filepath.Dir(r.ws), "state"))
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	var rep report.Report
	if jerr := json.Unmarshal(out, &rep); jerr != nil {
		t.Fatalf("%v %v: %q %q", err, jerr, out, errs.String())
	}
	return rep
}

// TestLibraryUsesTheHelper: package qsandbox, the helper beside it, a command, and the
// look at what it planted, by the caller's own rules.
func TestLibraryUsesTheHelper(t *testing.T) {
	r := newRig(t)
	dir := installed(t, r)
	me := filepath.Join(dir, helpercmd.HelperName+".exe")
	if code := plant([]string{filepath.Join(r.ws, "A [1].LOCK"), filepath.Join(r.ws, "vendor", "x"), filepath.Join(r.ws, "lock.txt")}); code != 0 {
		t.Fatal("no workspace")
	}
	rep := byLibrary(t, r, dir, me, "role:exit", "7")
	denied := map[string]bool{}
	for _, e := range (&rig{t: t, env: r.env}).acl("list").Entries {
		if rel, err := filepath.Rel(r.ws, e.Path); err == nil && e.Type == "deny" {
			denied[rel] = true
		}
	}
	if !denied["A [1].LOCK"] || !denied["vendor"] || denied["lock.txt"] {
		t.Errorf("denyWrite of the policy, by a pattern in any case and by a path: %v", denied)
	}
	if rep.Exit == nil || rep.Exit.Code != 7 || rep.Backend != "windows-sandbox" {
		t.Fatalf("%+v %+v", rep.Exit, rep.Error)
	}
	rep = byLibrary(t, r, dir, me, "role:plant", ".mcp.json", `.vscode\tasks.json`, "main.go")
	if rep.Exit == nil || rep.Exit.Code != 0 || len(rep.Denials) != 2 || r.there(".mcp.json") || r.there(`.vscode`) || !r.there("main.go") {
		t.Errorf("%+v %+v %+v", rep.Exit, rep.Error, rep.Denials)
	}
	for _, d := range rep.Denials {
		if !strings.Contains(d.Remedy, filepath.Join(filepath.Dir(r.ws), "state")) || !strings.Contains(d.Remedy, "[IO.Directory]::Move(") {
			t.Errorf("%+v", d)
		}
	}
	for _, n := range rep.Notices {
		if n.Kind == "journal:missing" {
			t.Errorf("%+v", n)
		}
	}
}

// TestHelperOfAnotherVersion: it is refused with what to do, and nothing is run or made.
func TestHelperOfAnotherVersion(t *testing.T) {
	r := newRig(t)
	dir := installed(t, r)
	me := filepath.Join(dir, helpercmd.HelperName+".exe")
	other := build()
	other.Protocol++
	old := build()
	old.Capabilities = []string{"audit"}
	for _, c := range []struct {
		name, want string
		version    any
	}{
		{"another protocol", "protocol 2", other},
		{"too old", "too old", old},
		{"another program", "is not " + helpercmd.HelperName, map[string]string{"name": "helper"}},
	} {
		data, _ := json.Marshal(c.version)
		if err := os.WriteFile(filepath.Join(dir, "version.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		before := tree(t, r.ws)
		rep := byLibrary(t, r, dir, me, "role:touch", "made")
		if rep.Error == nil || rep.Error.Code != "SANDBOX_UNAVAILABLE" || !strings.Contains(fmt.Sprint(*rep.Error), c.want) || rep.Exit != nil && rep.Exit.Code == 0 {
			t.Errorf("%s: %+v %+v", c.name, rep.Error, rep.Exit)
		}
		if after := tree(t, r.ws); after != before {
			t.Errorf("%s: %s", c.name, after)
		}
	}
	os.Remove(filepath.Join(dir, "version.json"))
	if rep := byLibrary(t, r, dir, me, "role:touch", "made"); rep.Error != nil || !r.there("made") {
		t.Errorf("control: the same helper with its own version: %+v", rep.Error)
	}
}
