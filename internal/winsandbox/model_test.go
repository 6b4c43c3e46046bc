package winsandbox

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

var (
	user  = winacl.NewSID(5, 21, 1, 2, 3, 1000)
	logon = winacl.NewSID(5, 5, 0, 77)
)

func capability(n uint32) winacl.SID { return winacl.NewSID(5, 21, n, n, n, n) }

const (
	writeFile = winacl.WriteData | winacl.AppendData
	usual     = "(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;S-1-5-21-1-2-3-1000)" // a profile directory
)

func workspaceDisk(top string) *disk {
	d := newDisk(top)
	for _, p := range []string{`C:\ws`, `C:\ws\.git`, `C:\ws\.git\hooks`, `C:\ws\src`, `C:\ws\lib\sub\.git`, `C:\extra`, `C:\other`, `C:\tmp`} {
		d.add(p, winacl.Container)
	}
	for _, p := range []string{`C:\ws\a.txt`, `C:\ws\.git\config`, `C:\ws\src\b.go`, `C:\ws\lib\sub\.git\HEAD`, `C:\other\c.txt`, `C:\extra\d.txt`} {
		d.add(p, winacl.Leaf)
	}
	return d
}

func layout() Layout {
	return Layout{
		Roots:     []Root{{`C:\ws`, capability(1)}, {`C:\extra`, capability(2)}, {`C:\tmp`, capability(1)}},
		Protected: []string{`C:\ws\.git`, `C:\ws\lib\sub\.git`}, Holder: capability(1),
	}
}

func wish(l Layout, r Restriction) TokenWish {
	return TokenWish{User: user, Logon: logon, Caps: l.SIDs(), Restriction: r}
}

// TestWN01 to TestWN09 are the seed's cases, on the model. Each denial has a control:
// the same without the sandbox is allowed.
func TestWN01WritesInTheWorkspace(t *testing.T) {
	l := layout()
	l.Roots = l.Roots[:1] // strict: the first root alone
	d := workspaceDisk(usual)
	d.apply(Edits(l))
	tok := wish(l, WriteRestricted).Model()
	for _, r := range winacl.Readings() {
		for _, p := range []string{`C:\ws`, `C:\ws\src`, `C:\ws\a.txt`, `C:\ws\src\b.go`} {
			if !d.can(tok, writeFile, p, r) {
				t.Errorf("%s reading: %s cannot be written: %s", r, p, d.nodes[p].sd.SDDL())
			}
		}
		made := winacl.NewChild(d.nodes[`C:\ws\src`].sd, tok, winacl.Leaf)
		if !winacl.Check(made, tok, writeFile|winacl.Delete, winacl.File, r) || !d.canRemove(tok, `C:\ws\a.txt`, r) {
			t.Errorf("%s reading: a new file cannot be written again or removed", r)
		}
		if d.can(tok, writeFile, `C:\extra`, r) {
			t.Errorf("%s reading: strict opens the second root", r)
		}
	}
}

