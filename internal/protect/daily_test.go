package protect

import (
	"os"
	"path/filepath"
	"testing"
)

// daily is what people and agents do with git all day. None of it is a violation,
// even where a read-only mount would have kept it from happening.
var daily = []struct {
	name   string
	before func(p *place)
	do     func(p *place)
}{
	{"init", nil, func(p *place) { p.repo("new"); p.git("", "init", "-q", "--bare", "bare.git") }},
	{"add, commit, branch, switch, tag", nil, func(p *place) {
		p.write("b.txt", "two\n")
		p.git("", "add", ".")
		p.git("", "commit", "-qm", "second")
		p.git("", "branch", "topic")
		p.git("", "switch", "-q", "topic")
		p.git("", "tag", "v1")
		p.git("", "mv", "b.txt", "c.txt")
		p.git("", "commit", "-qam", "third")
		p.git("", "gc", "-q")
		p.git("", "branch", "-m", "other")
	}},
	{"worktree add and remove", nil, func(p *place) {
		p.git("", "worktree", "add", "-q", "wt")
		p.write("wt/x", "")
		p.git("wt", "add", ".")
		p.git("wt", "commit", "-qm", "x")
		p.git("", "worktree", "add", "-q", "wt2")
		p.git("", "worktree", "remove", "wt2")
		p.git("", "worktree", "add", "-q", "deep/er/and/deep/er/wt3")
	}},
	{"worktree that was there", func(p *place) { p.git("", "worktree", "add", "-q", "wt") },
		func(p *place) { p.write("wt/x", ""); p.git("wt", "add", "."); p.git("wt", "commit", "-qm", "x") }},
	{"worktree removed", func(p *place) { p.git("", "worktree", "add", "-q", "wt") }, func(p *place) { p.write("z", "") }},
	{"submodule add", nil, func(p *place) { p.submodule() }},
	{"submodule update and deinit", func(p *place) { p.submodule() }, func(p *place) {
		p.git("", "submodule", "--quiet", "deinit", "-f", "lib")
		p.git("", "submodule", "--quiet", "update", "--init")
		p.write("lib/z", "")
		p.git("lib", "add", ".")
		p.git("lib", "commit", "-qm", "z")
	}},
	{"submodule add and remove", nil, func(p *place) { p.submodule(); p.git("", "rm", "-qf", "lib"); p.git("", "commit", "-qm", "no lib") }},
	{"stash", nil, func(p *place) { p.write("a.txt", "dirty"); p.git("", "stash", "-q"); p.git("", "stash", "pop", "-q") }},
	{"rebase", func(p *place) { p.diverge() }, func(p *place) { p.git("", "rebase", "-q", "main") }},
	{"rebase that stops", func(p *place) {
		p.diverge()
		p.write("c.txt", "conflict")
		p.git("", "add", ".")
		p.git("", "commit", "-qm", "c")
	},
		func(p *place) { p.tryGit("", "rebase", "-i", "main") }},
	{"apply rebase that stops", func(p *place) {
		p.diverge()
		p.write("c.txt", "conflict")
		p.git("", "add", ".")
		p.git("", "commit", "-qm", "c")
	},
		func(p *place) { p.tryGit("", "rebase", "--apply", "main") }},
	{"merge, cherry-pick, revert, bisect", func(p *place) { p.diverge() }, func(p *place) {
		p.git("", "merge", "-q", "main")
		p.git("", "revert", "--no-edit", "HEAD~1")
		p.git("", "cherry-pick", "topic~2", "--allow-empty", "--keep-redundant-commits")
		p.git("", "bisect", "start", "HEAD", "HEAD~1")
	}},
	{"clone", nil, func(p *place) {
		p.git("", "clone", "-q", ".", "copy")
		p.git("", "clone", "-q", "--mirror", ".", "mirror")
	}},
	{"partial clone", nil, func(p *place) {
		p.git("", "config", "uploadpack.allowFilter", "true")
		p.git("..", "clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+p.ws, p.path("part"))
		p.git("", "config", "--unset", "uploadpack.allowFilter")
	}},
	{"shallow clone", nil, func(p *place) { p.git("..", "clone", "-q", "--depth=1", "file://"+p.ws, p.path("shallow")) }},
	{"sparse checkout", nil, func(p *place) { p.git("", "sparse-checkout", "set", "sub") }},
	{"sparse checkout in a worktree", nil, func(p *place) {
		p.git("", "worktree", "add", "-q", "wt")
		p.git("wt", "sparse-checkout", "set", "sub")
	}},
	{"remote, upstream, fetch", func(p *place) { p.git("..", "clone", "-q", "--bare", p.ws, "up.git") }, func(p *place) {
		p.git("", "remote", "add", "origin", "../up.git")
		p.git("", "fetch", "-q", "origin")
		p.git("", "branch", "-q", "--set-upstream-to=origin/main")
		p.git("", "switch", "-q", "-c", "t", "origin/main")
		p.git("", "push", "-q", "origin", "t")
		p.git("", "pull", "-q", "--rebase")
	}},
	{"separate git folder", nil, func(p *place) { p.git("", "init", "-q", "--separate-git-dir="+p.path("sep"), "sepws") }},
	{"maintenance and rerere", nil, func(p *place) { p.git("", "config", "rerere.enabled", "true"); p.git("", "maintenance", "run") }},
	{"user settings", nil, func(p *place) {
		p.git("", "config", "user.email", "a@b")
		p.git("", "config", "user.name", "A B")
		p.git("", "config", "pull.rebase", "true")
	}},
	{"settings that were there", func(p *place) { p.git("", "config", "alias.x", "!true"); p.git("", "config", "core.pager", "less") },
		func(p *place) { p.git("", "config", "user.name", "x") }},
	{"hooks that were there", func(p *place) { p.write(".git/hooks/pre-commit", "#!/bin/sh\n") },
		func(p *place) { p.write("b", ""); p.git("", "add", "."); p.git("", "commit", "-qm", "b") }},
	{"repository moved with its hooks", func(p *place) { p.repo("r"); p.write("r/.git/hooks/pre-commit", "#!/bin/sh\n") },
		func(p *place) { p.rename("r", "moved") }},
	{"folder that was never walked", func(p *place) {
		p.repo("o/l/d/e/r")
		p.write("o/l/d/e/r/.git/hooks/pre-commit", "#!/bin/sh\n")
		p.write("o/l/d/e/r/.vscode/tasks.json", "{}")
	}, func(p *place) { p.write("o/l/d/e/r/file", "") }},
	{"packages with names like ours", nil, func(p *place) {
		p.write("node_modules/a/.vscode/settings.json", "{}")
		p.write("src/config", "")
		p.write("src/hooks/x", "")
		p.write("HEAD", "")
	}},
}

// diverge leaves the branch topic with a commit that main does not have.
func (p *place) diverge() {
	p.git("", "switch", "-qc", "topic")
	p.write("b.txt", "two\n")
	p.git("", "add", ".")
	p.git("", "commit", "-qm", "topic")
	p.git("", "switch", "-q", "main")
	p.write("c.txt", "three\n")
	p.git("", "add", ".")
	p.git("", "commit", "-qm", "main 2")
	p.git("", "switch", "-q", "topic")
}

func TestDailyGit(t *testing.T) {
	for _, c := range daily {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.repo("")
			if c.before != nil {
				c.before(p)
			}
			f := p.scan()
			c.do(p)
			for _, v := range Check(p.h, f) {
				if v.Move || v.Change == Unseen {
					t.Errorf("violation: %+v", v)
				}
			}
		})
	}
}

// TestNothingIsLeft keeps Scan and Check from changing anything.
func TestNothingIsLeft(t *testing.T) {
	p := newPlace(t)
	p.repo("")
	p.link("missing", ".mcp.json")
	before := listing(t, p.ws)
	Check(p.h, p.scan())
	if after := listing(t, p.ws); before != after {
		t.Errorf("the workspace changed:\n%s\n%s", before, after)
	}
}

func listing(t *testing.T, dir string) (out string) {
	err := filepath.Walk(dir, func(path string, fi os.FileInfo, err error) error {
		out += path + " " + fi.ModTime().String() + "\n"
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
