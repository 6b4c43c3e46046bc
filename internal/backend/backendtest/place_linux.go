package backendtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Place is one test's piece of the host: a workspace, and next to it what must
// stay out of reach.
type Place struct {
	Root string // everything below is this test's own
	WS   string // the workspace
	Out  string // not part of the policy; holds secret.txt and dir/
	Home string
}

// NewPlace makes a place; it is removed with the test.
func NewPlace(t testing.TB) *Place { return NewPlaceAt(t, "ws") }

// NewPlaceAt makes a place with an odd name for the workspace.
func NewPlaceAt(t testing.TB, ws string) *Place {
	t.Helper()
	root, err := os.MkdirTemp(base, "t-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	p := &Place{Root: root, WS: filepath.Join(root, ws), Out: filepath.Join(root, "out"), Home: os.Getenv("HOME")}
	p.Write(t, p.WS+"/own.txt", "own\n")
	p.Write(t, p.WS+"/sub/deep/file.txt", "deep\n")
	p.Write(t, p.Out+"/secret.txt", Secret+"\n")
	p.Write(t, p.Out+"/dir/inner.txt", Secret+"\n")
	return p
}

// removeAll removes a tree in which modes may forbid it.
func removeAll(t testing.TB, dir string) {
	if err := os.RemoveAll(dir); err == nil {
		return
	}
	_ = exec.Command("chmod", "-R", "u+rwx", dir).Run()
	if err := os.RemoveAll(dir); err != nil {
		t.Errorf("clean up: %v", err)
	}
}

// Write makes a file with its directories.
func (p *Place) Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// vars are the variables of scripts and policies.
func (p *Place) vars() map[string]string {
	return map[string]string{"T": p.Root, "WS": p.WS, "OUT": p.Out, "HOME": p.Home, "U": filepath.Base(p.Root), "HOSTPID": strconv.Itoa(os.Getpid()), "DOLLAR": "$"}
}

// Expand puts the place's paths into a policy entry: $T $WS $OUT $HOME, and $U, unique.
func (p *Place) Expand(s string) string {
	v := p.vars()
	return os.Expand(s, func(k string) string { return v[k] })
}

func (p *Place) expandAll(list []string) *[]string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, p.Expand(s))
	}
	return &out
}

// Host runs a script on the host, outside any sandbox, with the place's variables.
func (p *Place) Host(t testing.TB, script string) string {
	t.Helper()
	out, err := p.tryHost(script)
	if err != nil {
		t.Fatalf("on the host: %v\n%s\n%s", err, script, out)
	}
	return out
}

func (p *Place) tryHost(script string) (string, error) {
	cmd := exec.Command("/bin/bash", "-ec", script)
	cmd.Dir = p.WS
	cmd.Env = os.Environ()
	for k, v := range p.vars() {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
