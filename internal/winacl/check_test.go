package winacl

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

var (
	user  = NewSID(5, 21, 1, 2, 3, 1000)
	other = NewSID(5, 21, 1, 2, 3, 1001)
	logon = NewSID(5, 5, 0, 77)
	capA  = NewSID(5, 21, 11, 12, 13, 14)
	capB  = NewSID(5, 21, 21, 22, 23, 24)
)

func plainToken() *Token {
	return &Token{User: user, Groups: []Group{{SID: Everyone}, {SID: Users}, {SID: Authenticated}, {SID: logon}, {Admins, DenyOnly}}}
}

func jailed(caps ...SID) *Token {
	t := plainToken()
	t.Restricting, t.WriteRestricted = append(caps, logon, Everyone), true
	return t
}

func sddl(t testing.TB, s string) *Descriptor {
	t.Helper()
	d, err := ParseSDDL(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestVectors are the rules one by one. want is what a request for it gets.
func TestVectors(t *testing.T) {
	me, capText := user.String(), capA.String()
	full := plainToken()
	low := plainToken()
	low.Integrity = LowLabel.Last()
	hard := jailed(capA)
	hard.WriteRestricted = false
	for _, v := range []struct {
		name string
		sd   string
		tok  *Token
		want Mask
		ok   bool
	}{
		{"null list gives everything", "D:NO_ACCESS_CONTROL", full, GenericAll, true},
		{"empty list gives nothing", "D:", full, ReadData, false},
		{"owner of an empty list has READ_CONTROL and WRITE_DAC", "O:" + me + "D:", full, ReadControl | WriteDAC, true},
		{"and nothing else", "O:" + me + "D:", full, Delete, false},
		{"OWNER RIGHTS replaces that", "O:" + me + "D:(A;;0x1;;;OW)", full, WriteDAC, false},
		{"and gives what it says", "O:" + me + "D:(A;;0x1;;;OW)", full, ReadData, true},
		{"OWNER RIGHTS is for the owner alone", "O:SYD:(A;;FA;;;OW)", full, ReadData, false},
		{"an inherit-only OWNER RIGHTS changes nothing here", "O:" + me + "D:(A;OICIIO;0x1;;;OW)", full, WriteDAC, true},
		{"denial first", "D:(D;;FW;;;WD)(A;;FA;;;" + me + ")", full, WriteData, false},
		{"and reading stays", "D:(D;;0x2;;;WD)(A;;FA;;;" + me + ")", full, GenericRead, true},
		{"grant first settles the bit", "D:(A;;FA;;;" + me + ")(D;;FW;;;WD)", full, WriteData, true},
		{"inherit-only does not count", "D:(A;OICIIO;FA;;;WD)", full, ReadData, false},
		{"a deny-only group gives nothing", "D:(A;;FA;;;BA)", full, ReadData, false},
		{"a deny-only group denies", "D:(D;;FW;;;BA)(A;;FA;;;WD)", full, WriteData, false},
		{"a grant to somebody else", "D:(A;;FA;;;" + other.String() + ")", full, ReadData, false},
		{"generic rights in an entry are mapped", "D:(A;;GR;;;WD)", full, ReadData | ReadAttributes, true},

		{"restricted: user alone cannot write", "D:(A;;FA;;;" + me + ")", jailed(capA), WriteData, false},
		{"restricted: user alone can read", "D:(A;;FA;;;" + me + ")", jailed(capA), GenericRead | GenericExecute, true},
		{"restricted: capability alone cannot write", "D:(A;;FA;;;" + capText + ")", jailed(capA), WriteData, false},
		{"restricted: both can", "D:(A;;FA;;;" + me + ")(A;;FA;;;" + capText + ")", jailed(capA), WriteData | Delete, true},
		{"restricted: another's capability opens nothing", "D:(A;;FA;;;" + me + ")(A;;FA;;;" + capText + ")", jailed(capB), WriteData, false},
		{"restricted: Everyone in the list voids it", "D:(A;;FA;;;WD)", jailed(capA), WriteData, true},
		{"restricted: denial of the capability wins over that", "D:(D;;FW;;;" + capText + ")(A;;FA;;;WD)", jailed(capA), WriteData, false},
		{"restricted: Users alone is enough to read system files", "D:(A;;FRFX;;;BU)", jailed(capA), GenericRead | GenericExecute, true},
		{"fully restricted: it is not", "D:(A;;FRFX;;;BU)", hard, GenericRead, false},
		{"restricted: a denial of reading is skipped", "D:(D;;FR;;;" + capText + ")(A;;FA;;;" + me + ")", jailed(capA), GenericRead, true},
		{"fully restricted: it is not skipped", "D:(D;;FR;;;" + capText + ")(A;;FA;;;" + me + ")(A;;FA;;;WD)", hard, ReadData, false},

		{"low cannot write medium", "D:(A;;FA;;;WD)", low, WriteData, false},
		{"low cannot delete medium", "D:(A;;FA;;;WD)", low, Delete, false},
		{"low can read medium", "D:(A;;FA;;;WD)", low, GenericRead, true},
		{"low can write low", "D:(A;;FA;;;WD)S:(ML;;NW;;;LW)", low, WriteData, true},
		{"no-read-up keeps low from reading", "D:(A;;FA;;;WD)S:(ML;;NWNR;;;ME)", low, ReadData, false},
		{"medium can write low", "D:(A;;FA;;;WD)S:(ML;;NW;;;LW)", full, WriteData, true},
	} {
		for _, r := range Readings() {
			if got := Check(sddl(t, v.sd), v.tok, v.want, File, r); got != v.ok {
				t.Errorf("%s (%s reading): %v, want %v", v.name, r, got, v.ok)
			}
		}
	}
}

// foreignACE makes an entry of a kind that this package keeps as bytes.
func foreignACE(kind Type, mask Mask, present int, sid SID, behind string) ACE {
	b := binary.LittleEndian.AppendUint32(nil, uint32(mask))
	if present >= 0 {
		b = binary.LittleEndian.AppendUint32(b, uint32(present))
		for bit := range 2 {
			if present&(1<<bit) != 0 {
				b = append(b, "0123456789abcdef"...)
			}
		}
	}
	return ACE{Type: kind, Raw: append(append(b, sid.Bytes()...), behind...)}
}

// TestForeignEntries: object and conditional entries ([MS-DTYP] 2.4.4.3 to 2.4.4.9). may is
// what the audit takes for possible: a condition is not known here.
func TestForeignEntries(t *testing.T) {
	all := ACE{Mask: File.All, SID: Everyone}
	for _, v := range []struct {
		name       string
		list       []ACE
		given, may bool
	}{
		{"object grant without a type", []ACE{foreignACE(5, File.All, 0, Everyone, "")}, true, true},
		{"object grant for a type", []ACE{foreignACE(5, File.All, 1, Everyone, "")}, false, true},
		{"object grant that only inherits by type", []ACE{foreignACE(5, File.All, 2, Everyone, "")}, true, true},
		{"object denial without a type", []ACE{foreignACE(6, File.All, 0, Everyone, ""), all}, false, false},
		{"object denial for a type", []ACE{foreignACE(6, File.All, 3, Everyone, ""), all}, false, true},
		{"conditional grant", []ACE{foreignACE(9, File.All, -1, Everyone, "artx....")}, false, true},
		{"conditional denial", []ACE{foreignACE(0xA, File.All, -1, Everyone, "artx...."), all}, true, true},
		{"conditional object grant", []ACE{foreignACE(0xB, File.All, 1, Everyone, "artx")}, false, true},
		{"for somebody else", []ACE{foreignACE(9, File.All, -1, System, "artx")}, false, false},
		{"audit", []ACE{{Type: 2, Raw: all.SID.Bytes()}}, false, false},
		{"cut off", []ACE{{Type: 5, Raw: []byte("1234")}, {Type: 9, Raw: []byte("12345678")}, {Type: 5, Raw: []byte{255, 1, 31, 0, 3, 0, 0, 0, 1, 1}}}, false, false},
	} {
		d := &Descriptor{Owner: System, DACL: &ACL{v.list}}
		if got := Check(d, plainToken(), WriteData, File, Wide); got != v.given {
			t.Errorf("%s: given %v", v.name, got)
		}
		if got := EveryoneMayWrite(d, File); got != v.may {
			t.Errorf("%s: may %v", v.name, got)
		}
		if back, err := DecodeDescriptor(d.Encode()); err != nil || EveryoneMayWrite(back, File) != v.may && v.name != "cut off" {
			t.Errorf("%s: comes back as %+v, %v", v.name, back, err)
		}
	}
}

// TestReadingsDiffer says what hangs on how WRITE_RESTRICTED is read. Real Windows
// settles it; until then what rests on the wide reading is not called enforced.
func TestReadingsDiffer(t *testing.T) {
	d := sddl(t, "O:"+user.String()+"D:(A;;FA;;;"+user.String()+")")
	for _, m := range []Mask{Delete, WriteDAC, WriteOwner, DeleteChild} {
		if Check(d, jailed(capA), m, File, Wide) {
			t.Errorf("wide: %#x is granted", m)
		}
		if !Check(d, jailed(capA), m, File, Narrow) {
			t.Errorf("narrow: %#x is refused", m)
		}
	}
}

// TestRestrictionNeverGives: a second check only takes away, whatever the list.
func TestRestrictionNeverGives(t *testing.T) {
	for seed := range uint64(20000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		d := randomDescriptor(rng)
		full, jail := plainToken(), jailed(capA)
		for _, r := range Readings() {
			a, b := Granted(d, full, File, r), Granted(d, jail, File, r)
			if b&^a != 0 {
				t.Fatalf("seed %d: %s gives %#x more to the restricted token", seed, d.SDDL(), b&^a)
			}
			if read := (File.Read | File.Execute); a&read != b&read {
				t.Fatalf("seed %d: %s reading changes: %#x, %#x", seed, d.SDDL(), a, b)
			}
		}
		if n, w := Granted(d, jail, File, Narrow), Granted(d, jail, File, Wide); w&^n != 0 {
			t.Fatalf("seed %d: the wide reading gives %#x more", seed, w&^n)
		}
	}
}

// TestOursChangeNobodyElse: adding entries for a capability leaves what every other
// token may do exactly as it was, on any list, canonical or not.
func TestOursChangeNobodyElse(t *testing.T) {
	allow := ACE{Type: Allow, Flags: Inherit, Mask: 0x1301bf, SID: capA}
	deny := ACE{Type: Deny, Flags: Inherit, Mask: File.Write, SID: capA}
	for seed := range uint64(20000) {
		d := randomDescriptor(rand.New(rand.NewPCG(seed, 4)))
		for _, add := range [][]ACE{{allow}, {deny}, {allow, deny}, {deny, allow}} {
			n := *d
			for _, a := range add {
				n.DACL = n.DACL.With(a)
			}
			for _, tok := range []*Token{plainToken(), jailed(capB), {User: other, Groups: []Group{{SID: Everyone}, {SID: Admins}}}} {
				if x, y := Granted(d, tok, File, Wide), Granted(&n, tok, File, Wide); x != y {
					t.Fatalf("seed %d: %s becomes %s: %#x, %#x", seed, d.SDDL(), n.SDDL(), x, y)
				}
			}
			if d.DACL.Canonical() && !n.DACL.Canonical() {
				t.Fatalf("seed %d: %s is no longer canonical: %s", seed, d.SDDL(), n.SDDL())
			}
			if add[0].Type == Allow && len(add) == 1 && d.DACL != nil {
				if again := n.DACL.With(allow); !again.Equal(n.DACL) {
					t.Fatalf("seed %d: added twice", seed)
				}
				if back := n.DACL.Drop(allow); !back.Equal(d.DACL) && !d.DACL.Has(allow) {
					t.Fatalf("seed %d: %s is not what it was after adding and dropping", seed, (&Descriptor{DACL: back}).SDDL())
				}
			}
		}
	}
}

func TestInheritance(t *testing.T) {
	me := user.String()
	parent := sddl(t, "O:SYD:(A;OICI;0x1301bf;;;"+capA.String()+")(A;OI;FR;;;WD)(A;CI;FX;;;WD)(A;OICINP;FW;;;BU)(A;OICIIO;FA;;;CO)(A;;FA;;;BA)")
	tok := plainToken()
	tok.Default = &ACL{[]ACE{{Type: Allow, Mask: GenericAll, SID: user}}}
	for k, want := range map[Kind]string{
		Leaf:      "(A;ID;0x1301bf;;;" + capA.String() + ")(A;ID;FR;;;WD)(A;ID;FW;;;BU)(A;ID;FA;;;" + me + ")",
		Container: "(A;OICIID;0x1301bf;;;" + capA.String() + ")(A;OIIOID;FR;;;WD)(A;CIID;FX;;;WD)(A;ID;FW;;;BU)(A;ID;FA;;;" + me + ")(A;OICIIOID;FA;;;CO)",
	} {
		d := NewChild(parent, tok, k)
		if got := (&Descriptor{DACL: d.DACL}).SDDL(); got != "D:"+want {
			t.Errorf("kind %d:\n got %s\nwant D:%s", k, got, want)
		}
		if d.Owner != user {
			t.Errorf("owner %s", d.Owner)
		}
	}
	if d := NewChild(sddl(t, "D:(A;;FA;;;WD)"), tok, Leaf); !d.DACL.Equal(tok.Default) {
		t.Errorf("nothing to inherit: %s", d.SDDL())
	}
	shut := sddl(t, "D:P(A;;FR;;;WD)")
	if got := Propagate(parent, shut, Leaf); got.SDDL() != shut.SDDL() {
		t.Errorf("a protected list changed: %s", got.SDDL())
	}
	own := sddl(t, "D:(D;;FW;;;WD)(A;ID;FA;;;WD)")
	if got := Propagate(sddl(t, "D:(A;OICI;FR;;;BU)"), own, Leaf); got.SDDL() != "D:AI(D;;FW;;;WD)(A;ID;FR;;;BU)" {
		t.Errorf("propagated: %s", got.SDDL())
	}
}
