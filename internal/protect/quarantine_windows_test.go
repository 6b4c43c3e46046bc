package protect

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

func put(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("planted"), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// planted are names of FS-04 of every kind, and what moves them away: a repository of
// the command's own, hooks, pointers, settings, start files.
var planted = []string{
	`.git\commondir`, `.git\hooks\pre-commit`, `.git\config.worktree`, `.git\rebase-merge\git-rebase-todo`, `.git\modules\x\hooks\post-checkout`,
	`.vscode\tasks.json`, `.mcp.json`, `sub\.git`, `sub2\.GIT\HOOKS\pre-push`, `bare\hooks\update`, `.IDEA\workspace.xml`,
}

// TestNewNamesAreMoved: what was not there at the start is found and moved away, and
// the twin, ordinary files beside it, stays (FS-04).
func TestNewNamesAreMoved(t *testing.T) {
	p := newPlace(t)
	state := filepath.Join(p.home, "state")
	for _, f := range []string{`.git\HEAD`, `.git\objects\x`, `.git\refs\x`, `.git\hooks\old`} {
		put(t, filepath.Join(p.ws, f))
	}
	before := Scan(p.h, []string{p.ws}, nil, nil, Limits{})
	if v := Check(p.h, before); len(v) != 0 {
		t.Fatalf("control: nothing was done, and %+v", v)
	}
	for _, f := range planted {
		put(t, filepath.Join(p.ws, f))
	}
	for _, dir := range []string{"bare", `.git\modules\x`} {
		for _, f := range []string{"head", `OBJECTS\x`, `refs\x`} { // letter case does not hide it
			put(t, filepath.Join(p.ws, dir, f))
		}
	}
	plain := []string{"main.go", `src\config`, `.git\objects\ab\cd`, `.git\index`}
	for _, f := range plain {
		put(t, filepath.Join(p.ws, f))
	}
	os.WriteFile(filepath.Join(p.ws, `.git\rebase-merge\git-rebase-todo`), []byte("exec calc\n"), 0o644)
	list := Check(p.h, before)
	for _, v := range list {
		if !v.Move {
			t.Errorf("not to be moved: %+v", v)
			continue
		}
		m, err := Quarantine(v, state, "run-1")
		if err != nil {
			t.Errorf("%s: %v", v.Path, err)
			continue
		}
		if _, err := os.Lstat(m.To); err != nil || m.InPlace || !strings.HasPrefix(m.Restore, "[IO.Directory]::Move(") {
			t.Errorf("%+v %v", m, err)
		}
	}
	for _, f := range planted {
		if _, err := os.Lstat(filepath.Join(p.ws, f)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("still there: %s", f)
		}
	}
	for _, f := range append(plain, `.git\hooks\old`, `.git\HEAD`) {
		if _, err := os.Lstat(filepath.Join(p.ws, f)); err != nil {
			t.Errorf("taken with the rest: %v", err)
		}
	}
	if v := Check(p.h, before); len(v) != 0 {
		t.Errorf("afterwards: %+v", v)
	}
}

// TestMoveReplacesNothing: of two entries neither is lost.
func TestMoveReplacesNothing(t *testing.T) {
	p := newPlace(t)
	a, b := filepath.Join(p.ws, "a"), filepath.Join(p.home, "b")
	put(t, a)
	put(t, b)
	if err := moveOut(&Moved{From: a, To: b}); err == nil {
		t.Error("a file was replaced")
	}
	if _, err := os.Lstat(a); err != nil {
		t.Error(err)
	}
	if err := moveOut(&Moved{From: a, To: filepath.Join(p.home, "é 中")}); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(p.home, "é 中")); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`\\localhost\c$\x`, `\\.\C:`, "relative"} {
		if err := moveOut(&Moved{From: bad, To: b + "2"}); err == nil {
			t.Errorf("%s was moved", bad)
		}
	}
}

// TestJournalOfADeadLauncher: a journal is alive with its process, and found when that
// is gone.
func TestJournalOfADeadLauncher(t *testing.T) {
	if os.Getenv("QSANDBOX_JOURNAL") != "" {
		os.Exit(writeJournal())
	}
	p := newPlace(t)
	state := filepath.Join(p.home, "state")
	c := exec.Command(os.Args[0], "-test.run=^TestJournalOfADeadLauncher$")
	c.Env = append(os.Environ(), "QSANDBOX_JOURNAL="+state, "QSANDBOX_ROOT="+p.ws)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if n, err := out.Read(make([]byte, 16)); n == 0 {
		t.Fatal(err)
	}
	if list, notes := Pending(p.h, state); len(list) != 0 || len(notes) != 0 {
		t.Errorf("while it lives: %+v %+v", list, notes)
	}
	in.Close()
	c.Process.Kill()
	c.Wait()
	put(t, filepath.Join(p.ws, ".mcp.json"))
	list, notes := Pending(p.h, state)
	if len(list) != 1 || len(notes) != 0 || list[0].RunID != "dead" {
		t.Fatalf("%+v %+v", list, notes)
	}
	j, err := list[0].Adopt(p.h)
	if err != nil || j == nil {
		t.Fatal(j, err)
	}
	if v := Check(p.h, list[0].Found); len(v) != 1 || !v[0].Move {
		t.Errorf("%+v", v)
	}
	if err := j.End(); err != nil {
		t.Error(err)
	}
	if list, _ := Pending(p.h, state); len(list) != 0 {
		t.Errorf("left: %+v", list)
	}
}

func writeJournal() int {
	p := &place{ws: os.Getenv("QSANDBOX_ROOT")}
	h := host.Real()
	if _, err := Begin(h, os.Getenv("QSANDBOX_JOURNAL"), Scan(h, []string{p.ws}, nil, nil, Limits{}), Meta{RunID: "dead", Workspace: p.ws}); err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	os.Stdout.WriteString("written\n")
	os.Stdin.Read(make([]byte, 1))
	return 0
}
