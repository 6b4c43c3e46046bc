//go:build amd64 || arm64

package guard

import (
	"strings"
	"testing"
)

// TestBeyondPathMax: where the kernel does not tell a folder's path, protected names are
// refused by their last part, others are made, and the refusal has words for the folder.
func TestBeyondPathMax(t *testing.T) {
	ways(t, func(t *testing.T, r *rig) {
		const down = `n=$(printf '%0200d' 0); i=0; while [ $i -lt 22 ]; do mkdir $n && cd -P ./$n || exit 3; i=$((i+1)); done 2>/dev/null; `
		if out, err := r.run(true, "sh", "-c", down+"touch plain && mkdir sub"); err != nil || len(r.denials) > 0 {
			t.Fatalf("the twin: %v %s %s", err, out, r.rules())
		}
		r.run(true, "sh", "-c", "rm -rf 0*")
		for _, name := range []string{".mcp.json", ".MCP.json", ".github"} {
			r.denials = nil
			if out, err := r.run(true, "sh", "-c", down+"touch "+name); err == nil || len(r.denials) == 0 {
				t.Fatalf("%s: %v %s", name, err, out)
			}
			for _, d := range r.denials {
				if strings.ContainsRune(d.Path, 0) || !strings.HasPrefix(d.Path, "(a folder beyond") || !strings.HasSuffix(d.Path, "/"+name) {
					t.Errorf("%s is told as %q", name, d.Path)
				}
			}
			r.run(true, "sh", "-c", "rm -rf 0*")
		}
	})
}