func TestWN02CwdOutsideIsRefused(t *testing.T) {
	roots := []string{`C:\ws`, `C:\extra`}
	for cwd, ok := range map[string]bool{`C:\ws`: true, `c:\WS\src`: true, `C:\extra\x`: true, `C:\`: false, `C:\wsx`: false, `C:\other`: false, `D:\ws`: false} {
		clean, err := CleanPath("--cwd", cwd)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckCwd(clean, roots); (err == nil) != ok {
			t.Errorf("%s: %v", cwd, err)
		}
	}
	d, l := workspaceDisk(usual), layout()
	d.apply(Edits(l))
	control := &winacl.Token{User: user, Groups: []winacl.Group{{SID: winacl.Everyone}}}
	for _, r := range winacl.Readings() {
		if d.can(wish(l, WriteRestricted).Model(), writeFile, `C:\other\c.txt`, r) {
			t.Errorf("%s reading: outside can be written", r)
		}
		if !d.can(control, writeFile, `C:\other\c.txt`, r) {
			t.Error("control: the user cannot write there either")
		}
	}
}

func TestWN03ReadOnlyWritesNothing(t *testing.T) {
	d, l := workspaceDisk(usual), Layout{Holder: capability(1)}
	before := d.nodes[`C:\ws`].sd.SDDL()
	d.apply(Edits(l))
	if d.nodes[`C:\ws`].sd.SDDL() != before {
		t.Error("read-only edits lists")
	}
	tok := wish(l, WriteRestricted).Model()
	for _, r := range winacl.Readings() {
		for p := range d.nodes {
			if d.can(tok, winacl.WriteData, p, r) {
				t.Errorf("%s reading: %s can be written", r, p)
			}
			if !d.can(tok, winacl.GenericRead|winacl.GenericExecute, p, r) {
				t.Errorf("%s reading: %s cannot be read", r, p)
			}
		}
	}
	if !d.can(&winacl.Token{User: user}, winacl.WriteData, `C:\ws\a.txt`, winacl.Wide) {
		t.Error("control: the user cannot write either")
	}
}

// TestWN04WN05Pipes: what the command makes by its token's default list can be opened
// by its children, write-restricted or not. The first helper turned the restriction off
// for this. The control is the list that a user's token has by itself.
func TestWN04WN05Pipes(t *testing.T) {
	for _, restriction := range []Restriction{WriteRestricted, Unrestricted} {
		w := wish(layout(), restriction)
		tok := w.Model()
		pipe := &winacl.Descriptor{Owner: user, DACL: tok.Default}
		for _, r := range winacl.Readings() {
			if !winacl.Check(pipe, tok, winacl.GenericRead|winacl.GenericWrite, winacl.Pipe, r) {
				t.Errorf("restriction %d, %s reading: a child cannot open its parent's pipe", restriction, r)
			}
		}
	}
	usualDefault := &winacl.Descriptor{Owner: user, DACL: &winacl.ACL{Entries: []winacl.ACE{{Mask: winacl.GenericAll, SID: user}, {Mask: winacl.GenericAll, SID: winacl.System}}}}
	if winacl.Check(usualDefault, wish(layout(), WriteRestricted).Model(), winacl.GenericWrite, winacl.Pipe, winacl.Wide) {
		t.Error("control: the usual default list would do; then the seed had no reason")
	}
	// Another sandbox of the same user in the same session: neither pipes nor processes.
	other := wish(Layout{Holder: capability(9)}, WriteRestricted)
	mine := &winacl.Descriptor{Owner: user, DACL: wish(layout(), WriteRestricted).DefaultDACL()}
	for _, r := range winacl.Readings() {
		if winacl.Check(mine, other.Model(), winacl.WriteData, winacl.Pipe, r) {
			t.Errorf("%s reading: another workspace's sandbox can write to what this one makes", r)
		}
	}
	if !winacl.Check(mine, &winacl.Token{User: user}, winacl.WriteData, winacl.Pipe, winacl.Wide) {
		t.Error("control: the user outside cannot either")
	}
}

// TestNullDevice: NUL stays usable without an entry of ours (WIN-05): its list lets
// Everyone read and write (wdmsec.h, SDDL_DEVOBJ_SYS_ALL_ADM_RWX_WORLD_RW_RES_R), and
// Everyone is a restricting identifier. The control is a device that has no such entry.
func TestNullDevice(t *testing.T) {
	tok := wish(layout(), WriteRestricted).Model(winacl.Users)
	for text, want := range map[string]bool{
		"O:BAD:P(A;;GA;;;SY)(A;;GRGWGX;;;BA)(A;;GRGW;;;WD)(A;;GR;;;RC)": true,
		"O:BAD:P(A;;GA;;;SY)(A;;GRGWGX;;;BA)(A;;GRGW;;;BU)(A;;GR;;;RC)": false,
	} {
		sd, err := winacl.ParseSDDL(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range winacl.Readings() {
			if got := winacl.Check(sd, tok, winacl.ReadData|winacl.WriteData, winacl.File, r); got != want {
				t.Errorf("%s, %s reading: %v", text, r, got)
			}
		}
	}
}

// TestUnrestrictedKeepsNothing says what the seed's --no-write-restricted costs: no
// restricting identifier, so no capability is ever asked for. The report says none.
func TestUnrestrictedKeepsNothing(t *testing.T) {
	d, l := workspaceDisk(usual), layout()
	d.apply(Edits(l))
	tok := wish(l, Unrestricted).Model()
	for _, p := range []string{`C:\other\c.txt`, `C:\ws\.git\config`} {
		if !d.can(tok, writeFile, p, winacl.Wide) {
			t.Errorf("%s: the model says that it is kept; then the report may say so too", p)
		}
	}
}

func TestWN07GitIsKept(t *testing.T) {
	for _, top := range []string{usual, usual + "(A;OICI;FA;;;WD)"} { // also in a workspace that anybody may write
		d, l := workspaceDisk(top), layout()
		d.apply(Edits(l))
		tok := wish(l, WriteRestricted).Model()
		for _, p := range []string{`C:\ws\.git`, `C:\ws\.git\hooks`, `C:\ws\.git\config`, `C:\ws\lib\sub\.git\HEAD`} {
			for _, r := range winacl.Readings() {
				if d.can(tok, winacl.WriteData, p, r) || d.can(tok, winacl.AppendData, p, r) {
					t.Errorf("%s reading: %s can be written", r, p)
				}
			}
			if d.canRemove(tok, p, winacl.Wide) || d.can(tok, winacl.WriteDAC, p, winacl.Wide) {
				t.Errorf("%s can be removed, or its list changed: %s below %s", p, d.nodes[p].sd.SDDL(), d.nodes[Dir(p)].sd.SDDL())
			}
			if !d.can(tok, winacl.GenericRead, p, winacl.Wide) {
				t.Errorf("%s cannot be read", p)
			}
		}
		for _, p := range []string{`C:\ws\lib\sub`, `C:\ws\lib`, `C:\ws`} {
			if d.canRemove(tok, p, winacl.Wide) && top == usual {
				t.Errorf("%s, which holds a repository, can be moved away", p)
			}
		}
		if !d.canRemove(tok, `C:\ws\src\b.go`, winacl.Wide) || !d.can(tok, winacl.AddFile, `C:\ws\lib\sub`, winacl.Wide) {
			t.Error("the allow twin fails: ordinary files cannot be removed or made")
		}
	}
}

func TestWN09NothingIsLeft(t *testing.T) {
	for seed := range uint64(300) {
		d, l := randomCase(rand.New(rand.NewPCG(seed, 1)))
		before := map[string]string{}
		for p, n := range d.nodes {
			before[p] = n.sd.SDDL()
		}
		edits := Edits(l)
		var j winacl.Journal
		for _, e := range edits {
			j = j.Add(winacl.NewRecord(e.Path, e.ACE))
		}
		d.apply(edits)
		d.apply(edits) // a second run adds nothing
		back, err := winacl.ParseJournal(j.Encode())
		if err != nil || len(back.Records) != len(edits) {
			t.Fatalf("seed %d: %v, %d records for %d entries", seed, err, len(back.Records), len(edits))
		}
		var undo []Edit
		for _, r := range back.Records {
			undo = append(undo, Edit{Path: r.Path, ACE: r.ACE()})
		}
		d.revoke(undo)
		for p, n := range d.nodes {
			if now := n.sd.SDDL(); strings.Replace(now, "AI", "", 1) != strings.Replace(before[p], "AI", "", 1) {
				t.Fatalf("seed %d: %s was %s and is %s", seed, p, before[p], now)
			}
		}
	}
}
