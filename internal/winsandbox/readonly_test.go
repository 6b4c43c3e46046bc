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

// TestStale: a denial that only an earlier policy had goes with the next run; those of this
// policy, of other workspaces and of runs that go on stay.
func TestStale(t *testing.T) {
	l := layout()
	was := l
	was.Protected = append([]string{`C:\ws\src`}, l.Protected...)
	now := Edits(l)
	foreign := winacl.NewRecord(`C:\other`, winacl.ACE{Type: winacl.Deny, Mask: denyWrite, SID: capability(9)})
	foreign.Keep = true
	records := []winacl.Record{foreign}
	for i, e := range Edits(was) {
		r := winacl.NewRecord(e.Path, e.ACE)
		r.Keep, r.PID = true, i
		records = append(records, r)
	}
	for _, alive := range []bool{false, true} {
		stale := Stale(now, l.SIDs(), func(winacl.Record) bool { return alive })
		var gone []string
		for _, r := range records {
			if stale(r) {
				gone = append(gone, r.Path)
			}
		}
		if alive && len(gone) > 0 || !alive && (len(gone) != 1 || gone[0] != `C:\ws\src`) {
			t.Errorf("alive %v: %q go", alive, gone)
		}
	}
	d := workspaceDisk(usual)
	d.apply(Edits(was))
	tok := wish(l, WriteRestricted).Model()
	if d.can(tok, winacl.WriteData, `C:\ws\src\b.go`, winacl.Wide) {
		t.Error("control: the earlier denial did nothing")
	}
	stale := Stale(now, l.SIDs(), func(winacl.Record) bool { return false })
	for _, r := range records[1:] {
		if stale(r) {
			d.revoke([]Edit{{Path: r.Path, ACE: r.ACE()}})
		}
	}
	if d.apply(now); !d.can(tok, winacl.WriteData, `C:\ws\src\b.go`, winacl.Wide) || d.can(tok, winacl.WriteData, `C:\ws\.git\config`, winacl.Wide) {
		t.Error("then src cannot be written, or .git can")
	}
}

// TestRegistryIsKept: what starts at the next sign-in is set in keys of the user, which no
// capability opens. The control is the user without the sandbox.
func TestRegistryIsKept(t *testing.T) {
	run, err := winacl.ParseSDDL("O:" + user.String() + "D:(A;CI;0xf003f;;;" + user.String() + ")(A;CI;0xf003f;;;SY)(A;CI;0x20019;;;RC)")
	if err != nil {
		t.Fatal(err)
	}
	const setValue, createSubKey, queryValue = winacl.Mask(0x2), winacl.Mask(0x4), winacl.Mask(0x1)
	tok := wish(layout(), WriteRestricted).Model(winacl.Users)
	for _, r := range winacl.Readings() {
		for _, m := range []winacl.Mask{setValue, createSubKey} {
			if winacl.Check(run, tok, m, winacl.Key, r) {
				t.Errorf("%s reading: %#x is given", r, m)
			}
			if !winacl.Check(run, &winacl.Token{User: user}, m, winacl.Key, r) {
				t.Errorf("control: %#x", m)
			}
		}
		if !winacl.Check(run, tok, queryValue, winacl.Key, r) {
			t.Errorf("%s reading: it cannot be read", r)
		}
	}
}

// TestEditsByPath: all entries of a path in one list are the same as one after the other.
func TestEditsByPath(t *testing.T) {
	edits := Edits(layout())
	one, all := workspaceDisk(usual), workspaceDisk(usual)
	one.apply(edits)
	n := 0
	for _, p := range Paths(edits) {
		for _, a := range ACEs(edits, p) {
			all.apply([]Edit{{Path: p, ACE: a}})
			n++
		}
	}
	if n != len(edits) || len(Paths(edits)) >= n {
		t.Fatalf("%d of %d entries at %d paths", n, len(edits), len(Paths(edits)))
	}
	for p := range one.nodes {
		if a, b := one.nodes[p].sd.SDDL(), all.nodes[p].sd.SDDL(); a != b {
			t.Errorf("%s: %s, by path %s", p, a, b)
		}
	}
}
