package winacl

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSIDForms(t *testing.T) {
	for text, hex := range map[string]string{
		"S-1-1-0":                   "\x01\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00",
		"S-1-5-32-544":              "\x01\x02\x00\x00\x00\x00\x00\x05\x20\x00\x00\x00\x20\x02\x00\x00",
		"S-1-5-21-1-2-3-4294967295": "\x01\x05\x00\x00\x00\x00\x00\x05\x15\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\xff\xff\xff\xff",
	} {
		s, err := ParseSID(text)
		if err != nil || s.String() != text || string(s.Bytes()) != hex {
			t.Errorf("%s: %v %q %x", text, err, s, s.Bytes())
		}
		if back, err := DecodeSID([]byte(hex)); err != nil || back != s {
			t.Errorf("%s: decoded %v, %v", text, back, err)
		}
	}
	for _, bad := range []string{"", "S-1", "S-1-5", "S-2-5-1", "S-1-5-x", "S-1-5--1", "S-1-5-4294967296", "S-1-5" + strings.Repeat("-1", 16), "S-1-+5-1"} {
		if s, err := ParseSID(bad); err == nil {
			t.Errorf("%q was read as %v", bad, s)
		}
	}
}

// TestKnownDescriptor: bytes that Windows documents ([MS-DTYP] 2.4.6), put together by hand.
func TestKnownDescriptor(t *testing.T) {
	d, err := ParseSDDL("O:BAG:SYD:PAI(D;OICI;FW;;;BU)(A;;FA;;;WD)S:(ML;;NW;;;LW)")
	if err != nil {
		t.Fatal(err)
	}
	if d.Owner != Admins || d.Group != System || d.Control != Protected|AutoInherited || len(d.DACL.Entries) != 2 {
		t.Fatalf("%+v", d)
	}
	if a := d.DACL.Entries[0]; a.Type != Deny || a.Flags != Inherit || a.Mask != 0x120116 || a.SID != Users {
		t.Errorf("%+v", a)
	}
	if a := d.SACL.Entries[0]; a.Type != Label || a.Mask != NoWriteUp || a.SID.Last() != 0x1000 {
		t.Errorf("%+v", a)
	}
	b := d.DACL.Encode()
	want := "\x02\x00\x34\x00\x02\x00\x00\x00" +
		"\x01\x03\x18\x00\x16\x01\x12\x00\x01\x02\x00\x00\x00\x00\x00\x05\x20\x00\x00\x00\x21\x02\x00\x00" +
		"\x00\x00\x14\x00\xff\x01\x1f\x00\x01\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00"
	if string(b) != want {
		t.Errorf("%x", b)
	}
}

func TestNullAndEmptyListsDiffer(t *testing.T) {
	for text, null := range map[string]bool{"D:NO_ACCESS_CONTROL": true, "D:": false, "D:P": false, "D:PNO_ACCESS_CONTROL": true} {
		d, err := ParseSDDL(text)
		if err != nil || (d.DACL == nil) != null || d.SDDL() != text {
			t.Errorf("%s: %v %+v %s", text, err, d, d.SDDL())
		}
		back, err := DecodeDescriptor(d.Encode())
		if err != nil || (back.DACL == nil) != null {
			t.Errorf("%s: binary form gives %+v, %v", text, back, err)
		}
	}
}

func TestRandomDescriptorsSurvive(t *testing.T) {
	for seed := range uint64(2000) {
		d := randomDescriptor(rand.New(rand.NewPCG(seed, 1)))
		text := d.SDDL()
		p, err := ParseSDDL(text)
		if err != nil || p.SDDL() != text || !p.DACL.Equal(d.DACL) {
			t.Fatalf("seed %d: %s gives %v, %v", seed, text, p, err)
		}
		b, err := DecodeDescriptor(d.Encode())
		if err != nil || b.SDDL() != text {
			t.Fatalf("seed %d: %s comes back as %v, %v", seed, text, b, err)
		}
	}
}

