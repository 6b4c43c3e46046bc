package e2e

import (
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
)

const gitInit = `git -c init.defaultBranch=main init -q .; git config user.email t@example.invalid; git config user.name t
echo one > a.txt; git add a.txt; git commit -qm first; git branch other
`

func TestGitDailyWork(t *testing.T) {
	job{needs: []string{"git"}, modes: all, setup: gitInit, script: `
echo two > b.txt; git add b.txt; git commit -qm second
git switch -q other; echo three > c.txt; git add .; git commit -qm third
git switch -q main; git merge -q other -m merged; git log --oneline | wc -l
git stash list; echo x >> a.txt; git stash -q; git stash pop -q; git checkout -q -- a.txt
git tag v1; git rebase -q HEAD~1 || true; git gc -q; git status --porcelain; git diff HEAD~1 --stat`,
		after: `git fsck --no-progress; [ "$(git rev-parse v1)" ]; [ -z "$(git status --porcelain)" ]`}.run(t)
}

func TestGitNewRepositoryInside(t *testing.T) {
	job{needs: []string{"git"}, modes: compat, script: `
mkdir r; cd r; git -c init.defaultBranch=main init -q; echo x > f; git add f
git -c user.name=t -c user.email=t@e commit -qm x; git clone -q . ../clone; cd ../clone; git log --oneline | grep -q x`,
		after: `git -C clone fsck --no-progress`}.run(t)
}

// TestGitWorktree: FS-08, a commit in a linked worktree writes to the main
// repository's directory outside the workspace.
func TestGitWorktree(t *testing.T) {
	for _, s := range compat {
		t.Run(s.String(), func(t *testing.T) {
			backendtest.NeedProgram(t, "git")
			backendtest.NeedBackend(t, s.Backend)
			p := backendtest.NewPlace(t)
			p.Host(t, `rm -rf own.txt sub; cd ..; rmdir ws; mkdir main; cd main; `+gitInit+`git worktree add -q -b feat "$WS"`)
			r := s.Run(t, p, backendtest.Call{Script: `echo two > b.txt && git add b.txt && git commit -qm second && git log --oneline | wc -l`})
			if !r.OK() || r.Out != "2\n" {
				t.Errorf("FS-08 is not there (yet): a commit in a linked worktree fails\n%s", r.Describe())
			}
			p.Host(t, `[ "$(git rev-list --count feat)" = 2 ]; ! find "$T/main/.git/hooks" -type f ! -name '*.sample' | grep .`)
			bad := s.Run(t, p, backendtest.Call{Script: `for f in hooks/pre-commit config commondir; do echo x > "$T/main/.git/$f" && echo wrote $f; done; true`})
			if bad.Out != "" {
				t.Errorf("FS-08: %s", bad.Out)
			}
		})
	}
}

func TestGitWorktreeMadeInside(t *testing.T) {
	job{needs: []string{"git"}, modes: compat, setup: `mkdir r; cd r; ` + gitInit, script: `
cd r; git worktree add -q ../wt other; cd ../wt; echo x > n; git add n; git commit -qm wt; cd ../r; git worktree list | grep -q wt`}.run(t)
}

func TestGitSubmodule(t *testing.T) {
	job{needs: []string{"git"}, modes: compat, setup: `mkdir -p lib; cd lib; ` + gitInit + `cd ..; mkdir app; cd app; ` + gitInit + `
git -c protocol.file.allow=always submodule add -q ../lib lib; git commit -qm sub; cd lib; git config user.email t@example.invalid; git config user.name t`, script: `
cd app/lib; echo y > y; git add y; git commit -qm 'in the submodule'; cd ..; git add lib; git commit -qm bump; git submodule status`,
		after: `[ "$(git -C app rev-list --count HEAD)" = 3 ]; [ "$(git -C app/lib rev-list --count HEAD)" = 2 ]`}.run(t)
}

// TestGitForgedPointerOpensNothing: FS-08, a .git file that points elsewhere.
func TestGitForgedPointerOpensNothing(t *testing.T) {
	for _, s := range compat {
		t.Run(s.String(), func(t *testing.T) {
			backendtest.NeedProgram(t, "git")
			backendtest.NeedBackend(t, s.Backend)
			p := backendtest.NewPlace(t)
			p.Host(t, `mkdir "$OUT/repo"; cd "$OUT/repo"; `+gitInit+`mkdir -p .git/worktrees/x; echo "gitdir: $OUT/repo/.git/worktrees/x" > "$WS/.git"`)
			s.MustFail(t, p, backendtest.Call{Script: `echo x > "$OUT/repo/.git/refs/heads/made" || echo x > "$OUT/repo/.git/worktrees/x/HEAD"`})
		})
	}
}
