//go:build linux

package protect

import (
	"os"
	"slices"
	"syscall"
	"testing"
)

const evilHook = "#!/bin/sh\ntouch \"$OUT\"\n"

// plants are what a command may leave behind so that the next git call, editor or
// agent on the host runs it. before is done ahead of Scan; want is what has to go.
var plants = []struct {
	name   string
	before func(p *place)
	plant  func(p *place)
	want   []string
}{
	{"hook", nil, func(p *place) { p.write(".git/hooks/pre-commit", evilHook) }, []string{".git/hooks/pre-commit"}},
	{"hooks folder", func(p *place) { os.RemoveAll(p.path(".git/hooks")) },
		func(p *place) { p.write(".git/hooks/post-checkout", evilHook) }, []string{".git/hooks/post-checkout"}},
	{"hooks is a link", func(p *place) { os.RemoveAll(p.path(".git/hooks")) },
		func(p *place) { p.link("../h", ".git/hooks") }, []string{".git/hooks"}},
	{"new commondir", nil, func(p *place) {
		p.repo("other")
		p.write("other/.git/hooks/pre-commit", evilHook)
		p.write(".git/commondir", "../other/.git\n")
	}, []string{".git/commondir", "other/.git/hooks/pre-commit"}},
	{"worktree commondir", func(p *place) { p.git("", "worktree", "add", "-q", "wt") },
		func(p *place) { p.write(".git/worktrees/wt/commondir", p.path("evil")+"\n") }, []string{".git/worktrees/wt/commondir"}},
	{"commondir of a worktree elsewhere", func(p *place) { p.git("", "worktree", "add", "-q", "../wt") },
		func(p *place) { p.write(".git/worktrees/wt/commondir", p.path("evil")+"\n") }, []string{".git/worktrees/wt/commondir"}},
	{"gitdir of a worktree", func(p *place) { p.git("", "worktree", "add", "-q", "wt") },
		func(p *place) { p.write(".git/worktrees/wt/gitdir", "/home/x/.git\n") }, []string{".git/worktrees/wt/gitdir"}},
	{"config.worktree", func(p *place) { p.git("", "config", "extensions.worktreeConfig", "true") },
		func(p *place) { p.write(".git/config.worktree", "[core]\n\tfsmonitor = ./evil\n") }, []string{".git/config.worktree"}},
	{"pointer file replaced", func(p *place) { p.git("", "worktree", "add", "-q", "wt") },
		func(p *place) { p.write("wt/.git", "gitdir: /somewhere/else\n") }, []string{"wt/.git"}},
	{"pointer file into the tree", nil, func(p *place) {
		p.repo("deep/er/and/deep/er/x")
		p.rename("deep/er/and/deep/er/x/.git", "deep/er/and/deep/er/g")
		p.write("deep/er/and/deep/er/g/hooks/pre-commit", evilHook)
		p.write("sub/.git", "gitdir: ../deep/er/and/deep/er/g\n")
	}, []string{"deep/er/and/deep/er/g/hooks/pre-commit"}},
	{"mv .git x, new .git", nil, func(p *place) {
		p.rename(".git", "x")
		p.git("", "init", "-q", ".")
		p.write(".git/hooks/pre-commit", evilHook)
	}, []string{".git/hooks/pre-commit"}},
	{"config with a second name", nil, func(p *place) {
		p.repo("sub")
		if err := os.Link(p.path("sub/.git/config"), p.path("alias")); err != nil {
			p.t.Fatal(err)
		}
	}, []string{"sub/.git/config"}},
	{"link on the way to the hooks replaced", func(p *place) {
		p.write("real/hooks/x", "")
		p.link("real", "tools")
		p.git("", "config", "core.hooksPath", "tools/hooks")
	}, func(p *place) {
		os.Remove(p.path("tools"))
		p.write("tools/hooks/pre-commit", evilHook)
	}, []string{"tools"}},
	{"deep in new folders", nil, func(p *place) {
		p.write("a/b/c/d/e/f/g/h/i/j/k/l/m/n/.vscode/tasks.json", "{}")
	}, []string{"a/b/c/d/e/f/g/h/i/j/k/l/m/n/.vscode"}},
	{"bare repository", nil, func(p *place) {
		p.git("", "init", "-q", "--bare", "docs")
		p.write("docs/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"echo x >/tmp/y; false\"\n")
	}, []string{"docs/config"}},
	{"bare repository by hand", nil, func(p *place) {
		p.write("docs/HEAD", "ref: refs/heads/main\n")
		p.write("docs/objects/x", "")
		p.write("docs/refs/x", "")
		p.write("docs/config", "[core]\n\tsshCommand = evil\n")
	}, []string{"docs/config"}},
	{"hooksPath in config", nil, func(p *place) { p.git("", "config", "core.hooksPath", "hk") }, []string{".git/config"}},
	{"include in config", nil, func(p *place) { p.git("", "config", "include.path", "../inc") }, []string{".git/config"}},
	{"target of hooksPath", func(p *place) {
		p.write(".githooks/pre-push", "#!/bin/sh\n")
		p.git("", "config", "core.hooksPath", ".githooks")
	}, func(p *place) { p.write(".githooks/pre-commit", evilHook) }, []string{".githooks/pre-commit"}},
	{"missing target of hooksPath", func(p *place) { p.git("", "config", "core.hooksPath", ".githooks") },
		func(p *place) { p.write(".githooks/pre-commit", evilHook) }, []string{".githooks/pre-commit"}},
	{"husky", func(p *place) { p.write(".husky/_/h", "x"); p.git("", "config", "core.hooksPath", ".husky/_") },
		func(p *place) { p.write(".husky/pre-commit", evilHook) }, []string{".husky/pre-commit"}},
	{"missing target of include", func(p *place) { p.git("", "config", "include.path", "../shared.gitconfig") },
		func(p *place) { p.write("shared.gitconfig", "[core]\n\tpager = evil\n") }, []string{"shared.gitconfig"}},
	{"relative hooksPath of the user", func(p *place) { os.WriteFile(p.home+"/.gitconfig", []byte("[core]\nhooksPath=my/hooks\n"), 0o644) },
		func(p *place) { p.write("my/hooks/pre-commit", evilHook) }, []string{"my/hooks/pre-commit"}},
	{"hooksPath folder turned into a link", func(p *place) {
		p.write("a/hooks/pre-push", "#!/bin/sh\n")
		p.git("", "config", "core.hooksPath", "a/hooks")
	}, func(p *place) {
		p.write("b/pre-push", evilHook)
		p.rename("a/hooks", "a/old")
		p.link("../b", "a/hooks")
	}, []string{"a/hooks"}},
	{"exec in a rebase todo", nil, func(p *place) {
		p.write(".git/rebase-merge/git-rebase-todo", "pick 1234 x\n \tx touch /tmp/x\n")
	}, []string{".git/rebase-merge/git-rebase-todo"}},
	{"submodule hook", func(p *place) { p.submodule() },
		func(p *place) { p.write(".git/modules/lib/x/hooks/pre-commit", evilHook) }, []string{".git/modules/lib/x/hooks/pre-commit"}},
	{"submodule of a long name", nil, func(p *place) {
		p.git("", "init", "-q", "--bare", ".git/modules/a/b/c/d/e/f/g")
		p.write(".git/modules/a/b/c/d/e/f/g/hooks/post-checkout", evilHook)
	}, []string{".git/modules/a/b/c/d/e/f/g/hooks/post-checkout"}},
	{"submodule update command", nil, func(p *place) { p.git("", "config", "submodule.x.update", "!evil") }, []string{".git/config"}},
	{"NUL in config", nil, func(p *place) { p.write(".git/config", "[core \"fsmonitor\x00a\"]\nb = evil\n") }, []string{".git/config"}},
	{"config that git cannot read", nil, func(p *place) { p.write(".git/config", "[core\n") }, []string{".git/config"}},
	{"ext:: remote", nil, func(p *place) { p.write(".git/config", "[remote \"origin\"]\n\turl = ext::sh -c evil\n") }, []string{".git/config"}},
	{"core.worktree outside", nil, func(p *place) { p.write(".git/config", "[core]\n\tworktree = ../..\n") }, []string{".git/config"}},
	{".git is a link", nil, func(p *place) { p.write("sub/a", ""); p.link("../g", "sub/.git") }, []string{"sub/.git"}},
	{".git is a pipe", nil, func(p *place) { p.write("sub/a", ""); syscall.Mkfifo(p.path("sub/.git"), 0o644) }, []string{"sub/.git"}},
	{"config is a pipe", nil, func(p *place) {
		p.repo("sub")
		os.Remove(p.path("sub/.git/config"))
		syscall.Mkfifo(p.path("sub/.git/config"), 0o644)
	}, []string{"sub/.git/config"}},
	{"editor folder", nil, func(p *place) { p.write("pkg/.vscode/tasks.json", "{}") }, []string{"pkg/.vscode"}},
	{"agent settings", nil, func(p *place) { p.write(".mcp.json", "{}"); p.write(".claude/settings.json", "{}") }, []string{".claude", ".mcp.json"}},
	{"link for a folder", nil, func(p *place) { p.write("src/tasks.json", "{}"); p.link("src", ".vscode") }, []string{".vscode"}},
	{"target of a dangling link", func(p *place) { p.link("missing", ".mcp.json") },
		func(p *place) { p.write("missing", "{}") }, []string{"missing"}},
	{"link turned", func(p *place) { p.write("cfg/a", ""); p.write("src/a", ""); p.link("cfg", ".vscode") },
		func(p *place) { os.Remove(p.path(".vscode")); p.link("src", ".vscode") }, []string{".vscode"}},
	{"many parts", nil, func(p *place) { p.write(".github/hooks/x.json", "{}"); p.write("a/.jj/repo/config.toml", "") },
		[]string{".github/hooks", "a/.jj/repo/config.toml"}},
	{"deep in a new folder", nil, func(p *place) { p.write("n/e/w/f/o/l/.vscode/tasks.json", "{}") }, []string{"n/e/w/f/o/l/.vscode"}},
	{"moved from where nobody looked", func(p *place) { p.write("o/l/d/e/r/.vscode/tasks.json", "{}") },
		func(p *place) { p.rename("o/l/d/e/r", "moved") }, []string{"moved/.vscode"}},
	{"names that are not UTF-8", func(p *place) { p.repo("b\xff\xfed"); p.write("b\xff\xfed/.vscode/x", "") },
		func(p *place) { p.write("b\xff\xfed/.git/hooks/pre-commit", evilHook); p.write("c\xff/.idea/x", "") },
		[]string{"b\xff\xfed/.git/hooks/pre-commit", "c\xff/.idea"}},
	{"target of a hook that is a link", func(p *place) {
		p.write("scripts/hook.sh", "#!/bin/sh\n")
		p.link("../../scripts/hook.sh", ".git/hooks/pre-push")
	},
		func(p *place) { p.rename("scripts/hook.sh", "scripts/x"); p.write("scripts/hook.sh", evilHook) }, []string{"scripts/hook.sh"}},
	{"pointer to what is no git folder yet", nil, func(p *place) { p.write("sub/g/x", ""); p.write("sub/.git", "gitdir: g\n") }, []string{"sub/.git"}},
	{"start file of a home in a repository", func(p *place) {
		p.write("dot/bashrc", "")
		os.Symlink(p.path("dot/bashrc"), p.home+"/.bashrc")
	}, func(p *place) { os.Rename(p.path("dot/bashrc"), p.path("dot/x")); p.write("dot/bashrc", "evil") }, []string{"dot/bashrc"}},
}

