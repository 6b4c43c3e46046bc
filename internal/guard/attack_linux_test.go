package guard

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a repository as it was before the run: with hooks, a submodule's
// folder, a linked worktree and a rebase that waits.
func (r *rig) repository() {
	r.t.Helper()
	cmd := exec.Command("sh", "-ec", `
		git init -q repo; cd repo; echo a > f; git add f; git commit -qm one; git branch side
		git worktree add -q ../linked side; mkdir -p .git/modules/m/hooks; echo x > .git/modules/m/config; echo ref > .git/modules/m/HEAD
		mkdir .git/rebase-merge; echo pick > .git/rebase-merge/git-rebase-todo
		mkdir ../evil ../evil/hooks ../evil/agents; echo x > ../evil/hooks/pre-commit; echo x > ../evil/config; echo x > ../evil/commondir; cp ../evil/config ../plain
		mkdir ../empty ../old.git; echo x > ../old.git/config; mkdir -p ../.vs/x; echo x > ../.vs/x/y; echo '{}' > ../.mcp.json`)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "HOME="+r.root)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatal(err, string(out))
	}
	filepath.WalkDir(r.root, func(path string, _ os.DirEntry, _ error) error { r.own(path); return nil })
}

// attacks are refused: "name that must not come to be or change: script".
var attacks = []string{
	"repo/.git/commondir: echo /evil > repo/.git/commondir",
	"repo/.git/commondir: cp evil/commondir repo/.git/",
	"repo/.git/commondir: mv evil/commondir repo/.git/commondir",
	"repo/.git/commondir: ln evil/commondir repo/.git/commondir",
	"repo/.git/commondir: ln -s ../../evil/commondir repo/.git/commondir",
	"repo/.git/commondir: cd repo/.git/objects && echo x > ../commondir",
	"repo/.git/commondir: ln -s repo/.git g; echo x > g/commondir",
	"repo/.git/commondir: ln -s repo/.git/commondir c; echo x > c",
	"repo/.git/commondir: echo x > /proc/self/cwd/repo/.git/commondir",
	"repo/.git/commondir: exec 9< repo/.git; echo x > /proc/self/fd/9/commondir",
	"repo/.git/commondir: exec 9< repo/.git; echo x > /dev/fd/9/commondir",
	"repo/.git/config.worktree: mkfifo repo/.git/config.worktree",
	"repo/.git/config.worktree: mkdir repo/.git/config.worktree",
	"repo/.git/gitdir: touch repo/.git/gitdir",
	"repo/.git/hooks: mv repo/.git/hooks h && mkdir repo/.git/hooks && echo x > repo/.git/hooks/new",
	"repo/.git/hooks/pre-commit: cp evil/hooks/pre-commit repo/.git/hooks/pre-commit",
	"repo/.git/hooks/pre-commit: mv evil/hooks/pre-commit repo/.git/hooks/",
	"repo/.git/config: mv plain repo/.git/config",
	"repo/.git/config: git -C repo config core.fsmonitor /evil",
	"repo/.git: mv repo/.git moved",
	"repo/.git: python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100,b\"evil\",-100,b\"repo/.git\",2)'",
	".vs: python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100,b\"evil\",-100,b\".vs\",2)'",
	".vscode: python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100,b\"evil\",-100,b\".vscode\",1)'",
	"linked/.git: echo 'gitdir: evil' > new && mv new linked/.git",
	"linked/.git: mv linked/.git x",
	"linked/.git: ln linked/.git alias && echo 'gitdir: evil' > alias",
	"repo/.git/worktrees/linked: mv repo/.git/worktrees/linked w",
	"repo/.git/worktrees/linked: mv repo/.git/worktrees/linked repo/.git/worktrees/other",
	"repo/.git/worktrees: mv repo/.git/worktrees w",
	"repo/.git/worktrees/linked/config.worktree: touch repo/.git/worktrees/linked/config.worktree",
	"repo/.git/modules/m: mv repo/.git/modules/m m",
	"repo/.git/modules/m/hooks/x: touch repo/.git/modules/m/hooks/x",
	"repo/.git/modules/n: mv evil repo/.git/modules/n",
	"repo/.git/modules/l: ln -s ../../../evil repo/.git/modules/l",
	"repo/.git/worktrees/l: ln -s ../../../evil repo/.git/worktrees/l",
	"repo/.git/worktrees/n: mv evil repo/.git/worktrees/n",
	"repo/.git/rebase-merge/git-rebase-todo: echo exec > t && mv t repo/.git/rebase-merge/git-rebase-todo",
	"repo/.git/rebase-merge/git-rebase-todo.backup: touch repo/.git/rebase-merge/git-rebase-todo.backup",
	"repo/.git/rebase-merge: mv repo/.git/rebase-merge m",
	"evil/.git: mkdir e && cp -r evil/. e/ && mv e evil/.git",
	"empty/.git: ln -s ../evil empty/.git",
	"empty/.git: mv evil empty/.git",
	".github: mkdir x.git x.git/hooks; echo x > x.git/hooks/h; mv x.git .github",
	".hg: mkdir x.git; echo x > x.git/hgrc; mv x.git .hg",
	"x.git/.github/hooks: mkdir x.git; mv evil x.git/.github",
	"n.git: mv evil n.git",
	"old.git/hooks: mkdir old.git/hooks",
	"old.git: mv old.git new.git",
	".vs/x/z: echo x > .vs/x/z",
	".vs: mv .vs vs",
	".vs/x: mv .vs/x x",
	".mcp.json: echo x > m; mv m .mcp.json",
	".mcp.json: ln .mcp.json m && echo x > m",
	".github: mv evil .github",
	".github: ln -s evil .github",
	".hg/hgrc: mkdir .hg && touch .hg/hgrc",
	".idea: mkdir .idea",
	"evil/.claude: cd evil && mkdir .claude",
	"sub/.vscode: mkdir -p sub/a && cd sub/a && mkdir ../.vscode",
	".vscode: python3 -c 'import os; os.mkdir(b\".vscode\")'",
	".zed: python3 -c 'import os; f=os.open(\".\",os.O_TMPFILE|os.O_RDWR); os.link(\"/proc/self/fd/%d\"%f,\".zed\",src_dir_fd=f,follow_symlinks=True)'",
	".exrc: python3 -c 'import os; f=os.open(\".\",0); os.mknod(\".exrc\",0o644,dir_fd=f)'",
	".exrc: python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'; mv s .exrc",
}

