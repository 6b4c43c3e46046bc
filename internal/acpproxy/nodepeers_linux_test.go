package acpproxy

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
)

// nodePeers fetches the peers of testdata/peers, as their lock file pins them, and
// gives their folder. Without node and npm, or a registry, tests are skipped with the
// reason; QSANDBOX_REQUIRE=node-peers makes that a failure.
func nodePeers(t *testing.T, into string) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			backendtest.Missing(t, "node-peers", program+" is not installed")
		}
	}
	dir := filepath.Join(into, "peers")
	if err := os.CopyFS(dir, os.DirFS("testdata/peers")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", filepath.Join(backendtest.Base(), "npm"))
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		backendtest.Missing(t, "node-peers", "npm ci: "+err.Error()+": "+string(bytes.TrimSpace(out)))
	}
	return dir
}

// cli builds the command itself.
func cli(t *testing.T) string {
	t.Helper()
	to := filepath.Join(backendtest.Base(), "qsandbox")
	if out, err := exec.Command("go", "build", "-o", to, "../../cmd/qsandbox").CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	return to
}

// Agent and client made with the protocol's own TypeScript library, with the command
// between them, word for word.
func TestTypeScriptLibraryOnBothSides(t *testing.T) {
	needSandbox(t)
	p := backendtest.NewPlace(t)
	dir := nodePeers(t, p.WS)
	cmd := exec.Command("node", dir+"/client.mjs", p.WS, "caps", "run echo hi; exit 3", "run printf '€%.0s' $(seq 2000)", "killed", "many", "--",
		cli(t), "acp", "--workspace", p.WS, "--", "node", dir+"/agent.mjs")
	cmd.Dir = p.WS
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, stderr.String())
	}
	euros, _ := json.Marshal(strings.Repeat("€", 1000))
	want := []string{
		`{"said":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":true,"auth":{"terminal":false}},"stop":"end_turn","asked":0}`,
		`{"said":{"end":{"exitCode":3,"signal":null},"out":"hi\n","truncated":false,"status":{"exitCode":3,"signal":null},"after":-32002},"stop":"end_turn","asked":0}`,
		`{"said":{"end":{"exitCode":0,"signal":null},"out":` + string(euros) + `,"truncated":true,"status":{"exitCode":0,"signal":null},"after":-32002},"stop":"end_turn","asked":0}`,
		`{"said":{"kill":{},"end":{"exitCode":null,"signal":"SIGTERM"},"out":"x\n","release":{},"waited":"done"},"stop":"end_turn","asked":0}`,
		`{"said":{"over":"Terminal limit reached: create terminal (at most 50 at once: release those that have ended)","right":true,"again":"again\n"},"stop":"end_turn","asked":0}`,
		`{"code":0}`,
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i := range max(len(want), len(lines)) {
		if i >= len(lines) || i >= len(want) || lines[i] != want[i] {
			t.Fatalf("line %d of\n%s\nis not as in\n%s\nstderr: %s", i, out, strings.Join(want, "\n"), stderr.String())
		}
	}
}
