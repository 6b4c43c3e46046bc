//go:build linux

package protect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/policy"
)

func (p *place) expect(f Found, want ...string) {
	p.t.Helper()
	have := strings.Split(p.actions(f), "\n")
	for _, w := range want {
		if no, forbidden := strings.CutPrefix(w, "!"); forbidden == slices.Contains(have, no) || !forbidden && !slices.Contains(have, w) {
			p.t.Errorf("%q is not so in\n%s", w, strings.Join(have, "\n"))
		}
	}
}

func TestScanRepository(t *testing.T) {
	p := newPlace(t)
	p.repo("")
	p.git("", "worktree", "add", "-q", "wt")
	p.git("", "worktree", "add", "-q", "../far")
	p.submodule()
	p.write("pkg/a/.vscode/tasks.json", "{}")
	p.write(".git/config.lock", "")
	p.write("x.code-workspace", "")
	p.expect(p.scan(), "pin .git", "read-only .git/hooks", "read-only .git/config", "read-only wt/.git", "pin wt",
		"pin .git/worktrees", "pin .git/worktrees/wt", "read-only .git/worktrees/wt/commondir", "read-only .git/worktrees/wt/gitdir",
		"read-only .git/worktrees/far", "!read-only .git/worktrees/far/commondir", "!pin .git/worktrees/far",
		"read-only lib/.git", "pin lib", "pin .git/modules/lib/x", "pin .git/modules/lib", "read-only .git/modules/lib/x/hooks",
		"read-only .git/modules/lib/x/config", "read-only pkg/a/.vscode", "pin pkg/a", "pin pkg", "read-only x.code-workspace",
		"!read-only .git/config.lock", "!read-only .git/HEAD", "!read-only .git/objects", "!read-only .gitmodules")
	for i, it := range p.scan().Items {
		if it.Name == "" || it.Stamp == (Stamp{}) && it.Action != Watch {
			t.Errorf("item %d has no name or stamp: %+v", i, it)
		}
	}
}

func TestScanTargets(t *testing.T) {
	p := newPlace(t)
	p.repo("")
	p.write("tools/hooks/pre-commit", "")
	p.write("shared.inc", "[filter \"f\"]\n\tclean = ./tools/clean.sh %f\n[include]\n\tpath = more.inc\n")
	p.write("tools/clean.sh", "")
	p.write("real/fsm", "")
	p.link("real", "ln")
	p.git("", "config", "core.hooksPath", "tools/hooks")
	p.git("", "config", "core.fsmonitor", "ln/fsm")
	p.git("", "config", "include.path", "../shared.inc")
	p.git("", "config", "includeIf.onbranch:x.path", p.path("cond.inc"))
	p.expect(p.scan(), "read-only tools/hooks", "pin tools", "read-only shared.inc", "read-only tools/clean.sh",
		"watch more.inc", "watch cond.inc", "watch ln", "read-only real/fsm", "pin real", "!read-only tools")
	p.git("", "config", "core.hooksPath", ".")
	if f := p.scan(); !strings.Contains(strings.Join(f.NotWalked, "\n"), "whole writable root") {
		t.Errorf("hooksPath at a root is not told: %q", f.NotWalked)
	}
}

// TestScanLinks is trial protected-dir-symlink.
func TestScanLinks(t *testing.T) {
	p := newPlace(t)
	p.write("shared/skills/x", "")
	p.write(".claude/settings.json", "")
	p.write("cfg/x", "")
	p.link("../shared/skills", ".claude/skills")
	p.link("cfg", ".vscode")
	p.link("missing", ".mcp.json")
	p.link("/etc", ".idea")
	p.link(".idea2/loop", ".zed")
	p.link("loop", "loop")
	p.link("loop", ".fleet")
	f := p.scan()
	p.expect(f, "read-only .claude", "watch .claude/skills", "read-only shared/skills", "pin shared", "watch .vscode", "read-only cfg",
		"watch .mcp.json", "watch missing", "watch .idea", "watch .zed", "watch .fleet", "!read-only .vscode")
	if v := Check(p.h, f); len(v) != 0 {
		t.Errorf("%+v", v)
	}
}