// state tells whether anything changed below a name.
func state(path string) string {
	var b strings.Builder
	filepath.WalkDir(path, func(p string, e os.DirEntry, err error) error {
		if e == nil {
			return nil
		}
		var data []byte
		if e.Type().IsRegular() {
			data, _ = os.ReadFile(p)
		}
		fmt.Fprintln(&b, p, e.Type(), string(data))
		return nil
	})
	return b.String()
}

func TestAttacks(t *testing.T) {
	ways(t, func(t *testing.T, r *rig) {
		var script strings.Builder
		for i, a := range attacks {
			_, cmd, _ := strings.Cut(a, ": ")
			fmt.Fprintf(&script, "(cd w%d; %s) >/dev/null 2>&1; echo %d $?\n", i, cmd, i)
		}
		r.repository()
		pristine := filepath.Join(filepath.Dir(r.root), "pristine")
		if err := os.Rename(r.root, pristine); err != nil {
			t.Fatal(err)
		}
		r.dir("")
		var before []string
		for i, a := range attacks {
			name, _, _ := strings.Cut(a, ": ")
			w := filepath.Join(r.root, fmt.Sprint("w", i))
			if out, err := exec.Command("cp", "-a", pristine, w).CombinedOutput(); err != nil {
				t.Fatal(string(out))
			}
			before = append(before, state(filepath.Join(w, name)))
		}
		r.run(true, "sh", "-c", script.String())
		for i, a := range attacks {
			name, cmd, _ := strings.Cut(a, ": ")
			if after := state(filepath.Join(r.root, fmt.Sprint("w", i), name)); after != before[i] {
				t.Errorf("%s: %s changed:\n%s", cmd, name, after)
			}
			if !strings.Contains(r.rules(), fmt.Sprintf("/w%d/", i)) {
				t.Errorf("%s: no denial was told of", cmd)
			}
		}
	})
}

