package qsandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// TestProtectedInEntries: a writable entry that is made for the run is watched like any
// other writable place (FS-04), and one that names a protected folder opens that one
// folder, in both ways and as explain says (FS-02).
func TestProtectedInEntries(t *testing.T) {
	for _, new := range []policy.NewNames{policy.DetectNew, policy.PreventNew} {
		workspace, _ := place(t)
		later := filepath.Join(filepath.Dir(workspace), "later")
		const script = `cd "$0"; touch ../later/fine .git/hooks/pre-commit; mkdir ../later/.vscode .idea .Mcp; exit 0`
		if err := os.MkdirAll(filepath.Join(workspace, ".git/hooks"), 0o700); err != nil {
			t.Fatal(err)
		}
		layers := layer(workspace, func(l *policy.Layer) {
			l.Filesystem.NewProtected, l.Filesystem.Writable = &new, &[]string{later, ".git/hooks"}
		})
		rep, err := qsandbox.Run(context.Background(), qsandbox.Request{Command: []string{"sh", "-c", script, workspace}, Layers: layers})
		if err != nil {
			needSandbox(t, err)
			t.Fatal(err)
		}
		hook := filepath.Join(workspace, ".git/hooks/pre-commit")
		for path, want := range map[string]bool{hook: true, later + "/fine": true, later + "/.vscode": false, workspace + "/.idea": false, workspace + "/.Mcp": false} {
			if _, err := os.Lstat(path); (err == nil) != want {
				t.Errorf("%v: %s: %v", new, path, err)
			}
			if told := slices.ContainsFunc(rep.Denials, func(d report.Denial) bool { return d.Certain && d.Subject == path }); told == want {
				t.Errorf("%v: %s: told %v: %+v", new, path, told, rep.Denials)
			}
		}
		if v, err := qsandbox.Explain(qsandbox.Request{Layers: layers}, qsandbox.OpWrite, filepath.Join(workspace, ".git/hooks/pre-push")); err != nil || !v.Allowed || v.Protected != "" {
			t.Errorf("%v: explain: %+v %v", new, v, err)
		}
		if v, err := qsandbox.Explain(qsandbox.Request{Layers: layers}, qsandbox.OpWrite, filepath.Join(workspace, ".Cur\u017for/mcp.json")); err != nil || v.Protected != "cursor" {
			t.Errorf("%v: explain, other letters: %+v %v", new, v, err)
		}
	}
}
