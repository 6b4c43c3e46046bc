package winsandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// TestMovedIn: what is moved into a protected directory keeps the list of where it was,
// and what has a grant of its own is not kept by an inherited denial. The control is the
// state before Loose has looked.
func TestMovedIn(t *testing.T) {
	for name, grant := range map[string]winacl.ACE{
		"moved from the workspace": {Flags: winacl.Inherited, Mask: allowBelow, SID: capability(1)},
		"open to everybody":        {Mask: winacl.File.All, SID: winacl.Everyone},
		"open to this logon":       {Mask: winacl.WriteDAC, SID: logon},
	} {
		d, l := workspaceDisk(usual), layout()
		hook, deep := `C:\ws\.git\hooks\pre-commit`, `C:\ws\.git\modules\m`
		d.add(hook, winacl.Leaf).add(deep, winacl.Container)
		d.apply(Edits(l))
		tok := wish(l, WriteRestricted)
		for _, p := range []string{hook, deep} {
			d.nodes[p].sd = &winacl.Descriptor{Owner: user, DACL: &winacl.ACL{Entries: []winacl.ACE{{Mask: winacl.File.All, SID: user}}}}
			d.own(p, grant)
			if !d.can(tok.Model(), grant.Mask&(winacl.WriteData|winacl.WriteDAC), p, winacl.Wide) {
				t.Errorf("%s: control: %s is kept already", name, p)
			}
		}
		d.apply(Edits(l)) // the next run: the entries are there, nothing is passed on
		more, stopped := Loose(d, l, tok.Restricting())
		if stopped != "" || len(more) != 2 {
			t.Fatalf("%s: %v %s", name, more, stopped)
		}
		d.apply(more)
		for _, p := range []string{hook, deep} {
			if d.can(tok.Model(), winacl.WriteData, p, winacl.Wide) || d.can(tok.Model(), winacl.WriteDAC, p, winacl.Wide) || d.canRemove(tok.Model(), p, winacl.Wide) {
				t.Errorf("%s: %s can be written: %s", name, p, d.nodes[p].sd.SDDL())
			}
			if !d.can(tok.Model(), winacl.GenericRead, p, winacl.Wide) {
				t.Errorf("%s: %s cannot be read", name, p)
			}
		}
		if again, _ := Loose(d, l, tok.Restricting()); len(again) != 0 {
			t.Errorf("%s: a second look finds %v", name, again)
		}
	}
}

// TestLooseIsBounded: a large repository does not hold the run up, and what was not seen
// is said.
func TestLooseIsBounded(t *testing.T) {
	d := &fakeDisk{sddl: map[string]string{}}
	for i := range looseEntries + 10 {
		n := fmt.Sprintf("o%d", i)
		d.entries = append(d.entries, Entry{Name: n})
		d.sddl[`C:\ws\.git\`+n] = "D:(A;;FA;;;SY)"
	}
	l := Layout{Roots: []Root{{`C:\ws`, capability(1)}}, Protected: []string{`C:\ws\.git`}}
	if out, stopped := Loose(d, l, []winacl.SID{capability(1)}); len(out) != 0 || stopped != "4096 entries" {
		t.Errorf("%d %q", len(out), stopped)
	}
	d.step = looseTime / 4
	if _, stopped := Loose(d, l, nil); stopped != "1s" {
		t.Error(stopped)
	}
	delete(d.sddl, `C:\ws\.git\o0`)
	d.step, d.now = 0, 0
	if _, stopped := Loose(d, l, nil); !strings.Contains(stopped, "o0") {
		t.Errorf("a list that cannot be read: %q", stopped)
	}
}
