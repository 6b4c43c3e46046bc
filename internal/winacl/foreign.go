package winacl

import "encoding/binary"

// view is the part of an entry that the check asks. Entries of kinds that this product
// never writes, by object type or with a condition, are read for it as far as they can be.
type view struct {
	deny        bool
	mask        Mask
	sid         SID
	typed       bool // for objects of one type only; files have none
	conditional bool // holds under a condition, which is not evaluated here
}

// look gives the view of an entry; false for one that neither gives nor takes.
func (a ACE) look() (view, bool) {
	if a.Type == Allow || a.Type == Deny {
		return view{deny: a.Type == Deny, mask: a.Mask, sid: a.SID}, true
	}
	b := a.Raw
	if len(b) < 4 {
		return view{}, false
	}
	v := view{deny: a.Type.denies(), mask: Mask(binary.LittleEndian.Uint32(b))}
	b = b[4:]
	switch a.Type {
	case 5, 6, 0xB, 0xC: // object entries ([MS-DTYP] 2.4.4.3): which types are there, then the types
		if len(b) < 4 {
			return view{}, false
		}
		present := binary.LittleEndian.Uint32(b)
		b = b[4:]
		for bit := range 2 {
			if present&(1<<bit) != 0 {
				b = b[min(16, len(b)):]
			}
		}
		v.typed = present&1 != 0
		v.conditional = a.Type >= 0xB
	case 9, 0xA: // callback entries ([MS-DTYP] 2.4.4.6): a condition stands behind the identifier
		v.conditional = true
	default:
		return view{}, false
	}
	var err error
	v.sid, err = DecodeSID(b)
	return v, err == nil
}

// counts tells whether the check asks an entry. A denial for one type holds for whoever
// names none, a grant does not. worst is the reading that gives most: what may hold under
// a condition gives, and does not take.
func (v view) counts(worst bool) bool {
	if worst {
		return !v.deny || !v.typed && !v.conditional
	}
	return !v.conditional && (v.deny || !v.typed)
}