func TestScanHome(t *testing.T) {
	p := newPlace(t)
	at := func(rel string) string { return "../home/" + rel }
	for _, f := range []string{".bashrc", ".config/fish/config.fish", ".config/other/x", ".local/bin/tool", ".local/lib/python3.11/site-packages/a.pth", ".ssh/config", "work/.bashrc"} {
		p.write(at(f), "")
	}
	os.MkdirAll(p.home+"/real", 0o755)
	os.Symlink("../real", p.home+"/.local/share")
	p.write(at("real/applications/x.desktop"), "")
	f := Scan(p.h, []string{p.home}, []string{p.home}, []string{"ssh-user"}, Limits{})
	p.expect(f, "read-only ../home/.bashrc", "read-only ../home/.config/fish", "pin ../home/.config", "read-only ../home/.local/bin",
		"read-only ../home/.local/lib/python3.11/site-packages", "watch ../home/.local/share", "read-only ../home/real/applications",
		"!read-only ../home/.ssh", "!read-only ../home/work/.bashrc", "!read-only ../home/.config/other")
	for _, f := range []string{".zshrc", ".config/autostart/x.desktop", "bin/ls", ".ssh/rc"} {
		p.write(at(f), "evil")
	}
	got := p.moves(Check(p.h, f))
	if want := []string{"../home/.config/autostart", "../home/.zshrc", "../home/bin"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// A root inside the home.
	f = Scan(p.h, []string{p.home + "/.config"}, []string{p.home}, nil, Limits{})
	p.expect(f, "read-only ../home/.config/fish", "read-only ../home/.config/autostart", "!read-only ../home/.bashrc")
}

// TestEveryRow plants each alternative of each row as new, and finds each as existing.
func TestEveryRow(t *testing.T) {
	tabs := tablesOf(t)
	rows := map[string]bool{}
	check := func(p *place, root string, list []nameRow) {
		for _, r := range list {
			rel := strings.ReplaceAll(r.up+"/"+r.key, "*", "3.11")
			if strings.HasPrefix(r.key, ".") == false && r.up == "" && slices.Contains(tabs.suffix, r) {
				rel = "x" + r.key
			}
			rel = strings.TrimPrefix(rel, "/")
			before := Scan(p.h, []string{p.ws}, []string{p.ws}, nil, Limits{})
			p.write(rel, "x")
			v := Check(p.h, before)
			if len(v) != 1 || !v[0].Move || v[0].Change != New {
				t.Errorf("%s: new: %+v", rel, v)
			}
			rows[r.name] = true
			after := Scan(p.h, []string{p.ws}, []string{p.ws}, nil, Limits{})
			if !slices.ContainsFunc(after.Items, func(it Item) bool { return it.Path == p.path(rel) && it.Action == ReadOnly }) {
				t.Errorf("%s: existing: not an item", rel)
			}
			os.RemoveAll(p.path(strings.SplitN(rel, "/", 2)[0]))
		}
	}
	p := newPlace(t)
	for _, list := range [][]nameRow{tabs.anywhere, tabs.home, tabs.homeGlob} {
		check(p, p.ws, list)
	}
	for _, r := range tabs.suffix {
		p.write("x"+r.key, "")
		p.expect(p.scan(), "read-only x"+r.key)
		rows[r.name] = true
	}
	for _, r := range policy.Protected() {
		if !rows[r.Name] && (r.Scope != "" || !strings.HasPrefix(r.Name, "git-")) {
			t.Errorf("row %s was not tried", r.Name)
		}
	}
}

func TestAllow(t *testing.T) {
	p := newPlace(t)
	p.repo("")
	f := p.scan("git-hooks", "vscode", "git-config")
	p.expect(f, "pin .git", "!read-only .git/hooks", "!read-only .git/config")
	p.write(".git/hooks/pre-commit", "")
	p.write(".vscode/x", "")
	p.git("", "config", "alias.x", "!y")
	if v := Check(p.h, f); len(v) != 0 {
		t.Errorf("%+v", v)
	}
}

// TestGivenBelowAProtectedName: a root of the user's below a protected folder can be
// written, so protected names in it are found, before the run and after it.
func TestGivenBelowAProtectedName(t *testing.T) {
	p := newPlace(t)
	p.write(".idea/mine/a/.mcp.json", "{}")
	p.write(".idea/mine/plain", "")
	p.write(".idea/beside/.mcp.json", "{}")
	p.expect(p.scan(), "read-only .idea", "!read-only .idea/mine/a/.mcp.json") // the control: .idea covers it all
	roots := []string{p.ws, p.path(".idea/mine"), p.path(".idea/mine/a")}
	f := Scan(p.h, roots, nil, nil, Limits{})
	p.expect(f, "read-only .idea", "read-only .idea/mine/a/.mcp.json", "!read-only .idea/mine/plain", "!read-only .idea/beside/.mcp.json")
	if v := Check(p.h, f); len(v) != 0 {
		t.Errorf("nothing was done: %+v", v)
	}
	p.write(".idea/mine/plain", "changed")
	p.write(".idea/mine/a/new", "")
	p.write(".idea/mine/.vscode/tasks.json", "{}")
	if v := Check(p.h, f); len(v) != 1 || v[0].Path != p.path(".idea/mine/.vscode") || !v[0].Move {
		t.Errorf("%+v", v)
	}
}

// TestLockRace is trial git-lock-race: names that come and go.
func TestLockRace(t *testing.T) {
	p := newPlace(t)
	p.repo("")
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			for _, n := range []string{"config.lock", "index.lock", "hooks/x.lock", "commondir"} {
				os.WriteFile(p.path(".git/"+n), nil, 0o644)
				os.Remove(p.path(".git/" + n))
			}
		}
	}()
	for range 200 {
		for _, it := range p.scan().Items {
			if strings.HasSuffix(it.Path, ".lock") {
				t.Errorf("a lock is an item: %+v", it)
			}
		}
	}
	stop.Store(true)
	<-done
}

