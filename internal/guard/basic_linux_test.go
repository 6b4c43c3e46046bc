package guard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPrograms(t *testing.T) {
	ways(t, func(t *testing.T, r *rig) {
		out := r.sh(`
			echo one > a; echo two >> a; cat a
			mkdir -p d/e/f; umask 027; echo x > d/e/x; mkdir d/g; umask 022
			ln -s a l; echo three > l; cat a
			ln a h; mv a b; mv b d/; mkfifo p
			echo null > /dev/null
			echo stdout > /dev/stdout; echo fd > /dev/fd/1; echo self > /proc/self/fd/1
			echo 100 > /proc/self/oom_score_adj
			cat p > got & echo fifo > p; wait; cat got
			stat -c '%a %n' d/e/x d/g
			(cd d; echo rel > ../rel; echo up > ./e/../up); cat rel d/up
		`)
		want := "one\ntwo\nthree\nstdout\nfd\nself\nfifo\n640 d/e/x\n750 d/g\nrel\nup\n"
		if out != want {
			t.Errorf("got %q\nwant %q\n%s", out, want, r.rules())
		}
	})
}

func TestPlainNamesAreRefused(t *testing.T) {
	ways(t, func(t *testing.T, r *rig) {
		r.dir("proj/src")
		r.file("ok/tasks.json", "{}")
		for _, script := range []string{
			"mkdir .vscode", "mkdir -p proj/.vscode", "echo x > .mcp.json", "echo x > proj/src/.mcp.json", "mv ok .vscode", "mv ok/tasks.json .mcp.json",
			"ln -s ok .vscode", "ln ok/tasks.json .mcp.json", "cd proj && mkdir ./src/../.claude", "mkdir -p proj/.github/hooks", "mkfifo .exrc",
			"mkdir x.d; mkdir x.d/hooks; mv x.d .github", "ln -s ok .github", "ln -s .vscode lnk; echo > lnk", "cp ok/tasks.json .mcp.json",
			"touch q.code-workspace", "mkdir .idea/",
		} {
			r.denials = nil
			out, err := r.run(true, "sh", "-c", script)
			if err == nil || len(r.denials) == 0 {
				t.Errorf("%s: %v %s; denials: %s", script, err, out, r.rules())
			}
		}
		for _, name := range []string{".vscode", ".mcp.json", "proj/.vscode", ".exrc", ".github/hooks"} {
			if _, err := os.Lstat(filepath.Join(r.root, name)); err == nil {
				t.Errorf("%s came into being", name)
			}
		}
	})
}

// TestGivenBelowAProtectedName: a writable entry of the user's is a longer path than
// the protected name above it. What is protected within it, or beside it, stays so.
func TestGivenBelowAProtectedName(t *testing.T) {
	ways(t, func(t *testing.T, r *rig) {
		r.file(".vscode/mine/old", "x")
		r.file(".idea/one.xml", "x")
		const script = `echo x > .vscode/mine/new; mkdir .vscode/mine/d; mv .vscode/mine/old .vscode/mine/d/; ln .vscode/mine/new .vscode/mine/d/l
			[ -n "$1" ] && touch .idea/one.xml .vscode/mine/d/old .vscode/mine/d/l`
		if out, err := r.run(true, "sh", "-ec", script, "-", ""); err == nil || len(r.denials) == 0 {
			t.Errorf("the control: without the entry it is refused: %v %s", err, out)
		}
		r.denials, r.cfg = nil, func(c *Config) { c.Given = []string{r.root + "/.vscode/mine", r.root + "/.idea/one.xml"} }
		if out, err := r.run(true, "sh", "-ec", script, "-", "all"); err != nil || len(r.denials) > 0 {
			t.Errorf("%v %s; denials: %s", err, out, r.rules())
		}
		for _, refused := range []string{"touch .vscode/new", "touch .vscode/mine.json", "touch .idea/two.xml", "mkdir .vscode/mine/.idea", "touch .vscode/mine/d/.mcp.json", "mv .vscode/mine .vscode/other", "mv .vscode v"} {
			r.denials = nil
			if out, err := r.run(true, "sh", "-c", refused); err == nil || len(r.denials) == 0 {
				t.Errorf("%s: %v %s; denials: %s", refused, err, out, r.rules())
			}
		}
	})
}

func TestNewRepositories(t *testing.T) {
	ways(t, func(t *testing.T, r *rig) {
		r.sh(`
			git init -q sub; cd sub; echo a > f; git add f; git commit -qm one; git branch b; git config user.x y
			git switch -q b; echo c >> f; git commit -qam two; git switch -q -; git merge -q b
			git worktree add -q ../wt -b w; cd ../wt; echo d > g; git add g; git commit -qm three; cd ..
			git clone -q sub cl; git clone -q --bare sub bare.git; cd cl; git remote add o ../bare.git; git fetch -q o
			git -c protocol.file.allow=always submodule --quiet add ../bare.git sm; git commit -qm sm
			git checkout -q -b r HEAD~1; echo r > r; git add r; git commit -qm r; git rebase -q HEAD~1
			git stash -q || true; git gc -q; git worktree prune; git tag t
			cd ..; git clone -q --no-checkout sub tmp; mkdir old; mv tmp/.git old/; rm -r tmp
		`)
		if len(r.denials) > 0 {
			t.Error(r.rules())
		}
		paths, _ := r.guard.Recorded()
		if !strings.Contains(strings.Join(paths, "\n"), r.root+"/sub/.git/config") {
			t.Errorf("recorded: %q", paths)
		}
	})
}
