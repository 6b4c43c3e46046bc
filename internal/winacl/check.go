package winacl

import "slices"

// Policy bits of a mandatory label ([MS-DTYP] 2.4.4.13).
const (
	NoWriteUp   Mask = 0x1
	NoReadUp    Mask = 0x2
	NoExecuteUp Mask = 0x4
)

// Standing is how a group of a token counts.
type Standing uint8

// The standings. The zero value is the one that gives.
const (
	Enabled  Standing = iota // for grants and denials
	DenyOnly                 // for denials alone
	Disabled                 // for neither
)

// Group is one identifier of a token.
type Group struct {
	SID
	Standing Standing
}

// Token is what the access check sees of a process: no privileges, since ours have
// none that would open a file.
type Token struct {
	User         SID
	UserDenyOnly bool
	Groups       []Group
	Restricting  []SID // asked a second time; their standing does not count
	// WriteRestricted: the second time only for writing (CreateRestrictedToken, WRITE_RESTRICTED).
	WriteRestricted bool
	Integrity       uint32 // the label's level; 0 counts as medium
	Default         *ACL   // of new objects that inherit nothing
}

// Granted gives every right that the token has on an object: what a request for
// MAXIMUM_ALLOWED gets ([MS-DTYP] 2.5.3.2 and 2.5.3.3).
func Granted(d *Descriptor, t *Token, g Mapping, r Reading) Mask {
	all := pass(d, g, t.identity(), false)
	if len(t.Restricting) > 0 {
		second := pass(d, g, restricted(t.Restricting), false)
		if t.WriteRestricted {
			w := r.writes(g)
			all = all&^w | all&second&w
		} else {
			all &= second
		}
	}
	return all & mandatory(d, t, g)
}

// Check tells whether the token gets all of what it asks for.
func Check(d *Descriptor, t *Token, want Mask, g Mapping, r Reading) bool {
	want = g.Map(want)
	return Granted(d, t, g, r)&want == want
}

// CanDelete tells whether a file or directory can be deleted or renamed away: by
// its own DELETE, or by DELETE_CHILD on the directory it lies in (MSDN, DeleteFile).
func CanDelete(parent, child *Descriptor, t *Token, r Reading) bool {
	return Check(child, t, Delete, File, r) || Check(parent, t, DeleteChild, File, r)
}

// who answers for one pass which identifiers count.
type who struct {
	grants, denies func(SID) bool
}

func (t *Token) identity() who {
	find := func(s SID, counts func(Standing) bool) bool {
		if s == t.User {
			return !t.UserDenyOnly || counts(DenyOnly)
		}
		return slices.ContainsFunc(t.Groups, func(g Group) bool { return g.SID == s && counts(g.Standing) })
	}
	return who{
		grants: func(s SID) bool { return find(s, func(st Standing) bool { return st == Enabled }) },
		denies: func(s SID) bool { return find(s, func(st Standing) bool { return st != Disabled }) },
	}
}

func restricted(list []SID) who {
	in := func(s SID) bool { return slices.Contains(list, s) }
	return who{in, in}
}

// pass walks the list once. A bit is settled by the first entry that names it. worst is
// for entries whose condition is not known here, see view.counts.
func pass(d *Descriptor, g Mapping, w who, worst bool) Mask {
	if d.DACL == nil {
		return g.All
	}
	owner := w.grants(d.Owner)
	granted, denied := Mask(0), Mask(0)
	if owner && !hasOwnerRights(d.DACL) {
		granted = ReadControl | WriteDAC // before the list, so that no denial takes them
	}
	for _, a := range d.DACL.Entries {
		v, ok := a.look()
		if a.Flags&InheritOnly != 0 || !ok || !v.counts(worst) {
			continue
		}
		m := g.Map(v.mask)
		mine := v.sid == OwnerRights
		switch {
		case !v.deny && (w.grants(v.sid) || mine && owner):
			granted |= m &^ denied
		case v.deny && (w.denies(v.sid) || mine && w.denies(d.Owner)):
			denied |= m &^ granted
		}
	}
	return granted
}

// hasOwnerRights tells whether OWNER RIGHTS replaces what an owner has by itself.
func hasOwnerRights(l *ACL) bool {
	return slices.ContainsFunc(l.Entries, func(a ACE) bool {
		return a.known() && a.SID == OwnerRights && a.Flags&InheritOnly == 0
	})
}

// mandatory gives what the integrity level leaves ([MS-DTYP] 2.5.3.3). An object
// without a label is medium and may not be written from below.
func mandatory(d *Descriptor, t *Token, g Mapping) Mask {
	level, forbid := MediumLabel.Last(), NoWriteUp
	if d.SACL != nil {
		for _, a := range d.SACL.Entries {
			if a.Type == Label && a.Flags&InheritOnly == 0 {
				level, forbid = a.SID.Last(), a.Mask
			}
		}
	}
	mine := t.Integrity
	if mine == 0 {
		mine = MediumLabel.Last()
	}
	if mine >= level {
		return ^Mask(0)
	}
	left := Mask(0)
	if forbid&NoReadUp == 0 {
		left |= g.Read
	}
	if forbid&NoExecuteUp == 0 {
		left |= g.Execute
	}
	if forbid&NoWriteUp == 0 {
		left |= g.All &^ (g.Read | g.Execute)
	}
	return left
}

// EveryoneMayWrite tells whether a list lets anybody write: the second check of
// each of our tokens then lets the command write there too, as Everyone is among the
// restricting identifiers (WIN-04, WIN-07).
func EveryoneMayWrite(d *Descriptor, g Mapping) bool {
	return MayWrite(d, g, []SID{Everyone})
}

// MayWrite tells whether a list lets these restricting identifiers write in any way: the
// second check alone, whatever the first says. What gives under a condition counts.
func MayWrite(d *Descriptor, g Mapping, restricting []SID) bool {
	return pass(d, g, restricted(restricting), true)&Wide.writes(g) != 0
}
