package winsandbox

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

var (
	user  = winacl.NewSID(5, 21, 1, 2, 3, 1000)
	logon = winacl.NewSID(5, 5, 0, 77)
)

func capability(n uint32) winacl.SID { return winacl.NewSID(5, 21, n, n, n, n) }

// disk is a tree of descriptors that inherits as NTFS does.
type disk struct {
	nodes map[string]*node // clean path -> node
}

type node struct {
	kind winacl.Kind
	sd   *winacl.Descriptor
}

func newDisk(top string) *disk {
	sd, err := winacl.ParseSDDL("O:" + user.String() + "D:" + top)
	if err != nil {
		panic(err)
	}
	return &disk{map[string]*node{`C:\`: {winacl.Container, sd}}}
}

// add makes an object as the unconfined user would.
func (d *disk) add(p string, k winacl.Kind) *disk {
	if d.nodes[Dir(p)] == nil {
		d.add(Dir(p), winacl.Container)
	}
	d.nodes[p] = &node{k, winacl.NewChild(d.nodes[Dir(p)].sd, &winacl.Token{User: user, Default: &winacl.ACL{Entries: []winacl.ACE{{Mask: winacl.File.All, SID: user}}}}, k)}
	return d
}

// apply edits a list and passes it on to all that lies below. An entry of a file must
// have no flags of inheritance: whether Windows keeps them is not documented.
func (d *disk) apply(edits []Edit) {
	for _, e := range edits {
		if d.nodes[e.Path].kind == winacl.Leaf && e.ACE.Flags != 0 {
			panic(e.Path + " is a file, and its entry is inherited")
		}
		n := *d.nodes[e.Path].sd
		if n.DACL.Has(e.ACE) {
			continue // nothing is set, and so nothing is passed on
		}
		n.DACL = n.DACL.With(e.ACE)
		d.nodes[e.Path].sd = &n
		d.passOn(e.Path)
	}
}

func (d *disk) revoke(edits []Edit) {
	for _, e := range slices.Backward(edits) {
		n := *d.nodes[e.Path].sd
		n.DACL = n.DACL.Drop(e.ACE)
		d.nodes[e.Path].sd = &n
		d.passOn(e.Path)
	}
}

func (d *disk) passOn(p string) {
	for _, q := range d.paths() {
		if Within(p, q) && q != p {
			n := d.nodes[q]
			n.sd = winacl.Propagate(d.nodes[Dir(q)].sd, n.sd, n.kind)
		}
	}
}

// paths lists parents before children.
func (d *disk) paths() []string {
	var out []string
	for p := range d.nodes {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b string) int {
		if n := strings.Count(a, `\`) - strings.Count(b, `\`); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	return out
}

func (d *disk) can(t *winacl.Token, m winacl.Mask, p string, r winacl.Reading) bool {
	return winacl.Check(d.nodes[p].sd, t, m, winacl.File, r)
}

func (d *disk) canRemove(t *winacl.Token, p string, r winacl.Reading) bool {
	return winacl.CanDelete(d.nodes[Dir(p)].sd, d.nodes[p].sd, t, r)
}

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
	other := wish(Layout{Holder: capability(9)}, WriteRestricted)
	other.Logon = winacl.NewSID(5, 5, 0, 78)
	if winacl.Check(usualDefault, other.Model(), winacl.GenericWrite, winacl.Pipe, winacl.Wide) {
		t.Error("a run of another logon can write")
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

// Children, Security and Since make it what the audit and Loose look at.
func (d *disk) Children(dir string) (out []Entry, err error) {
	for _, p := range d.paths() {
		if Dir(p) == dir && p != dir {
			out = append(out, Entry{Name: p[strings.LastIndexByte(p, '\\')+1:], Dir: d.nodes[p].kind == winacl.Container})
		}
	}
	return out, nil
}

func (d *disk) Security(p string) (*winacl.Descriptor, error) { return d.nodes[p].sd, nil }
func (d *disk) Since() time.Duration                          { return 0 }

// own puts an entry at the end of one list: a grant that somebody has made there, or one
// that came along when the file was moved from elsewhere.
func (d *disk) own(p string, a winacl.ACE) {
	n := *d.nodes[p].sd
	l := n.DACL.Clone()
	l.Entries = append(l.Entries, a)
	n.DACL = l
	d.nodes[p].sd = &n
}

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

// randomCase makes a tree with lists of all kinds and a layout over it.
func randomCase(r *rand.Rand) (*disk, Layout) {
	tops := []string{usual, usual + "(A;OICI;FA;;;WD)", usual + "(A;OICI;0x1301bf;;;AU)(A;OICIIO;FA;;;CO)", usual + "(A;OICI;FRFX;;;BU)(A;CI;0x4;;;BU)", "(A;OICI;FA;;;S-1-5-21-1-2-3-1000)(A;OICI;FW;;;WD)"}
	d := newDisk(tops[r.IntN(len(tops))])
	dirs := []string{`C:\`}
	for i := range 6 + r.IntN(14) {
		p := strings.TrimSuffix(dirs[r.IntN(len(dirs))], `\`) + fmt.Sprintf(`\d%d`, i)
		d.add(p, winacl.Container)
		d.add(p+`\f`, winacl.Leaf)
		dirs = append(dirs, p)
	}
	l := Layout{Holder: capability(1)}
	for i := range 1 + r.IntN(3) {
		p := dirs[1+r.IntN(len(dirs)-1)]
		if !isRoot(l.Roots, p) {
			l.Roots = append(l.Roots, Root{p, capability(uint32(i + 1))})
		}
	}
	for _, p := range dirs[1:] {
		if inRoots(l.Roots, p) && !isRoot(l.Roots, p) && r.IntN(3) == 0 { // also one that holds a root: deny, allow, deny
			l.Protected = append(l.Protected, p)
		}
		if f := p + `\f`; inRoots(l.Roots, f) && r.IntN(4) == 0 {
			l.Protected, l.Files = append(l.Protected, f), append(l.Files, f)
		}
	}
	return d, l
}

func holdsRoot(l Layout, p string) bool {
	return slices.ContainsFunc(l.Roots, func(r Root) bool { return Within(p, r.Path) })
}

// TestProperties: over random trees, lists and layouts.
func TestProperties(t *testing.T) {
	for seed := range uint64(1500) {
		d, l := randomCase(rand.New(rand.NewPCG(seed, 2)))
		mine := wish(l, WriteRestricted).Model(winacl.Users)
		foreign := TokenWish{User: user, Logon: logon, Caps: []winacl.SID{capability(99)}}.Model(winacl.Users)
		free := map[string]bool{} // what anybody may write before we came
		for p, n := range d.nodes {
			free[p] = winacl.EveryoneMayWrite(n.sd, winacl.File)
		}
		l.Flagged = flaggedOutside(d, l, free)
		rng := rand.New(rand.NewPCG(seed, 5))
		for _, p := range d.paths() { // below what is protected, lists of all kinds
			if guardedIn(l, p) && rng.IntN(3) == 0 {
				free[p] = true // to others, too
				d.own(p, winacl.ACE{Mask: winacl.Mask(rng.Uint32()) & 0x1f01ff, SID: []winacl.SID{winacl.Everyone, logon, capability(1), capability(2)}[rng.IntN(4)]})
			}
		}
		d.apply(Edits(l))
		more, _ := Loose(d, l, wish(l, WriteRestricted).Restricting())
		d.apply(more)
		for p, n := range d.nodes {
			if why := violates(d, l, p, n, mine, foreign, free); why != "" {
				t.Fatalf("seed %d: %s\nlist %s\nroots %v\nprotected %v\nflagged %v", seed, why, n.sd.SDDL(), l.Roots, l.Protected, l.Flagged)
			}
		}
	}
}

func flaggedOutside(d *disk, l Layout, free map[string]bool) []string {
	var out []string
	for _, p := range d.paths() {
		if free[p] && d.nodes[p].kind == winacl.Container && !inRoots(l.Roots, p) && !holdsRoot(l, p) {
			out = append(out, p)
		}
	}
	return out
}

// guardedIn: the innermost of what is protected and what can be written decides.
func guardedIn(l Layout, p string) bool {
	guard := 0
	for _, g := range l.Protected {
		if Within(g, p) {
			guard = max(guard, len(g))
		}
	}
	for _, r := range l.Roots {
		if Within(r.Path, p) && len(r.Path) > guard {
			return false
		}
	}
	return guard > 0
}

func violates(d *disk, l Layout, p string, n *node, mine, foreign *winacl.Token, free map[string]bool) string {
	flagged := slices.ContainsFunc(l.Flagged, func(f string) bool { return Within(f, p) })
	guarded := guardedIn(l, p)
	for _, r := range winacl.Readings() {
		write := winacl.Check(n.sd, mine, winacl.WriteData, winacl.File, r)
		switch {
		case guarded && write:
			return p + " is protected and can be written"
		case guarded && r == winacl.Wide && (d.canRemove(mine, p, r) || winacl.Check(n.sd, mine, winacl.WriteDAC, winacl.File, r)):
			return p + " is protected and can be removed"
		case !guarded && inRoots(l.Roots, p) && !write:
			return p + " lies in a root and cannot be written"
		case !inRoots(l.Roots, p) && write && !(free[p] && !flagged):
			return p + " lies outside and can be written"
		case !winacl.Check(n.sd, mine, winacl.File.Read, winacl.File, r):
			return p + " cannot be read"
		case !free[p] && winacl.Check(n.sd, foreign, winacl.WriteData, winacl.File, r):
			return p + " is open to another workspace's capability"
		case r == winacl.Wide && !inRoots(l.Roots, p) && p != `C:\` && !free[p] && !free[Dir(p)] && d.canRemove(mine, p, r):
			return p + " lies outside and can be removed"
		}
	}
	return ""
}
