package qsandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// TestExplainRefusesWhatStrictRefuses: where a protected file has a second name, strict
// runs nothing, and explain does not answer for it; compat runs, and is answered for.
func TestExplainRefusesWhatStrictRefuses(t *testing.T) {
	ws := t.TempDir()
	settings := filepath.Join(ws, ".mcp.json")
	if err := os.WriteFile(settings, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	ask := func(mode policy.Mode) error {
		_, err := Explain(Request{Layers: []policy.Layer{{Origin: policy.Origin{Kind: policy.OriginFlags}, Mode: &mode, Workspace: &ws}}, Command: []string{"/bin/true"}}, OpRead, ws)
		return err
	}
	if err := ask(policy.Strict); err != nil {
		t.Fatalf("without a second name: %v", err)
	}
	if err := os.Link(settings, filepath.Join(ws, "other")); err != nil {
		t.Fatal(err)
	}
	if err := ask(policy.Strict); fault.CodeOf(err) != fault.PolicyUnenforceable {
		t.Errorf("strict: %v", err)
	}
	if err := ask(policy.Compat); err != nil {
		t.Errorf("compat: %v", err)
	}
}