// TestAttacksWork is the control: without the Guard each changes something.
func TestAttacksWork(t *testing.T) {
	r := newRig(t, nil, false)
	r.repository()
	pristine := filepath.Join(filepath.Dir(r.root), "pristine")
	if err := os.Rename(r.root, pristine); err != nil {
		t.Fatal(err)
	}
	for _, a := range attacks {
		name, cmd, _ := strings.Cut(a, ": ")
		os.RemoveAll(r.root)
		if out, err := exec.Command("cp", "-a", pristine, r.root).CombinedOutput(); err != nil {
			t.Fatal(string(out))
		}
		before := state(filepath.Join(r.root, name))
		out, _ := r.run(false, "sh", "-c", cmd)
		if state(filepath.Join(r.root, name)) == before {
			t.Errorf("%s does nothing to %s: %s", cmd, name, out)
		}
	}
}

// TestAttackWatched: what git settings lead to through a link, or will lead to when it
// is there, does not come to be, by itself or with a folder.
func TestAttackWatched(t *testing.T) {
	ways(t, func(t *testing.T, r *rig) {
		r.cfg = func(c *Config) {
			c.Watched = map[string]string{r.root + "/tools": "git-hooks", r.root + "/a/hooks": "git-hooks"}
		}
		const script = `ln -s /x tools; mkdir tools; mkdir -p a/hooks; mkdir -p b/hooks; mv b a/; rmdir a/b/hooks a/b a; mkdir -p c/hooks; mv c a; echo x > tools; ls`
		if out, _ := r.run(true, "sh", "-c", "exec 2>/dev/null; "+script); !strings.Contains(out, "c\n") || strings.Contains(out, "tools") || strings.Contains(out, "a\n") {
			t.Errorf("%q", out)
		}
		if out, _ := r.run(true, "sh", "-c", "rm -rf a c; mkdir d toolsx; mv d a; mv toolsx t && ls"); out != "a\nt\n" {
			t.Errorf("twin: %q", out)
		}
	})
}

// TestAttackBeyondPathMax: a folder of protected names cannot come to be where its path
// is too long to be told, and be moved up from there inside another folder.
func TestAttackBeyondPathMax(t *testing.T) {
	const script = `
import os
ws = os.open('.', os.O_RDONLY)
os.makedirs('q/hooks'); os.makedirs('p'); open('p/hgrc', 'w').close(); os.makedirs('top/x'); os.chdir('top/x')
for i in range(25): os.mkdir('a'*200); os.chdir('a'*200)
d = os.open('.', os.O_RDONLY)
for src, dst in (('q', '.github'), ('p', '.hg')):
    try: os.rename(src, dst, src_dir_fd=ws, dst_dir_fd=d); print('made', dst)
    except PermissionError: pass
os.mkdir('plain'); os.rename('plain', 'plain2'); print('twin')
`
	ways(t, func(t *testing.T, r *rig) {
		if out, err := r.run(true, "python3", "-c", script); err != nil || out != "twin\n" {
			t.Errorf("%q %v", out, err)
		}
		if out, err := r.run(false, "sh", "-c", "rm -rf top q p"); err != nil {
			t.Error(out, err)
		}
		if out, _ := r.run(false, "python3", "-c", script); out != "made .github\nmade .hg\ntwin\n" {
			t.Errorf("control: %q", out)
		}
	})
}

// TestDailyGit: what must go on working in a repository that was there before.
func TestDailyGit(t *testing.T) {
	ways(t, func(t *testing.T, r *rig) {
		r.repository()
		r.sh(`
			cd repo; rm -r .git/rebase-merge; echo b > g; git add g; git commit -qm two; git branch b; git switch -q -c c; echo c > h; git add h
			git commit -qm three; git switch -q -; git merge -q c; git tag t; git stash list; git worktree add -q ../n; cd ../n; echo n > n; git add n
			git commit -qm n; cd ../repo; git worktree remove ../n; git rebase -q side; git reset -q --hard HEAD~1; git cherry-pick c; git gc -q
			git format-patch -q -1 --stdout > ../p; git reset -q --hard HEAD~1; git am -q ../p; git log --oneline | wc -l
			cd ../linked; echo l > l; git add l; git commit -qm l; git clone -q ../repo ../cl`)
		if len(r.denials) > 0 {
			t.Error(r.rules())
		}
	})
}