// TestUnknownEntriesAreKept: an object entry goes through untouched.
func TestUnknownEntriesAreKept(t *testing.T) {
	l := &ACL{[]ACE{{Type: 5, Flags: ObjectInherit, Raw: []byte("12345678abcd")}, {Type: Allow, Mask: 1, SID: Everyone}}}
	back, err := DecodeACL(l.Encode())
	if err != nil || !back.Equal(l) || l.Encode()[0] != 4 {
		t.Errorf("%v %+v", err, back)
	}
}

func TestBadSDDL(t *testing.T) {
	for _, bad := range []string{"x", "D", "D:(", "D:(A)", "D:(A;;FA;;;)", "D:(A;;FA;;;ZZ)", "D:(A;QQ;FA;;;WD)", "D:(A;;F;;;WD)", "D:(XA;;FA;;;WD;(x))", "D:Q", "D:(A;;FA;;;WD)D:", "Z:", "D:(A;;FA;guid;;WD)", "D:(A;;0x1ffffffff;;;WD)"} {
		if d, err := ParseSDDL(bad); err == nil {
			t.Errorf("%q was read as %s", bad, d.SDDL())
		}
	}
}

// TestBadLists: a list that is cut off or does not add up is an error, never a shorter list:
// what an entry takes away would be lost with it.
func TestBadLists(t *testing.T) {
	good := string((&ACL{[]ACE{{Type: Deny, SID: Everyone, Mask: 1}}}).Encode())
	if _, err := DecodeACL([]byte(good)); err != nil {
		t.Fatal("the twin: ", err)
	}
	set := func(at int, b byte) string { return good[:at] + string(b) + good[at+1:] }
	for name, bad := range map[string]string{
		"empty": "", "cut off": good[:len(good)-1], "revision": set(0, 9), "longer than it is": set(2, 200), "shorter than its head": set(2, 4), "more entries than there are": set(4, 2),
		"entry of no size": set(10, 0), "entry that is longer than the list": set(10, 200), "entry of an odd size": set(8, 9)[:10] + "\x13" + good[11:], "identifier cut off": set(10, 16), "identifier of 200 parts": set(17, 200),
	} {
		if l, err := DecodeACL([]byte(bad)); err == nil {
			t.Errorf("%s: read as %+v", name, l)
		}
	}
	d := &Descriptor{Owner: Admins, DACL: &ACL{}}
	b := d.Encode()
	b[2] &^= byte(DACLPresent)
	if back, err := DecodeDescriptor(b); err != nil || back.DACL != nil || !EveryoneMayWrite(back, File) {
		t.Errorf("a list that is said not to be there: %+v %v", back, err)
	}
}

func FuzzDescriptor(f *testing.F) {
	f.Add((&Descriptor{Owner: Admins, DACL: &ACL{[]ACE{{SID: Everyone, Mask: 1}}}}).Encode())
	f.Add([]byte("\x01\x00\x04\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x14\x00\x00\x00\x02\x00\x08\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := DecodeDescriptor(b)
		if err != nil {
			return
		}
		again, err := DecodeDescriptor(d.Encode())
		if err != nil || !again.DACL.Equal(d.DACL) || again.Owner != d.Owner {
			t.Fatalf("%x comes back as %+v, %v", b, again, err)
		}
	})
}

func FuzzSDDL(f *testing.F) {
	f.Add("O:BAG:BAD:PAI(D;OICI;FW;;;S-1-5-21-1-2-3-4)(A;;FA;;;WD)S:(ML;;NWNX;;;LW)")
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseSDDL(s); err == nil {
			if again, err := ParseSDDL(d.SDDL()); err != nil || !again.DACL.Equal(d.DACL) {
				t.Fatalf("%q gives %q, which does not come back: %v", s, d.SDDL(), err)
			}
		}
	})
}

