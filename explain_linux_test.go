package qsandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// TestExplainAllAndHiddenLinks: a file that may be read is out of reach through a
// link that lies in a hidden folder, and by its own name it is not.
func TestExplainAllAndHiddenLinks(t *testing.T) {
	ws := t.TempDir()
	if err := os.Mkdir(filepath.Join(ws, "hidden"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ws, "f"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"hidden/ln", "ln"} {
		if err := os.Symlink(filepath.Join(ws, "f"), filepath.Join(ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	deny, workspace := []string{"hidden"}, ws
	l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &workspace}
	l.Filesystem.DenyRead = &deny
	got, err := ExplainAll(Request{Layers: []policy.Layer{l}, Command: []string{"true"}}, []Question{{OpRead, "f"}, {OpRead, "ln"}, {OpRead, "hidden/ln"}, {OpWrite, "hidden/ln"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, false, false} {
		if got[i].Allowed != want {
			t.Errorf("%s %s: allowed %v by %s (%s)", got[i].Operation, got[i].Target, got[i].Allowed, got[i].Rule, got[i].Why)
		}
	}
	if !strings.Contains(got[2].Why, "hidden/ln") {
		t.Errorf("why: %s", got[2].Why)
	}
	if _, err := ExplainAll(Request{Layers: []policy.Layer{l}}, []Question{{OpRead, "f"}, {OpRead, ""}}); err == nil {
		t.Error("an empty target is no question")
	}
}