func TestPlants(t *testing.T) {
	for _, c := range plants {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.repo("")
			if c.before != nil {
				c.before(p)
			}
			f := p.scan()
			if v := Check(p.h, f); len(v) > 0 {
				t.Fatalf("control: a violation before anything was planted: %+v", v)
			}
			c.plant(p)
			got := Check(p.h, f)
			if moves := p.moves(got); !slices.Equal(moves, c.want) {
				t.Errorf("to be moved: %q, want %q\n%+v", moves, c.want, got)
			}
			if again := Check(p.h, reread(t, f)); len(again) != len(got) {
				t.Errorf("from a journal it is not the same: %+v", again)
			}
		})
	}
}

// TestSecondNames: what the user linked before is told, unless every name is protected.
// A link that the host makes during the run is told and nothing is moved.
func TestSecondNames(t *testing.T) {
	p := newPlace(t)
	p.repo("")
	p.repo("copy")
	os.Remove(p.path("copy/.git/config"))
	for _, alias := range []string{"copy/.git/config", "alias"} {
		if f := p.scan(); len(f.Linked) != 0 {
			t.Errorf("before %s: %q", alias, f.Linked)
		}
		before := p.scan()
		if err := os.Link(p.path(".git/config"), p.path(alias)); err != nil {
			t.Fatal(err)
		}
		for _, v := range Check(p.h, before) {
			if v.Move && v.Path == p.path(".git/config") {
				t.Errorf("%s: a file that was there before would be moved: %+v", alias, v)
			}
		}
	}
	if f := p.scan(); !slices.Equal(f.Linked, []string{p.path(".git/config"), p.path("copy/.git/config")}) {
		t.Errorf("with an alias: %q", f.Linked)
	}
}

