package acpproxy

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/acpterm"
	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// proxyProcess is a proxy in a process of its own, which a test can kill.
func proxyProcess(args []string) {
	l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &args[0]}
	_, err := Run(context.Background(), Options{
		Agent:     qsandbox.Request{Layers: []policy.Layer{l}, Command: args[1:]},
		Terminals: acpterm.Options{Layers: []policy.Layer{l}},
		In:        os.Stdin, Out: os.Stdout, Stderr: os.Stderr,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
}

// The proxy is killed at any moment: agent, terminals and their daemons end, the
// client sees the end of the connection at once, and the next start is clean.
func TestProxyKilled(t *testing.T) {
	needSandbox(t)
	p := backendtest.NewPlace(t)
	t.Setenv("XDG_STATE_HOME", p.Root+"/state")
	rounds := 8
	if backendtest.Long() {
		rounds = 200
	}
	for i := range rounds {
		cmd := exec.Command(self(t), "-proxy", p.WS, self(t), "-hostile-agent", "leave", "stay")
		cmd.Dir = p.WS
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			_, _ = bufio.NewReader(out).ReadString('\n') // all terminals are there
			if !eventually(func() bool { return running(p.Root, "611") >= 10 }) {
				t.Errorf("only %d commands are running", running(p.Root, "611"))
			}
		} else {
			time.Sleep(rand.N(400 * time.Millisecond))
		}
		_ = cmd.Process.Kill()
		began := time.Now()
		for {
			if _, err := out.Read(make([]byte, 4096)); err != nil {
				break
			}
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("the client saw the end after %v", d)
		}
		_ = cmd.Wait()
		in.Close()
		if !eventually(func() bool { return running(p.Root, "") == 0 }) {
			t.Fatalf("round %d: %d processes are left", i, running(p.Root, ""))
		}
	}
	cmd := exec.Command(self(t), "-proxy", p.WS, "true")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the next start: %v: %s", err, text)
	}
	if left, _ := filepath.Glob(p.Root + "/state/qsandbox/journal/*"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	if strings.Contains(string(mounts), p.Root) {
		t.Errorf("mounts are left:\n%s", mounts)
	}
}
