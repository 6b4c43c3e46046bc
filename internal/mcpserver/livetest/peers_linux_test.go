package livetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
)

// nodePeers fetches what the lock file of testdata/peers names, once for each state of
// that file, and gives the folder. docs/adr/0018-mcp-peers.md.
func nodePeers(t *testing.T) string {
	t.Helper()
	for _, p := range []string{"node", "npm"} {
		if _, err := exec.LookPath(p); err != nil {
			backendtest.Missing(t, "node-peers", p+" is not installed")
		}
	}
	lock, err := os.ReadFile("testdata/peers/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	out, err := filepath.Abs("../../../out/peers")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(out, fmt.Sprintf("mcp-%x", sha256.Sum256(lock))[:20])
	fetching.Lock() // several tests want them at once
	defer fetching.Unlock()
	if _, err := os.Stat(dir); err != nil {
		fetchPeers(t, out, dir)
	}
	for _, f := range must(filepath.Glob("testdata/peers/*.mjs")) { // these may change
		data, err := os.ReadFile(f)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(f)), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func must(list []string, err error) []string {
	if err != nil {
		panic(err)
	}
	return list
}

var fetching sync.Mutex

// fetchPeers makes the folder, or nothing.
func fetchPeers(t *testing.T, out, dir string) {
	t.Helper()
	if err := os.MkdirAll(out, 0o755); err != nil {
		backendtest.Missing(t, "node-peers", err.Error())
	}
	tmp, err := os.MkdirTemp(out, "fetch-")
	if err != nil {
		backendtest.Missing(t, "node-peers", err.Error())
	}
	defer os.RemoveAll(tmp)
	for _, f := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join("testdata/peers", f))
		if err == nil {
			err = os.WriteFile(filepath.Join(tmp, f), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", filepath.Join(backendtest.Base(), "npm"))
	cmd.Dir, cmd.WaitDelay = tmp, time.Second
	if msg, err := cmd.CombinedOutput(); err != nil {
		backendtest.Missing(t, "node-peers", "npm ci: "+err.Error()+": "+string(bytes.TrimSpace(msg)))
	}
	if err := os.Rename(tmp, dir); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
}

// node runs a peer against a server with a workspace of its own.
func node(t *testing.T, args ...string) string {
	t.Helper()
	dir, p := nodePeers(t), backendtest.NewPlace(t)
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "SERVER", program(t))
	}
	args[0] = filepath.Join(dir, args[0])
	cmd := exec.Command("node", args...)
	cmd.Dir = p.WS
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(p.Root, "state"), "NODE_NO_WARNINGS=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s\n%s", args, err, out, stderr.Bytes())
	}
	return string(out)
}

// The official clients, in all eras. The conversation is in conversation.mjs.
func TestOfficialClients(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	nodePeers(t)
	for name, args := range map[string][]string{
		"sdk 1.32.2":           {"v1.mjs", "SERVER", "mcp"},
		"client 2.4.0, legacy": {"v2.mjs", "legacy", "SERVER", "mcp"},
		"client 2.4.0, modern": {"v2.mjs", "modern", "SERVER", "mcp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out := node(t, args...); !strings.HasPrefix(out, "peer-v") || !strings.HasSuffix(out, " ok\n") {
				t.Errorf("%q", out)
			}
			gone(t, "sleep\x0041102", 3*time.Second) // the call that was cancelled
		})
	}
}

// The Inspector's command line.
func TestInspector(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	const cli = "node_modules/@modelcontextprotocol/inspector/cli/build/index.js"
	if out := node(t, cli, "SERVER", "mcp", "--method", "tools/list"); !strings.Contains(out, `"name": "BashStop"`) {
		t.Errorf("%s", out)
	}
	out := node(t, cli, "SERVER", "mcp", "--method", "tools/call", "--tool-name", "Bash", "--tool-arg", "command=echo from the inspector; exit 4", "--tool-arg", "timeout=20000")
	var got struct {
		IsError bool
		Out     result `json:"structuredContent"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || !got.IsError || *got.Out.Exit != 4 || got.Out.Stdout != "from the inspector\n" {
		t.Errorf("%v: %s", err, out)
	}
}
