package winsandbox

import (
	"crypto/rand"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// TestReadOnlyAfterWorkspaceWrite: WN-03 where an earlier run was let write, whose entries
// stay. The control is that run's own token.
func TestReadOnlyAfterWorkspaceWrite(t *testing.T) {
	store, err := ParseCapabilities(nil)
	if err != nil {
		t.Fatal(err)
	}
	get := func(cwd string, roots ...string) winacl.SID {
		s, _, err := store.For(HolderKey(cwd, roots), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, cwd := range []string{`C:\ws`, `c:\WS`, `C:\ws\src`} {
		d := workspaceDisk(usual)
		sid := get(cwd, `C:\ws`)
		l := Layout{Roots: []Root{{`C:\ws`, sid}}, Holder: sid}
		d.apply(Edits(l))
		later := wish(Layout{Holder: get(cwd)}, WriteRestricted).Model()
		for _, p := range []string{`C:\ws`, `C:\ws\a.txt`, `C:\ws\src`} {
			for _, r := range winacl.Readings() {
				if d.can(later, winacl.WriteData, p, r) {
					t.Errorf("%s reading, from %s: read-only writes %s", r, cwd, p)
				}
			}
			if !d.can(wish(l, WriteRestricted).Model(), winacl.WriteData, p, winacl.Wide) {
				t.Errorf("control: %s could not be written before either", p)
			}
		}
	}
}
