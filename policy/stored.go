package policy

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// Migration is one change that reading a stored policy made, or one warning. It is
// for the log, and holds no values of variables.
type Migration struct {
	Field string `json:"field"`
	Old   string `json:"old"` // JSON as it was stored, or "" when it was not there
	New   string `json:"new"` // JSON as it is read now, or "" when it is dropped
	Why   string `json:"why"`
}

// keptField is a value that this version does not know, and writes back as it was.
type keptField struct {
	path []string
	raw  []byte
	// stands is the layer's pointer that was put in place of a value that only a
	// newer version knows. While it is still there, nobody has changed the field.
	stands any
}

// ParseStored reads the policy of the store. Unlike Parse it never gives up on a
// value (POL-09): what is illegal becomes the field's default, of a list the legal
// entries stay, and what is unknown is kept for MarshalStored (POL-10). Each such
// step is one Migration. Only text that is no JSON object is an error.
func ParseStored(data []byte) (Layer, []Migration, error) {
	d := document{name: "stored policy", data: data}
	root, err := d.root()
	if err != nil {
		return Layer{}, nil, err
	}
	r := storedReader{layer: Layer{Origin: Origin{Kind: OriginStored}}}
	r.version(root)
	r.object(nil, root)
	if r.old != nil {
		r.legacy(r.old)
	}
	r.defaults()
	return r.layer, r.log, nil
}

// MarshalStored writes a stored policy: the fields that are set, then, byte for
// byte, what ParseStored kept. Without a version it is of CurrentVersion.
func MarshalStored(l Layer) ([]byte, error) {
	var t tree
	if l.Version == nil {
		v := CurrentVersion
		l.Version = &v
	}
	for _, f := range Fields() {
		if !f.ops.has(&l) {
			continue
		}
		raw, err := json.Marshal(f.ops.layerJSON(&l))
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(l.kept, func(k keptField) bool { return k.stands != nil && k.stands == f.ops.pointer(&l) }); i >= 0 {
			raw = l.kept[i].raw
		}
		t.put(f.path(), raw)
	}
	for _, k := range l.kept {
		if k.stands == nil {
			t.put(k.path, k.raw)
		}
	}
	return t.bytes(), nil
}

// Unknown names the fields that MarshalStored writes back without knowing them.
func (l *Layer) Unknown() []string {
	var names []string
	for _, k := range l.kept {
		names = append(names, strings.Join(k.path, "."))
	}
	return names
}

// DropUnknown forgets them, as a rollback to this version does (seed 14.3).
func (l *Layer) DropUnknown() { l.kept = nil }

// storedReader goes over a stored policy.
type storedReader struct {
	layer Layer
	newer bool          // of a version that we do not know
	old   *hujson.Value // what legacyMode had, if it was there
	log   []Migration
}

func (r *storedReader) note(field, was, now, why string) {
	r.log = append(r.log, Migration{field, was, now, why})
}

// version comes first, as it decides how unknown values are taken.
func (r *storedReader) version(root *hujson.Object) {
	v, was := CurrentVersion, ""
	if m := last(root, "version"); m != nil {
		was = packed(&m.Value)
		if n, bad := integer(&m.Value); bad == nil && n >= 1 && n < 1<<31 {
			v = int(n)
		}
	}
	r.layer.Version = &v
	r.newer = v > CurrentVersion
	switch now := strconv.Itoa(v); {
	case was == "":
		r.note("version", "", now, "the stored policy is of the time before versions")
	case r.newer:
		r.note("version", was, now, "the stored policy is of a newer version: what this version does not know is kept and has no effect")
	case was != now:
		r.note("version", was, now, "not a version")
	}
}

// last finds the member that counts: of a key given twice the last one, as in every
// JavaScript program that shares the store.
func last(obj *hujson.Object, key string) *hujson.ObjectMember {
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if k, bad := text(&obj.Members[i].Name); bad == nil && k == key {
			return &obj.Members[i]
		}
	}
	return nil
}

