package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/report"
)

// newNames are names of FS-04 that are not there at the start, of every kind.
var newNames = []string{`.git\commondir`, `.git\hooks\post-commit`, `.git\config.worktree`, `.mcp.json`, `.vscode\tasks.json`, `sub\.git`, `sub\.IDEA\x.xml`}

// repository makes one as git leaves it, with a hook of its owner's.
func (r *rig) repository() {
	r.t.Helper()
	for _, f := range []string{"HEAD", `objects\x`, `refs\x`, `hooks\mine`, "index"} {
		if code := plant([]string{filepath.Join(r.ws, ".git", f)}); code != 0 {
			r.t.Fatal("no repository")
		}
	}
}

func (r *rig) there(name string) bool {
	_, err := os.Lstat(filepath.Join(r.ws, name))
	return err == nil
}

// denied lists what was reported, relative to the workspace.
func (r *rig) denied(list []report.Denial) (names []string) {
	for _, d := range list {
		rel, err := filepath.Rel(r.ws, d.Subject)
		if err != nil || !strings.Contains(d.Remedy, "moved to "+r.home) || !strings.Contains(d.Remedy, "[IO.Directory]::Move(") {
			r.t.Errorf("%+v", d)
		}
		names = append(names, rel)
	}
	return names
}

// TestNewNamesAreMovedAway: FS-04 of what did not exist at the start. Twins: ordinary
// files stay, and with sandbox_mode permissive, or a caller that looks itself, all does.
func TestNewNamesAreMovedAway(t *testing.T) {
	r := newRig(t)
	r.repository()
	plain := []string{"main.go", `src\config`, `.git\objects\ab\cd`}
	got := r.run(nil, append([]string{"role:plant"}, append(slices.Clone(newNames), plain...)...)...)
	if got.ExitCode != 0 {
		t.Fatalf("control: nothing was planted: %+v", got)
	}
	names := r.denied(got.Denials)
	for _, f := range newNames {
		if r.there(f) {
			t.Errorf("%s is still there", f)
		}
		if !slices.ContainsFunc(names, func(n string) bool { return n == f || strings.HasPrefix(f, n+`\`) }) {
			t.Errorf("%s is not in %q", f, names)
		}
	}
	for _, f := range append(plain, `.git\hooks\mine`, `.git\HEAD`) {
		if !r.there(f) {
			t.Errorf("%s was taken as well", f)
		}
	}
	detected := false
	for _, row := range got.Enforcement {
		detected = detected || row.Requirement == "FS-04" && row.Level == report.Detected
	}
	if !detected {
		t.Errorf("no row: %+v", got.Enforcement)
	}
	if again := r.run(nil, "role:exit", "0"); len(again.Denials) != 0 {
		t.Errorf("the next run: %+v", again.Denials)
	}
	if got := r.run([]string{"--protected", "caller"}, "role:plant", ".mcp.json"); len(got.Denials) != 0 || !r.there(".mcp.json") {
		t.Errorf("the caller's: %+v", got.Denials)
	}
	r.policy("permissive", r.ws)
	if got := r.run(nil, "role:plant", `.vscode\tasks.json`); len(got.Denials) != 0 || !r.there(`.vscode\tasks.json`) {
		t.Errorf("permissive: %+v", got.Denials)
	}
}

// TestServeSaysWhatItMoved: there is no JSON, so a line says it.
func TestServeSaysWhatItMoved(t *testing.T) {
	r := newRig(t)
	c := r.cmd("serve", []string{"--write-restricted"}, "role:plant", ".mcp.json")
	var errs strings.Builder
	c.Stderr = &errs
	if err := c.Run(); err != nil || r.there(".mcp.json") || !strings.Contains(errs.String(), "moved to") {
		t.Errorf("%v %q", err, errs.String())
	}
}

// TestPlantedBeforeTheHelperWasKilled: the next start finds it by the journal.
func TestPlantedBeforeTheHelperWasKilled(t *testing.T) {
	r := newRig(t)
	c := r.cmd("serve", []string{"--write-restricted"}, "role:plantwait", ".mcp.json", `.git\hooks\x`, `.git\HEAD`)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if n, _ := io.ReadAtLeast(out, make([]byte, 1), 1); n == 0 {
		t.Error("control: the command said nothing")
	}
	c.Process.Kill()
	c.Wait()
	time.Sleep(200 * time.Millisecond) // the job ends the command a moment later
	if !r.there(".mcp.json") {
		t.Fatal("control: nothing was planted")
	}
	got := r.run(nil, "role:exit", "0")
	if names := r.denied(got.Denials); r.there(".mcp.json") || !slices.Contains(names, ".mcp.json") {
		t.Errorf("%q: %+v", names, got)
	}
}
