package winsandbox

import (
	"slices"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

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
