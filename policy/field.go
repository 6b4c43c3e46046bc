package policy

import (
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// Direction says how a layer that may only narrow can change a field (POL-13).
type Direction string

// The directions. The text is what the docs and the errors say.
const (
	Fixed        Direction = "not allowed in a workspace file"
	TowardStrict Direction = "only toward strict"
	TowardOff    Direction = "only toward off (on, then allow, then off)"
	TowardRead   Direction = "only toward read-only"
	TowardForce  Direction = "only toward enforce"
	TowardStop   Direction = "only toward prevent"
	TowardFalse  Direction = "only from true to false"
	Lower        Direction = "only lower; 0 is no limit and the highest"
	LowerToZero  Direction = "only lower; 0 is the lowest"
	FewerEntries Direction = "only entries that the layer below has"
	Covered      Direction = "only entries that the layer below covers"
	FewerRoots   Direction = "only entries of the layer below or inside them"
	MoreEntries  Direction = "entries are added to those of the layer below"
	Anything     Direction = "no effect on rights"
)

// Field is one row of the table that parsing, merging, the schema, the docs and
// "policy show" work from.
type Field struct {
	Name    string    // "filesystem.writable"
	Type    string    // for people: "list of paths or globs"
	Values  []string  // the legal values of an enum, else nil
	Narrows Direction // what a workspace file may do with it
	Doc     string    // one sentence
	schema  string    // JSON Schema of the value
	ops     fieldOps
}

func (f *Field) path() []string { return strings.Split(f.Name, ".") }

// JSON gives the field's value in p, as a policy file has it.
func (f *Field) JSON(p Policy) ([]byte, error) { return json.Marshal(f.ops.policyJSON(&p)) }

// Entries gives the entries of a list or the names of a map; nil for other fields.
func (f *Field) Entries(p Policy) []string { return f.ops.entries(&p) }

// fieldOps is what can be done with a field whatever its Go type is.
type fieldOps interface {
	has(*Layer) bool
	clear(*Layer)
	take(to, from *Layer)                                   // copies the value
	pointer(*Layer) any                                     // the pointer in the layer, for identity
	parse(*Layer, *hujson.Value) *problem                   // JSON → layer, checked
	salvage(*Layer, *hujson.Value) (lost []string, ok bool) // the usable entries of a list; !ok: nothing was
	lower(*Layer, *Policy)                                  // policy → layer
	set(p *Policy, l *Layer) *problem                       // layer → policy, checked, replaces
	add(p *Policy, l *Layer) *problem                       // the same, but lists that grow by flags are appended
	narrow(p, below *Policy, l *Layer) *problem             // the same, but only if it narrows
	normalise(*Policy) *problem
	entries(*Policy) []string
	policyJSON(*Policy) any
	layerJSON(*Layer) any
}

// row implements fieldOps for a field of Go type T.
type row[T any] struct {
	codec[T]
	of      func(*Policy) *T
	in      func(*Layer) **T
	appends func(below, more T) T                          // by flags; nil: replaces
	within  func(below *Policy, was, want T) (T, *problem) // nil: may not be set by a layer that only narrows
}

func (r row[T]) has(l *Layer) bool { return *r.in(l) != nil }
func (r row[T]) clear(l *Layer)    { *r.in(l) = nil }
func (r row[T]) take(to, from *Layer) {
	v := r.copy(**r.in(from))
	*r.in(to) = &v
}
func (r row[T]) pointer(l *Layer) any     { return *r.in(l) }
func (r row[T]) policyJSON(p *Policy) any { return r.encode(*r.of(p)) }
func (r row[T]) layerJSON(l *Layer) any   { return r.encode(**r.in(l)) }
func (r row[T]) lower(l *Layer, p *Policy) {
	v := r.copy(*r.of(p))
	*r.in(l) = &v
}

func (r row[T]) entries(p *Policy) []string {
	if r.list == nil {
		return nil
	}
	return r.list(*r.of(p))
}

func (r row[T]) parse(l *Layer, v *hujson.Value) *problem {
	got, bad := r.decode(v)
	if bad == nil {
		got, bad = r.check(got)
	}
	if bad != nil {
		return bad.located(v.StartOffset)
	}
	*r.in(l) = &got
	return nil
}

func (r row[T]) salvage(l *Layer, v *hujson.Value) ([]string, bool) {
	if r.rescue == nil {
		return nil, false
	}
	got, lost, ok := r.rescue(v)
	if ok {
		*r.in(l) = &got
	}
	return lost, ok
}

func (r row[T]) checked(l *Layer) (T, *problem) { return r.check(r.copy(**r.in(l))) }

func (r row[T]) set(p *Policy, l *Layer) *problem {
	v, bad := r.checked(l)
	if bad == nil {
		*r.of(p) = v
	}
	return bad
}

func (r row[T]) add(p *Policy, l *Layer) *problem {
	v, bad := r.checked(l)
	if bad != nil {
		return bad
	}
	if r.appends != nil {
		v = r.appends(*r.of(p), v)
	}
	*r.of(p) = v
	return nil
}

func (r row[T]) narrow(p, below *Policy, l *Layer) *problem {
	if r.within == nil {
		return badf("a layer that may only narrow cannot set this")
	}
	v, bad := r.checked(l)
	if bad == nil {
		v, bad = r.within(below, *r.of(below), v)
	}
	if bad == nil {
		*r.of(p) = v
	}
	return bad
}

func (r row[T]) normalise(p *Policy) *problem {
	v, bad := r.check(r.copy(*r.of(p)))
	if bad == nil {
		*r.of(p) = v
	}
	return bad
}
