package winacl

import (
	"slices"
)

// Type is the kind of an entry ([MS-DTYP] 2.4.4.1).
type Type uint8

// The kinds that the product writes or judges. Others are kept as they are.
const (
	Allow Type = 0
	Deny  Type = 1
	Label Type = 0x11 // SYSTEM_MANDATORY_LABEL_ACE
)

// denies are the kinds that take away: plain, object, callback, callback object.
func (t Type) denies() bool { return t == Deny || t == 6 || t == 0xA || t == 0xC }

// String gives the letters of SDDL for the kinds that it can write.
func (t Type) String() string {
	switch t {
	case Allow:
		return "A"
	case Deny:
		return "D"
	case Label:
		return "ML"
	}
	return "?"
}

// Flags say how an entry is inherited.
type Flags uint8

// The flags ([MS-DTYP] 2.4.4.1).
const (
	ObjectInherit    Flags = 0x1 // files get it
	ContainerInherit Flags = 0x2 // directories get it
	NoPropagate      Flags = 0x4 // only the next level
	InheritOnly      Flags = 0x8 // does not count for the object itself
	Inherited        Flags = 0x10
)

// Inherit is what a rule for a whole tree has.
const Inherit = ObjectInherit | ContainerInherit

// ACE is one entry. For a kind that this package does not know, Raw has its body.
type ACE struct {
	Type  Type
	Flags Flags
	Mask  Mask
	SID   SID
	Raw   []byte
}

// Equal compares two entries.
func (a ACE) Equal(b ACE) bool {
	return a.Type == b.Type && a.Flags == b.Flags && a.Mask == b.Mask && a.SID == b.SID && slices.Equal(a.Raw, b.Raw)
}

func (a ACE) known() bool { return a.Type == Allow || a.Type == Deny || a.Type == Label }

// ACL is an access-control list. A nil *ACL is a NULL list, which gives everything
// to everybody; an empty one gives nothing.
type ACL struct{ Entries []ACE }

// Clone gives a copy.
func (l *ACL) Clone() *ACL {
	if l == nil {
		return nil
	}
	return &ACL{slices.Clone(l.Entries)}
}

// Equal compares two lists.
func (l *ACL) Equal(o *ACL) bool {
	if l == nil || o == nil {
		return l == o
	}
	return slices.EqualFunc(l.Entries, o.Entries, ACE.Equal)
}

// Has tells whether an entry is there.
func (l *ACL) Has(a ACE) bool {
	return l != nil && slices.ContainsFunc(l.Entries, a.Equal)
}

// Canonical tells whether explicit entries come before inherited ones and, among
// the explicit ones, denials first ("Order of ACEs in a DACL", Microsoft Learn).
func (l *ACL) Canonical() bool {
	if l == nil {
		return true
	}
	rank := func(a ACE) int {
		switch {
		case a.Flags&Inherited != 0:
			return 2
		case a.Type.denies():
			return 0
		}
		return 1
	}
	return slices.IsSortedFunc(l.Entries, func(a, b ACE) int { return rank(a) - rank(b) })
}

// With gives the list with one explicit entry more. An equal entry is not added
// twice. A denial goes to the front, a grant behind the denials that stand there.
//
// The rest keeps its order, also where it is not canonical: our identifiers are in
// nobody else's token, so nobody else's access changes.
//
// SECURITY: a NULL list gives everything to everybody. A grant adds nothing to it;
// to add a denial it is written out as a grant to Everyone, so that it does not
// become a list that denies everybody else.
func (l *ACL) With(a ACE) *ACL {
	a.Flags &^= Inherited
	switch {
	case l == nil && !a.Type.denies():
		return nil
	case l == nil:
		return &ACL{[]ACE{a, {Type: Allow, Flags: Inherit, Mask: File.All, SID: Everyone}}}
	case l.Has(a):
		return l.Clone()
	}
	at := 0
	if !a.Type.denies() {
		for at < len(l.Entries) && l.Entries[at].Type.denies() && l.Entries[at].Flags&Inherited == 0 {
			at++
		}
	}
	return &ACL{slices.Insert(slices.Clone(l.Entries), at, a)}
}

// Without gives the list without the explicit entries of an identifier.
func (l *ACL) Without(s SID) *ACL {
	if l == nil {
		return nil
	}
	return &ACL{slices.DeleteFunc(slices.Clone(l.Entries), func(a ACE) bool {
		return a.known() && a.SID == s && a.Flags&Inherited == 0
	})}
}

// Drop gives the list without one explicit entry.
func (l *ACL) Drop(a ACE) *ACL {
	if l == nil {
		return nil
	}
	a.Flags &^= Inherited
	return &ACL{slices.DeleteFunc(slices.Clone(l.Entries), a.Equal)}
}