func TestJournal(t *testing.T) {
	r := NewRecord(`C:\ws`, ACE{Type: Deny, Flags: Inherit, Mask: 3, SID: NewSID(5, 21, 1, 2, 3, 4)})
	r.Workspace, r.PID, r.Keep = `C:\ws`, 7, true
	j := Journal{}.Add(r).Add(r)
	if len(j.Records) != 1 {
		t.Fatalf("the same entry twice: %+v", j)
	}
	back, err := ParseJournal(j.Encode())
	if err != nil || len(back.Records) != 1 || back.Records[0] != r || !back.Records[0].ACE().Equal(r.ACE()) || r.ACE().Type != Deny {
		t.Errorf("%+v %v", back, err)
	}
	torn := append(j.Encode(), []byte(`{"path":"C:\\x","ty`)...)
	if back, err := ParseJournal(torn); err != nil || len(back.Records) != 1 {
		t.Errorf("torn last line: %+v %v", back, err)
	}
	for _, bad := range []string{"{}\n", "x\n" + string(j.Encode()), `{"path":"C:\\x","type":"maybe","sid":"S-1-1-0"}` + "\n"} {
		if _, err := ParseJournal([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if got := j.Remove(r); len(got.Records) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestJournalOfTwoRuns: what two runs need at once goes with the second of them, and what
// was to stay stays.
func TestJournalOfTwoRuns(t *testing.T) {
	rec := func(pid int, keep bool) Record {
		r := NewRecord(`C:\d`, ACE{Type: Deny, Mask: 3, SID: NewSID(5, 21, 1, 2, 3, 4)})
		r.PID, r.Start, r.Keep = pid, int64(pid), keep
		return r
	}
	alive := map[int]bool{1: true, 2: true}
	running := func(r Record) bool { return alive[r.PID] }
	of := func(pid int) func(Record) bool {
		return func(r Record) bool { return !r.Keep && r.PID == pid }
	}
	j := Journal{}.Join(running, rec(1, false)).Join(running, rec(2, false)).Join(running, rec(2, false))
	if len(j.Records) != 2 {
		t.Fatalf("two runs: %+v", j)
	}
	for _, first := range []int{1, 2} {
		left, last, others := j.Without(of(first))
		if len(left.Records) != 1 || len(last) != 0 || len(others) != 1 {
			t.Errorf("run %d ends first: %+v %+v %+v", first, left, last, others)
		}
		if left, last, _ := left.Without(of(3 - first)); len(left.Records) != 0 || len(last) != 1 {
			t.Errorf("then the other: %+v %+v", left, last)
		}
	}
	if left, last, others := j.Without(func(Record) bool { return true }); len(left.Records) != 0 || len(last) != 2 || len(others) != 0 {
		t.Errorf("all: %+v %+v %+v", left, last, others)
	}
	alive[1] = false
	if j = j.Join(running, rec(3, true)); len(j.Records) != 2 { // the ended one's is replaced
		t.Errorf("%+v", j)
	}
	alive[2] = false
	j = j.Join(running, rec(4, false)) // another that goes again: what was to stay is left
	if _, last, others := j.Without(of(4)); len(last) != 0 || len(others) != 1 {
		t.Errorf("an entry that was to stay goes: %+v %+v", last, others)
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"path":"C:\\x","type":"allow","sid":"S-1-1-0","mask":1}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		j, err := ParseJournal(b)
		if err != nil {
			return
		}
		again, err := ParseJournal(j.Encode())
		if err != nil || !bytes.Equal(again.Encode(), j.Encode()) {
			t.Fatalf("%q: %v", b, err)
		}
	})
}

func randomDescriptor(r *rand.Rand) *Descriptor {
	sids := []SID{Everyone, Users, Admins, CreatorOwner, System, NewSID(5, 21, 1, 2, 3, 1000), NewSID(5, 21, 9, 9, 9, 9), OwnerRights}
	d := &Descriptor{Owner: sids[r.IntN(len(sids))], DACL: &ACL{}}
	if r.IntN(20) == 0 {
		d.DACL = nil
		return d
	}
	masks := []Mask{File.All, File.Read, File.Write, GenericAll, Delete, DeleteChild, WriteData, WriteDAC, 0x1301bf, Mask(r.Uint32()) & 0x1f01ff}
	for range r.IntN(6) {
		d.DACL.Entries = append(d.DACL.Entries, ACE{Type: Type(r.IntN(2)), Flags: Flags(r.IntN(32)), Mask: masks[r.IntN(len(masks))], SID: sids[r.IntN(len(sids))]})
	}
	return d
}