func (r *storedReader) object(path []string, obj *hujson.Object) {
	for i := range obj.Members {
		m := &obj.Members[i]
		key, bad := text(&m.Name)
		at := append(slices.Clone(path), key)
		name := strings.Join(at, ".")
		switch {
		case bad != nil:
			r.note(name, packed(&m.Name), "", "the key is not Unicode text: dropped")
		case m != last(obj, key):
			r.note(name, "", "", "the key is there twice: the last one counts")
		case name == "version" || name == "$schema" && len(path) == 0:
		case strings.Contains(key, ".") && name != legacyMode:
			r.keep([]string{key}, path, &m.Value) // such a key is not the path that it looks like
		default:
			r.member(at, name, &m.Value)
		}
	}
}

// legacyMode is where the desktop client's older versions had windowsMode.
const legacyMode = "windows.sandbox.mode"

func (r *storedReader) member(path []string, name string, v *hujson.Value) {
	obj, isObject := v.Value.(*hujson.Object)
	f, known := FieldNamed(name)
	switch {
	case name == legacyMode:
		r.old = v
	case name == "windows.sandbox" && isObject:
		r.object(path, obj)
	case isGroup(name) && isObject:
		r.object(path, obj)
	case isGroup(name):
		r.note(name, packed(v), "", "not an object: the defaults of its fields hold")
	case known:
		r.field(f, v)
	default:
		r.keep(path, nil, v)
	}
}

// keep stores what is unknown below a group, with the group's path in front.
func (r *storedReader) keep(path, group []string, v *hujson.Value) {
	at := append(slices.Clone(group), path...)
	r.layer.kept = append(r.layer.kept, keptField{path: at, raw: standard(v)})
	r.note(strings.Join(at, "."), "", "", "unknown to this version: kept as it is, without effect")
}

// standard gives a value's own bytes; comments, which other readers of the store
// would not stand, become blanks.
func standard(v *hujson.Value) []byte {
	c := v.Clone()
	c.BeforeExtra, c.AfterExtra = nil, nil
	c.Standardize()
	return c.Pack()
}

func (r *storedReader) legacy(v *hujson.Value) {
	if r.layer.WindowsMode != nil {
		r.note(legacyMode, packed(v), "", "windowsMode is set too and counts")
		return
	}
	f, _ := FieldNamed("windowsMode")
	if bad := f.ops.parse(&r.layer, v); bad != nil {
		f.ops.lower(&r.layer, new(Default()))
	}
	r.note(legacyMode, packed(v), quoted(r.layer.WindowsMode.String()), "renamed to windowsMode")
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

// field reads one known field, leniently.
func (r *storedReader) field(f *Field, v *hujson.Value) {
	bad := f.ops.parse(&r.layer, v)
	if bad == nil && f.Name == "mode" && *r.layer.Mode == Permissive {
		bad = badf("permissive cannot be stored: it is asked for per run") // POL-08
	}
	if bad == nil {
		return
	}
	was := packed(v)
	if lost, ok := f.ops.salvage(&r.layer, v); ok {
		r.note(f.Name, strings.Join(lost, ", "), "", "illegal entries are dropped: "+bad.msg)
	} else {
		f.ops.lower(&r.layer, new(Default())) // for autoFallback that is manual, the safest
		if f.Name == "env.set" || f.Name == "network.upstream" {
			was = "" // SECURITY: it may hold a secret, and this goes to a log
		}
		now, _ := json.Marshal(f.ops.layerJSON(&r.layer))
		r.note(f.Name, was, string(now), bad.msg)
	}
	if r.newer {
		r.layer.kept = append(r.layer.kept, keptField{path: f.path(), raw: standard(v), stands: f.ops.pointer(&r.layer)})
	}
}

// defaults fills in what an old policy lacks (POL-09), and says what got a new meaning.
func (r *storedReader) defaults() {
	if r.layer.AutoFallback == nil {
		a := StartupOnly
		r.layer.AutoFallback = &a
		r.note("autoFallback", "", quoted(a.String()), "missing: what the program did before there was the field")
	} else if *r.layer.AutoFallback == Session && r.log != nil && r.log[0].Field == "version" && r.log[0].Old == "" {
		s := quoted(Session.String())
		r.note("autoFallback", s, s, "the value has a new meaning: a session that ran sandboxed may go on without the sandbox; choose startup-only to forbid that") // POL-06, POL-11
	}
	if r.layer.Mode == nil {
		m := Compat
		r.layer.Mode = &m
		r.note("mode", "", quoted(m.String()), "missing: what the program did before there was the field")
	}
}
