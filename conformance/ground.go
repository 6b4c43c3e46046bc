package conformance

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// ground is the throw-away part of the machine on which one identity's cases run:
// a home of decoys, a process with a secret, a server on the loopback.
type ground struct {
	dir     string
	home    string
	bin     string // shown to the cases, read-only: the program with its probes
	probe   string
	s1, s2  string // the two halves of the secret, s1-s2; no script holds it whole
	process *exec.Cmd
	hold    io.Closer
	tcp     net.Listener
	fd      int
	places  atomic.Int64
}

// Secret is what no command may get to see.
func (g *ground) secret() string { return g.s1 + "-" + g.s2 }

// planted are variables that hold the secret while cases run. Those of the user
// that have such a name are not put into any case.
var planted = []string{"HOST_SECRET", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN"}

// newGround prepares a directory that is there. bin holds the program.
func newGround(dir, bin, probe string) (*ground, error) {
	g := &ground{dir: dir, home: filepath.Join(dir, "home"), bin: bin, probe: probe, s1: fmt.Sprintf("DECOY%08x", rand.Uint32()), s2: fmt.Sprintf("%08x", rand.Uint32())}
	files := map[string]string{
		"notes.txt": "ordinary\n", ".bashrc": "# decoy\n", ".profile": "# decoy\n", ".gitconfig": "[user]\n\tname = decoy\n\temail = decoy@example.invalid\n",
		".ssh/id_ed25519": g.secret() + "\n", ".ssh/authorized_keys": "# decoy\n", ".aws/credentials": g.secret() + "\n", ".netrc": g.secret() + "\n",
		".config/gcloud/credentials.db": g.secret() + "\n", ".docker/config.json": g.secret() + "\n", ".kube/config": g.secret() + "\n", ".npmrc": g.secret() + "\n",
		".gnupg/private-keys-v1.d/key": g.secret() + "\n", ".pypirc": g.secret() + "\n", ".git-credentials": g.secret() + "\n", ".config/gh/hosts.yml": g.secret() + "\n",
	}
	for name, text := range files {
		if err := write(filepath.Join(g.home, name), text); err != nil {
			return nil, err
		}
	}
	for _, k := range planted {
		os.Setenv(k, g.secret())
	}
	os.Setenv("HOME", g.home)
	os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	for _, k := range []string{"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "QSANDBOX_STORE", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "TMUX", "GIT_DIR", "GIT_CONFIG_GLOBAL"} {
		os.Unsetenv(k)
	}
	return g, g.serve()
}

// serve starts what attempts reach for.
func (g *ground) serve() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fault.Wrap(fault.Internal, "listen", "127.0.0.1", err)
	}
	g.tcp = l
	go answer(l)
	if g.fd, err = inheritable(filepath.Join(g.home, ".ssh/id_ed25519")); err != nil {
		return err
	}
	// A process of the host that waits for its input, with the secret in its
	// environment and its arguments.
	g.process = exec.Command("/bin/sh", "-c", "read x", "ARG-"+g.secret())
	in, err := g.process.StdinPipe()
	if err != nil {
		return err
	}
	g.hold = in
	return g.process.Start()
}

// answer says "served" to everybody who connects.
func answer(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		fmt.Fprintln(c, "served")
		c.Close()
	}
}

func (g *ground) close() {
	if g.tcp != nil {
		g.tcp.Close()
	}
	if g.process != nil && g.process.Process != nil {
		g.hold.Close()
		_ = g.process.Process.Kill()
		_ = g.process.Wait()
	}
	closeFD(g.fd)
}

// place is one attempt's piece of the ground.
type place struct {
	g    *ground
	root string
	ws   string
	out  string // not part of any policy; holds secret.txt and dir/inner.txt
	u    string // unique
	stop []io.Closer
}

func (g *ground) place(c *Case) (*place, error) {
	u := fmt.Sprintf("u%s%d", g.s2, g.places.Add(1))
	p := &place{g: g, u: u, root: filepath.Join(g.dir, u)}
	p.ws, p.out = filepath.Join(p.root, "ws"), filepath.Join(p.root, "out")
	if c.Workspace != "" {
		p.ws = filepath.Join(p.root, c.Workspace)
	}
	for name, text := range map[string]string{p.ws + "/own.txt": "own\n", p.ws + "/sub/deep/file.txt": "deep\n", p.out + "/secret.txt": g.secret() + "\n", p.out + "/dir/inner.txt": g.secret() + "\n"} {
		if err := write(name, text); err != nil {
			return p, err
		}
	}
	for _, w := range c.With {
		if err := p.fixture(w); err != nil {
			return p, err
		}
	}
	return p, nil
}

// fixture makes what a case wants of the host. process, tcp and descriptor are there always.
func (p *place) fixture(name string) error {
	addr := map[string]string{"socket": p.out + "/host.sock", "abstract": "@" + p.u}[name]
	if addr == "" {
		return nil
	}
	l, err := net.Listen("unix", addr)
	if err != nil {
		return fault.Wrap(fault.Internal, "listen", addr, err)
	}
	p.stop = append(p.stop, l)
	go answer(l)
	return nil
}

// vars are the variables of scripts and policies.
func (p *place) vars() map[string]string {
	g := p.g
	return map[string]string{
		"T": p.root, "WS": p.ws, "OUT": p.out, "U": p.u, "DECOYHOME": g.home, "BIN": g.bin, "PROBE": g.probe, "QSANDBOX": g.probe, "S1": g.s1, "S2": g.s2,
		"HOSTPID": fmt.Sprint(g.process.Process.Pid), "HOSTPORT": fmt.Sprint(g.tcp.Addr().(*net.TCPAddr).Port), "HOSTFD": fmt.Sprint(g.fd),
	}
}

func (p *place) remove() {
	for _, c := range p.stop {
		c.Close()
	}
	_ = removeAll(p.root)
}

// touched says what changed of the files outside that every place has, "" for nothing.
func (p *place) touched() string {
	for _, f := range []string{"secret.txt", "dir/inner.txt"} {
		data, err := os.ReadFile(filepath.Join(p.out, f))
		if err != nil || string(data) != p.g.secret()+"\n" {
			return "$OUT/" + f + " was changed or removed"
		}
	}
	entries, err := os.ReadDir(p.out)
	if err != nil {
		return "$OUT is gone"
	}
	for _, e := range entries {
		if n := e.Name(); n != "secret.txt" && n != "dir" && n != "host.sock" {
			return "$OUT/" + n + " was made"
		}
	}
	return ""
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// removeAll removes a tree in which modes may forbid it.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