// TestManyWorktrees is trial git-many-worktrees.
func TestManyWorktrees(t *testing.T) {
	p := newPlace(t)
	p.repo("")
	p.git("", "worktree", "add", "-q", "mine")
	for i := range 400 {
		dir := fmt.Sprintf(".git/worktrees/w%d/", i)
		p.write(dir+"gitdir", fmt.Sprintf("%s/w%d/.git\n", p.home, i))
		p.write(dir+"commondir", "../..\n")
		p.write(dir+"HEAD", "ref: refs/heads/main\n")
	}
	f := p.scan()
	p.expect(f, "read-only .git/worktrees/w0", "read-only .git/worktrees/w399", "read-only .git/worktrees/mine/gitdir", "!read-only .git/worktrees/mine")
	if len(f.Items) > 420 {
		t.Errorf("%d items", len(f.Items))
	}
	p.git("", "worktree", "add", "-q", "other") // its pointer is a new one
	p.write(".git/worktrees/evil/commondir", "/x\n")
	p.write(".git/worktrees/evil/HEAD", "x\n")
	if got := p.moves(Check(p.h, f)); !slices.Equal(got, []string{".git/worktrees/evil/commondir"}) {
		t.Errorf("%q", got)
	}
}

// TestBounds walks trees that were made to be walked for ever.
func TestBounds(t *testing.T) {
	p := newPlace(t)
	for i := range 600 {
		p.write(fmt.Sprintf("d%d/x", i), "")
	}
	p.write("node_modules/a/b", "")
	p.write("a/b/c/d/e/f", "")
	f := p.scan()
	if !f.Partial || len(f.Walked) > DefaultDirs+4 || len(f.NotWalked) < 2 {
		t.Errorf("%d walked, not: %q", len(f.Walked), f.NotWalked)
	}
	p = newPlace(t)
	f = p.scan()
	for i := range 3000 {
		p.write(fmt.Sprintf("d%d/x", i), "")
	}
	p.write(".vscode/x", "")
	start := time.Now()
	v := Check(p.h, f)
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("Check took %v", took)
	}
	if len(v) != 2 || v[0].Change != Unseen || v[0].Path != p.ws || v[1].Path != p.path(".vscode") {
		t.Errorf("%+v", v)
	}
}

// TestScanDuringChaos lets somebody change the tree all the time.
func TestScanDuringChaos(t *testing.T) {
	p := newPlace(t)
	p.repo("")
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; !stop.Load(); i++ {
			os.Rename(p.path(".git"), p.path("x"))
			os.Symlink("/etc", p.path(".git"))
			os.Remove(p.path(".git"))
			os.Rename(p.path("x"), p.path(".git"))
			os.RemoveAll(p.path("sub"))
			p.write("sub/.git", "gitdir: "+strings.Repeat("../", i%5)+".git\n")
			os.Symlink("sub", p.path(".vscode"))
			os.Remove(p.path(".vscode"))
		}
	}()
	for range 100 {
		f := p.scan()
		for _, it := range f.Items {
			if !within(p.ws, it.Path) && !within(p.home, it.Path) {
				t.Fatalf("an item outside: %+v", it)
			}
		}
		Check(p.h, f)
	}
	stop.Store(true)
	<-done
	if _, err := filepath.EvalSymlinks(p.path(".git")); err != nil {
		t.Error(err)
	}
}

// TestUnreadable hides what was planted by the mode of a folder.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	p := newPlace(t)
	p.repo("")
	p.write("src/x", "")
	p.write("kept/x", "")
	os.Chmod(p.path("kept"), 0)
	f := p.scan()
	if len(f.NotWalked) != 1 {
		t.Errorf("not told: %q", f.NotWalked)
	}
	p.repo("src")
	p.repo("made")
	p.write(".git/modules/x/hooks/pre-commit", "")
	for _, dir := range []string{"src", "made", "made/.git/hooks", ".git/modules/x"} {
		os.Chmod(p.path(dir), 0o311)
	}
	os.Chmod(p.path("made/.git/config"), 0)
	v := Check(p.h, f)
	if got := p.moves(v); !slices.Equal(got, []string{".git/modules/x", "made"}) {
		t.Errorf("%+v", v)
	}
	if !slices.ContainsFunc(v, func(v Violation) bool { return v.Change == Unseen && v.Path == p.path("src") }) {
		t.Errorf("src is not told: %+v", v)
	}
	for _, w := range v {
		if w.Move {
			if _, err := Quarantine(w, p.home+"/state", "r"); err != nil {
				t.Error(err)
			}
		}
	}
	for _, dir := range []string{p.path("kept"), p.path("src"), p.home + "/state/quarantine/r/000-x", p.home + "/state/quarantine/r/001-made", p.home + "/state/quarantine/r/001-made/.git/hooks"} {
		os.Chmod(dir, 0o755) // for the cleaning up
	}
}