// TestHeavyFolders: strict looks into folders of tools like into all others. Without
// that, those that were there are named, and repositories in new ones are found.
func TestHeavyFolders(t *testing.T) {
	strict := Limits{Depth: HeavyDepth, Dirs: HeavyDirs, Entries: HeavyEntries, Heavy: true}
	for _, c := range []struct {
		limits Limits
		there  bool // before the run
		want   []string
	}{
		{Limits{}, false, []string{"node_modules/x/y/z/1/2/r/.git/config"}},
		{Limits{}, true, nil},
		{strict, false, []string{"node_modules/x/.mcp.json", "node_modules/x/y/z/1/2/r/.git/config"}},
		{strict, true, []string{"node_modules/x/.mcp.json", "node_modules/x/y/z/1/2/r/.git/config"}},
	} {
		p := newPlace(t)
		if c.there {
			p.write("node_modules/x/package.json", "{}")
		}
		f := Scan(p.h, []string{p.ws}, []string{p.home}, nil, c.limits)
		if told := len(f.NotWalked) > 0; told != (c.there && !c.limits.Heavy) {
			t.Errorf("%+v: not walked: %q", c, f.NotWalked)
		}
		p.repo("node_modules/x/y/z/1/2/r")
		p.write("node_modules/x/y/z/1/2/r/.git/config", "[core]\n\tfsmonitor = ./evil\n")
		p.write("node_modules/x/.mcp.json", "{}")
		if moves := p.moves(Check(p.h, f)); !slices.Equal(moves, c.want) {
			t.Errorf("%+v: to be moved: %q, want %q", c, moves, c.want)
		}
	}
}
