package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBatchFileOfThePath: cmd.exe starts the batch file that was found in PATH, not one of
// the same name in the directory to start in, and its argument stays one. The control names
// the other file.
func TestBatchFileOfThePath(t *testing.T) {
	r := newRig(t)
	bin := filepath.Join(filepath.Dir(r.ws), "bin & more")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, text := range map[string]string{bin: "@echo path [%1] [%2]\r\n", r.ws: "@echo workspace [%1] [%2]\r\n"} {
		if err := os.WriteFile(filepath.Join(dir, "only.bat"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.env = append(r.env, "PATH="+bin+";"+os.Getenv("PATH"))
	for name, want := range map[string]string{"only": "path", "only.bat": "path", `.\only`: "workspace"} {
		got := r.run(nil, name, "a,b", "c")
		if !strings.HasPrefix(got.Stdout, want) || !strings.Contains(got.Stdout, `["a,b"] [c]`) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestDenyWriteOfWhatIsNotThere says so, and a list of no records makes none.
func TestDenyWriteOfWhatIsNotThere(t *testing.T) {
	r := newRig(t)
	r.acl("list")
	if _, err := os.Lstat(r.home); err == nil {
		t.Error("acl list made the directory of records")
	}
	missing, there := filepath.Join(r.ws, "none"), filepath.Join(r.ws, "there")
	if err := os.WriteFile(there, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got := r.run([]string{"--deny-write", missing, "--deny-write", strings.ToUpper(there)}, "role:exit", "0")
	told, denied := 0, false
	for _, n := range got.Notices {
		if n.Kind == "deny-write:missing" && strings.Contains(n.Text, missing) {
			told++
		}
	}
	for _, e := range r.acl("list").Entries {
		denied = denied || e.Path == there && e.Type == "deny" && e.Flags == 0
	}
	if told != 1 || !denied {
		t.Errorf("told %d times, denied %v: %+v", told, denied, got)
	}
	r.run(nil, "role:exit", "0")
	for _, e := range r.acl("list").Entries {
		if e.Path == there {
			t.Errorf("a later run without --deny-write leaves %+v", e)
		}
	}
}
