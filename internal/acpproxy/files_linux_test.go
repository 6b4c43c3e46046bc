package acpproxy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// TestFilesTheClientWouldWrite: what the agent may not write in its own sandbox it does
// not get written by the client, however the path is spelled.
func TestFilesTheClientWouldWrite(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(base, "ws")
	for _, dir := range []string{"ws/sub", "ws/.git/hooks", "ws/.git/objects", "ws/.git/refs", "out/inner", "out/sub"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"ws/.git/HEAD": "ref: refs/heads/x\n", "ws/.git/config": "", "out/secret": "s"} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"l": base + "/out/inner", "v": ".vscode", "sub/up": ".."} {
		if err := os.Symlink(to, filepath.Join(ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []policy.Mode{policy.Strict, policy.Compat} {
		for _, c := range []struct {
			path   string
			passes bool
		}{
			{ws + "/ok.txt", true}, {ws + "/sub/new", true}, {ws + "/sub/../ok.txt", true}, {ws + "/sub/up/ok.txt", true}, {ws + "/.git/info/exclude", true},
			{ws + "/l/../secret", false}, {ws + "/l/../new", false}, {ws + "/l/../sub/x", false}, {ws + "/l/x", false}, {ws + "/missing/../l/../secret", false},
			{ws + "/.vscode/tasks.json", false}, {ws + "/v/tasks.json", false}, {ws + "/sub/up/.mcp.json", false}, {ws + "/.qsandbox.json", false},
			{ws + "/.git/config", false}, {ws + "/.git/hooks/pre-commit", false}, {ws + "/.git/modules/m/config", false}, {ws + "/sub/.git/config", false},
			{ws + "/sub/.git", false}, {ws + "/.git/rebase-merge/git-rebase-todo", false}, {ws + "/.github/hooks/h.json", false}, {ws + "/a/b/c/d/e/.hg/hgrc", false},
			{"ok.txt", false}, {"~/ok.txt", false}, {"file://" + ws + "/ok.txt", false},
		} {
			x := newPair(t, nil)
			workspace := ws
			x.opt.Agent = qsandbox.Request{Layers: []policy.Layer{{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &workspace, Mode: &mode}}}
			x.agentSays(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"sessionId":"s","path":%q,"content":"x"}}`+"\n", c.path), 1000)
			x.calls.wait()
			if got := x.toClient.String() != ""; got != c.passes {
				t.Errorf("%v %s: passed %v, the agent heard %s", mode, c.path, got, strings.TrimSpace(x.toAgent.String()))
			}
		}
	}
}

// TestUnknownFileMethods: a method about files that nobody here can judge stays here.
func TestUnknownFileMethods(t *testing.T) {
	for _, method := range []string{"fs/delete", "FS/write_binary_file", "fs/"} {
		x := newPair(t, nil)
		x.agentSays(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"path":"/x"}}`+"\n", method), 1000)
		x.calls.wait()
		if x.toClient.String() != "" || !strings.Contains(x.toAgent.String(), "-32601") {
			t.Errorf("%s: the client got %q, the agent %q", method, x.toClient.String(), x.toAgent.String())
		}
	}
}
