package protect

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// place is a workspace with its own home, and git that knows no other settings.
type place struct {
	t        *testing.T
	ws, home string
	h        host.Host
}

func newPlace(t *testing.T) *place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, ws: filepath.Join(base, "ws"), home: filepath.Join(base, "home"), h: host.Real()}
	env := map[string]string{"HOME": p.home}
	p.h.Lookup = func(k string) (string, bool) { v, ok := env[k]; return v, ok }
	for _, dir := range []string{p.ws, p.home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// git runs git below the workspace, as somebody on the host would.
func (p *place) git(dir string, args ...string) string {
	p.t.Helper()
	out, err := p.tryGit(dir, args...)
	if err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func (p *place) tryGit(dir string, args ...string) (string, error) {
	p.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		p.t.Skip("git is not installed: ", err)
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = filepath.Join(p.ws, dir)
	cmd.Env = append(os.Environ(), "HOME="+p.home, "XDG_CONFIG_HOME=", "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always",
		"GIT_CONFIG_KEY_1=init.defaultBranch", "GIT_CONFIG_VALUE_1=main")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// repo makes a repository with one commit.
func (p *place) repo(dir string) {
	p.t.Helper()
	p.write(dir+"/a.txt", "one\n")
	p.git(dir, "init", "-q", ".")
	p.git(dir, "add", ".")
	p.git(dir, "commit", "-qm", "first")
}

func (p *place) path(rel string) string { return filepath.Join(p.ws, rel) }

func (p *place) write(rel, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(rel)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(rel), []byte(content), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) link(target, rel string) {
	p.t.Helper()
	if err := os.Symlink(target, p.path(rel)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) rename(from, to string) {
	p.t.Helper()
	if err := os.Rename(p.path(from), p.path(to)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) scan(allow ...string) Found {
	return Scan(p.h, []string{p.ws}, []string{p.home}, allow, Limits{})
}

// actions gives the items as "action path" relative to the workspace.
//
//lint:ignore U1000 its tests need Linux
func (p *place) actions(f Found) string {
	var out []string
	for _, it := range f.Items {
		rel, _ := filepath.Rel(p.ws, it.Path)
		out = append(out, it.Action.String()+" "+rel)
	}
	return strings.Join(out, "\n")
}

// moves gives what is to be moved, relative to the workspace.
//
//lint:ignore U1000 its tests need Linux
func (p *place) moves(list []Violation) []string {
	var out []string
	for _, v := range list {
		if v.Move {
			rel, _ := filepath.Rel(p.ws, v.Path)
			out = append(out, rel)
		}
	}
	return out
}

func (p *place) submodule() {
	p.t.Helper()
	lib := filepath.Dir(p.ws) + "/libsrc"
	os.Mkdir(lib, 0o755)
	rel := "../libsrc"
	p.repo(rel)
	p.git("", "submodule", "--quiet", "add", "--name", "lib/x", lib, "lib")
	p.git("", "commit", "-qm", "sub")
}
