package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// listOf is a JSON list whose entries are read and checked one by one.
func listOf[E comparable](typ, item string, decode func(*hujson.Value) (E, *problem), check func(E) (E, *problem)) codec[[]E] {
	entry := func(v *hujson.Value) (E, *problem) {
		e, bad := decode(v)
		if bad == nil {
			e, bad = checkEntry(e, check)
		}
		if bad != nil {
			bad.located(v.StartOffset)
		}
		return e, bad
	}
	return codec[[]E]{
		typ: "list of " + typ, schema: `{"type":"array","items":` + item + `}`, copy: cloneList[E],
		encode: func(v []E) any { return cloneList(v) }, // nil is written as []
		list: func(v []E) []string {
			out := make([]string, len(v))
			for i, e := range v {
				out[i] = fmt.Sprint(e)
			}
			return out
		},
		decode: func(v *hujson.Value) ([]E, *problem) { return readList(v, typ, entry) },
		check: func(v []E) ([]E, *problem) {
			for i := range v {
				e, bad := checkEntry(v[i], check)
				if bad != nil {
					return nil, bad
				}
				v[i] = e
			}
			return unique(v), nil
		},
		rescue: func(v *hujson.Value) ([]E, []string, bool) { return rescueList(v, entry) },
	}
}

func checkEntry[E any](e E, check func(E) (E, *problem)) (E, *problem) {
	got, bad := check(e)
	if bad != nil {
		bad.msg = fmt.Sprintf("entry %s: %s", quoteEntry(e), bad.msg)
	}
	return got, bad
}

func quoteEntry(e any) string {
	if s, ok := e.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(e)
}

func readList[E any](v *hujson.Value, typ string, entry func(*hujson.Value) (E, *problem)) ([]E, *problem) {
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		p := wanted("a list of "+typ, v)
		if v.Value.Kind() == '"' || v.Value.Kind() == '0' {
			return nil, p.hinted("put it in brackets: [ … ]")
		}
		return nil, p
	}
	out := make([]E, 0, len(arr.Elements))
	for i := range arr.Elements {
		e, bad := entry(&arr.Elements[i])
		if bad != nil {
			return nil, bad
		}
		out = append(out, e)
	}
	return out, nil
}

// rescueList keeps the legal entries of a stored list: to lose a whole list of
// denials for one bad entry would widen the policy without a word.
func rescueList[E comparable](v *hujson.Value, entry func(*hujson.Value) (E, *problem)) ([]E, []string, bool) {
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, nil, false
	}
	out, lost := make([]E, 0, len(arr.Elements)), []string(nil)
	for i := range arr.Elements {
		e, bad := entry(&arr.Elements[i])
		if bad != nil {
			lost = append(lost, packed(&arr.Elements[i]))
			continue
		}
		out = append(out, e)
	}
	return unique(out), lost, true
}

// packed gives a value's own bytes, without the blanks and comments around it.
func packed(v *hujson.Value) string {
	bare := *v
	bare.BeforeExtra, bare.AfterExtra = nil, nil
	return string(bare.Pack())
}

func stringList(typ string, check func(string) (string, *problem)) codec[[]string] {
	return listOf(typ, `{"type":"string","minLength":1}`, text, check)
}

// variables is an object of names and string values.
func variables() codec[map[string]string] {
	return codec[map[string]string]{
		typ: "object of names and strings", schema: `{"type":"object","additionalProperties":{"type":"string"},"propertyNames":{"pattern":"^[^=\\x00]+$"}}`,
		copy: func(m map[string]string) map[string]string { return maps.Clone(m) },
		list: func(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) },
		encode: func(m map[string]string) any {
			if m == nil {
				return map[string]string{}
			}
			return m
		},
		decode: readVariables,
		check: func(m map[string]string) (map[string]string, *problem) {
			if m == nil {
				m = map[string]string{}
			}
			for _, k := range slices.Sorted(maps.Keys(m)) {
				if bad := checkVariable(k, m[k]); bad != nil {
					return nil, bad
				}
			}
			return m, nil
		},
		rescue: rescueVariables,
	}
}

func readVariables(v *hujson.Value) (map[string]string, *problem) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, wanted("an object of names and strings", v)
	}
	out := make(map[string]string, len(obj.Members))
	for i := range obj.Members {
		m := &obj.Members[i]
		name, bad := text(&m.Name)
		if bad != nil {
			return nil, bad
		}
		value, bad := text(&m.Value)
		if bad != nil {
			bad.msg = fmt.Sprintf("variable %q: %s", name, bad.msg)
			return nil, bad
		}
		if bad := checkVariable(name, value); bad != nil {
			return nil, bad.located(m.Name.StartOffset)
		}
		out[name] = value
	}
	return out, nil
}

func rescueVariables(v *hujson.Value) (map[string]string, []string, bool) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, nil, false
	}
	out, lost := map[string]string{}, []string(nil)
	for i := range obj.Members {
		m := &obj.Members[i]
		name, bad := text(&m.Name)
		value, bad2 := text(&m.Value)
		if bad != nil || bad2 != nil || checkVariable(name, value) != nil {
			// SECURITY: the value may be a secret, and this text goes to a log.
			lost = append(lost, packed(&m.Name))
			continue
		}
		out[name] = value
	}
	return out, lost, true
}

func checkVariable(name, value string) *problem {
	if _, bad := checkEnvName(name); bad != nil {
		bad.msg = fmt.Sprintf("variable %q: %s", name, bad.msg)
		return bad
	}
	if strings.ContainsRune(value, 0) {
		return badf("variable %q: the value holds a NUL byte", name)
	}
	return nil
}
