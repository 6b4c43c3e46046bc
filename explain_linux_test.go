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

// TestExplainTakesDotsAfterLinks: ".." after a link lies where the link leads, for the
// kernel and so for explain, whether what comes after it exists or not.
func TestExplainTakesDotsAfterLinks(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(base, "ws")
	for _, dir := range []string{"ws/dir", "out/inner"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(base+"/out/f", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"l": "../out/inner", "two": "l/../new2"} {
		if err := os.Symlink(to, filepath.Join(ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &ws}
	for _, c := range []struct {
		target, resolved string
		allowed          bool
	}{
		{"dir/../f", ws + "/f", true}, {ws + "/missing/../f", ws + "/f", true},
		{"l/../f", base + "/out/f", false}, {"l/../new", base + "/out/new", false}, {ws + "/l/../../ws/new", ws + "/new", true},
		{ws + "/dir/.././l/../a/b", base + "/out/a/b", false}, {"two", base + "/out/new2", false},
	} {
		v, err := Explain(Request{Layers: []policy.Layer{l}}, OpWrite, c.target)
		allowed := v.Allowed && !strings.HasPrefix(v.Rule, "private ") // the place may be below a private /tmp
		if err != nil || allowed != c.allowed || v.Resolved != c.resolved {
			t.Errorf("%s: allowed %v, resolved %s, %v", c.target, allowed, v.Resolved, err)
		}
	}
}

// TestExplainNewProtectedNames: what strict refuses to make is refused here, and what
// is found after the run is said to be.
func TestExplainNewProtectedNames(t *testing.T) {
	ws := t.TempDir()
	for _, mode := range []policy.Mode{policy.Strict, policy.Compat} {
		l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &ws, Mode: &mode}
		for target, row := range map[string]string{".vscode/tasks.json": "vscode", "a/.github/hooks/x": "copilot", "f": ""} {
			v, err := Explain(Request{Layers: []policy.Layer{l}}, OpWrite, target)
			if err != nil || v.Protected != row || v.Allowed != (row == "" || mode == policy.Compat) {
				t.Errorf("%v %s: %+v, %v", mode, target, v, err)
			}
		}
		v, err := Explain(Request{Layers: []policy.Layer{l}}, OpWrite, "new/.git/config")
		if err != nil || !v.Allowed || v.Protected != "git-config" || !strings.Contains(strings.Join(v.Notes, " "), "after the run") {
			t.Errorf("%v: %+v, %v", mode, v, err)
		}
	}
}
