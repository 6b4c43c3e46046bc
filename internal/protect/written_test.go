//go:build linux

package protect

import (
	"os"
	"strings"
	"testing"
)

// TestCheckWritten: what an entry of the user's names is theirs; what is protected
// beside it, and within it, is found all the same (FS-02).
func TestCheckWritten(t *testing.T) {
	for _, c := range []struct{ written, leaves string }{
		{"", ".git/hooks/pre-commit .idea .vscode sub/.mcp.json"},
		{".git/hooks", ".idea .vscode sub/.mcp.json"},
		{".git/hooks/pre-commit", ".idea .vscode sub/.mcp.json"},
		{".vscode", ".git/hooks/pre-commit .idea .vscode/.mcp.json sub/.mcp.json"},
		{".vscode/x", ".git/hooks/pre-commit .idea .vscode sub/.mcp.json"}, // the folder itself is new
		{"sub", ".git/hooks/pre-commit .idea .vscode sub/.mcp.json"},
		{".git", ".git/hooks/pre-commit .idea .vscode sub/.mcp.json"},
	} {
		p := newPlace(t)
		p.repo("")
		f := p.scan()
		if c.written != "" {
			f.Written = []string{p.path(c.written)}
		}
		p.write(".git/hooks/pre-commit", "")
		p.write(".vscode/.mcp.json", "")
		p.write(".idea/x", "")
		p.write("sub/.mcp.json", "")
		if got := strings.Join(p.moves(Check(p.h, f)), " "); got != c.leaves {
			t.Errorf("writable %q: moved %q, want %q", c.written, got, c.leaves)
		}
	}
}

// TestRuleOfUnseen: a folder that cannot be listed breaks no row, and the report says so.
func TestRuleOfUnseen(t *testing.T) {
	if r := (Violation{Change: Unseen}).Rule(); strings.HasSuffix(r, ": ") || r == "" {
		t.Errorf("%q", r)
	}
	if r := (Violation{Name: "vscode"}).Rule(); r != "protected: vscode" {
		t.Errorf("%q", r)
	}
}

// TestRootMadeLater: a writable folder that is not there at the start is looked at
// after the run like any other.
func TestRootMadeLater(t *testing.T) {
	p := newPlace(t)
	later := p.ws + "-later"
	t.Cleanup(func() { os.RemoveAll(later) })
	f := Scan(p.h, []string{p.ws, later}, nil, nil, Limits{})
	if len(f.Hidden) > 0 || f.Partial {
		t.Errorf("hidden %q, partial %v", f.Hidden, f.Partial)
	}
	for _, dir := range []string{later + "/.vscode", later + "/a/.idea", later + "/plain"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	v := Check(p.h, f)
	if len(v) != 2 || v[0].Path != later+"/.vscode" || v[1].Path != later+"/a/.idea" || !v[0].Move || !v[1].Move {
		t.Errorf("%+v", v)
	}
}

// TestOtherCase: a name counts in any case. Where the file system tells case apart it is
// another file, which nobody misses; where it does not, it is the protected one.
func TestOtherCase(t *testing.T) {
	for _, name := range []string{".VSCODE/tasks.json", "a/.v\u017fcode/tasks.json", ".Mcp.Json", "x/.EXTERNALToolBuilders/a", "w.Code-Workspace", ".g\u200cit/hooks/pre-commit"} {
		p := newPlace(t)
		f := p.scan()
		p.write(name, "")
		p.write(strings.TrimPrefix(name, "."), "") // the twin
		if name == ".g\u200cit/hooks/pre-commit" {
			for _, part := range []string{"HEAD", "objects/x", "refs/x"} {
				p.write(".g\u200cit/"+part, "")
			}
		}
		if v := Check(p.h, f); len(v) != 1 || !v[0].Move {
			t.Errorf("%q: %+v", name, v)
		}
		if len(p.scan().Items) == 0 {
			t.Errorf("%q is not found as existing", name)
		}
	}
	p := newPlace(t)
	f := Scan(p.h, []string{p.ws}, []string{p.ws}, nil, Limits{})
	p.write(".rprofile", "")
	p.write(".LOCAL/lib/Python3.11/site-packages/x.pth", "")
	if v := Check(p.h, f); len(v) != 2 {
		t.Errorf("in a home: %+v", v)
	}
}
