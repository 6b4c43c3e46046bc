package winacl

// Kind says what an object is, for inheritance.
type Kind uint8

// The kinds.
const (
	Leaf      Kind = iota // a file
	Container             // a directory
)

// NewChild gives the descriptor of an object that the token makes in a directory
// without naming one ([MS-DTYP] 2.5.3.4): what it inherits, else the token's default.
func NewChild(parent *Descriptor, t *Token, k Kind) *Descriptor {
	d := &Descriptor{Owner: t.User, Group: t.User, DACL: t.Default.Clone()}
	if parent.DACL == nil {
		return d
	}
	if in := inherited(parent.DACL, k, d.Owner, d.Group); len(in) > 0 {
		d.DACL, d.Control = &ACL{in}, AutoInherited
	}
	return d
}

// Propagate gives a child's list after its directory's has changed: its own entries,
// then what it now inherits. A protected child stays as it is.
func Propagate(parent, child *Descriptor, k Kind) *Descriptor {
	if child.Control&Protected != 0 || child.DACL == nil || parent.DACL == nil {
		return child
	}
	n := *child
	n.DACL = &ACL{}
	for _, a := range child.DACL.Entries {
		if a.Flags&Inherited == 0 {
			n.DACL.Entries = append(n.DACL.Entries, a)
		}
	}
	n.DACL.Entries = append(n.DACL.Entries, inherited(parent.DACL, k, child.Owner, child.Group)...)
	n.Control |= AutoInherited
	return &n
}

// inherited gives the entries that a child takes, in the order of the directory's.
func inherited(l *ACL, k Kind, owner, group SID) []ACE {
	var out []ACE
	for _, a := range l.Entries {
		if !a.known() {
			continue
		}
		forMe := a.Flags&ObjectInherit != 0 && k == Leaf || a.Flags&ContainerInherit != 0 && k == Container
		passOn := k == Container && a.Flags&Inherit != 0 && a.Flags&NoPropagate == 0
		if !forMe && !passOn {
			continue
		}
		out = append(out, heirs(a, forMe, passOn, owner, group)...)
	}
	return out
}

// heirs turns one entry into those of the child. CREATOR OWNER becomes the owner,
// and stays as an inherit-only entry for what comes below.
func heirs(a ACE, forMe, passOn bool, owner, group SID) []ACE {
	flags := a.Flags & Inherit
	if !passOn {
		flags = 0
	}
	real := a.SID
	switch a.SID {
	case CreatorOwner:
		real = owner
	case CreatorGroup:
		real = group
	}
	if real == a.SID {
		n := ACE{Type: a.Type, Mask: a.Mask, SID: a.SID, Flags: flags | Inherited}
		if !forMe {
			n.Flags |= InheritOnly
		}
		return []ACE{n}
	}
	var out []ACE
	if forMe {
		out = append(out, ACE{Type: a.Type, Mask: a.Mask, SID: real, Flags: Inherited})
	}
	if passOn {
		out = append(out, ACE{Type: a.Type, Mask: a.Mask, SID: a.SID, Flags: flags | InheritOnly | Inherited})
	}
	return out
}
