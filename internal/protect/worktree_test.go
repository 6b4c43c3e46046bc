//go:build linux

package protect

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// linked makes a repository outside and the workspace as its linked worktree.
func linked(t *testing.T) (p *place, repo string) {
	p = newPlace(t)
	repo = filepath.Join(filepath.Dir(p.ws), "main")
	must(t, os.Mkdir(repo, 0o755))
	p.repo("../main")
	must(t, os.Remove(p.ws))
	p.git("../main", "worktree", "add", "-q", p.ws)
	return p, repo
}

func TestWorktreeGrant(t *testing.T) {
	p, repo := linked(t)
	g, err := Worktree(p.h, p.ws)
	must(t, err)
	own, c := repo+"/.git/worktrees/ws", repo+"/.git"
	want := Grant{Writable: []string{own, c + "/objects", c + "/refs", c + "/logs"}, Roots: []string{own}, Readable: []string{c},
		ReadOnly: []string{own + "/commondir", own + "/gitdir"}}
	if !reflect.DeepEqual(g, want) {
		t.Errorf("%+v\nwant %+v", g, want)
	}
	must(t, os.RemoveAll(c+"/logs"))
	if g, err = Worktree(p.h, p.ws); err != nil || len(g.Create) != 1 || len(g.Writable) != 4 {
		t.Errorf("without logs: %+v %v", g, err)
	}
	f := Scan(p.h, append([]string{p.ws}, g.Roots...), nil, nil, Limits{})
	p.expect(f, "read-only .git", "read-only ../main/.git/worktrees/ws/commondir", "read-only ../main/.git/worktrees/ws/gitdir")
	p.write("b", "")
	p.git("", "add", ".")
	p.git("", "commit", "-qm", "b")
	p.git("", "switch", "-qc", "topic")
	if v := Check(p.h, f); len(v) != 0 {
		t.Errorf("commit in a worktree: %+v", v)
	}
	p.write("../main/.git/worktrees/ws/config.worktree", "[core]\nfsmonitor=x\n")
	p.write("../main/.git/worktrees/ws/rebase-merge/git-rebase-todo", "exec x\n")
	if v := Check(p.h, f); len(v) != 2 {
		t.Errorf("planted in the worktree's folder: %+v", v)
	}
}

// TestForgedPointer tries what a command could write into the workspace.
func TestForgedPointer(t *testing.T) {
	for name, forge := range map[string]func(p *place, repo string){
		"folder of secrets":       func(p *place, repo string) { p.write(".git", "gitdir: "+p.home+"\n") },
		"the common folder":       func(p *place, repo string) { p.write(".git", "gitdir: "+repo+"/.git\n") },
		"another worktree":        func(p *place, repo string) { p.write(".git", "gitdir: "+repo+"/.git/worktrees/other\n") },
		"nothing":                 func(p *place, repo string) { p.write(".git", "gitdir: /nowhere\n") },
		"no pointer":              func(p *place, repo string) { p.write(".git", "x") },
		"NUL":                     func(p *place, repo string) { p.write(".git", "gitdir: "+repo+"/.git/worktrees/ws\x00x\n") },
		"huge":                    func(p *place, repo string) { p.write(".git", "gitdir: "+strings.Repeat("x", 1<<20)) },
		"gitdir names another":    func(p *place, repo string) { p.write("../main/.git/worktrees/ws/gitdir", p.home+"/.git\n") },
		"commondir leads away":    func(p *place, repo string) { p.write("../main/.git/worktrees/ws/commondir", p.home+"\n") },
		"no commondir":            func(p *place, repo string) { os.Remove(repo + "/.git/worktrees/ws/commondir") },
		"common is no git folder": func(p *place, repo string) { os.Remove(repo + "/.git/HEAD") },
		"objects is a link": func(p *place, repo string) {
			os.Rename(repo+"/.git/objects", repo+"/o")
			os.Symlink("../o", repo+"/.git/objects")
		},
		"of somebody else": func(p *place, repo string) {
			if os.Lchown(repo+"/.git/worktrees/ws", 1, 1) != nil {
				p.t.Skip("not root")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, repo := linked(t)
			p.git("../main", "worktree", "add", "-q", "../other")
			forge(p, repo)
			g, err := Worktree(p.h, p.ws)
			if err != nil || g.Notice == "" || len(g.Writable)+len(g.Readable)+len(g.ReadOnly)+len(g.Roots) > 0 {
				t.Errorf("%+v %v", g, err)
			}
		})
	}
}

func TestNoWorktree(t *testing.T) {
	p := newPlace(t)
	p.repo("")
	p.write("sub/x", "")
	p.submodule()
	for _, dir := range []string{p.ws, p.path("sub"), p.path("lib"), p.home} {
		g, err := Worktree(p.h, dir)
		if err != nil || len(g.Writable) > 0 || len(g.Readable) > 0 {
			t.Errorf("%s: %+v %v", dir, g, err)
		}
	}
	if g, _ := Worktree(p.h, p.path("lib")); !strings.Contains(g.Notice, "submodule") {
		t.Errorf("a submodule as workspace: %+v", g)
	}
}
