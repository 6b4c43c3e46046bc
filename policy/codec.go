package policy

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// codec is how a Go type is written in a policy file, and which values are legal.
type codec[T any] struct {
	typ    string // for people
	values []string
	schema string
	decode func(*hujson.Value) (T, *problem)
	check  func(T) (T, *problem) // normalises
	encode func(T) any           // what encoding/json then writes
	copy   func(T) T
	list   func(T) []string                        // the entries; nil for what has none
	rescue func(*hujson.Value) (T, []string, bool) // the legal entries, and those that are lost
}

// kindName says what a JSON value is, for "wanted a string, got a number".
func kindName(v *hujson.Value) string {
	switch v.Value.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "a list"
	}
	return "an object"
}

func wanted(what string, v *hujson.Value) *problem {
	p := badf("wanted %s, got %s", what, kindName(v)).located(v.StartOffset)
	if v.Value.Kind() == 'n' {
		return p.hinted("leave the field out to keep the value of the layer below")
	}
	return p
}

// text reads a JSON string. Half a surrogate pair is refused: Go would turn it into
// U+FFFD, and the rule would then name another path than the one that was written.
func text(v *hujson.Value) (string, *problem) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '"' {
		return "", wanted("a string", v)
	}
	s := lit.String()
	if strings.ContainsRune(s, '\uFFFD') && !strings.Contains(strings.ToLower(string(lit)), `\ufffd`) &&
		!strings.Contains(string(lit), "\uFFFD") {
		return "", badf("the string has half a surrogate pair").located(v.StartOffset).hinted(`write both halves, or the character itself`)
	}
	return s, nil
}

func number(v *hujson.Value) (float64, *problem) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '0' {
		return 0, wanted("a number", v)
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil {
		return 0, badf("the number %s is out of range", lit).located(v.StartOffset)
	}
	return f, nil
}

// integer accepts 2.0 too, as JSON and JSON Schema do.
func integer(v *hujson.Value) (int64, *problem) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '0' {
		return 0, wanted("a whole number", v)
	}
	if n, err := strconv.ParseInt(string(lit), 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, badf("wanted a whole number, got %s", lit).located(v.StartOffset)
	}
	return int64(f), nil
}

func same[T any](v T) T             { return v }
func fine[T any](v T) (T, *problem) { return v, nil }
func asAny[T any](v T) any          { return v }

var booleans = codec[bool]{
	typ: "true or false", schema: `{"type":"boolean"}`, check: fine[bool], encode: asAny[bool], copy: same[bool],
	decode: func(v *hujson.Value) (bool, *problem) {
		if k := v.Value.Kind(); k != 't' && k != 'f' {
			return false, wanted("true or false", v)
		}
		return v.Value.Kind() == 't', nil
	},
}

func integers(schema string, check func(int) (int, *problem)) codec[int] {
	return codec[int]{
		typ: "whole number", schema: schema, check: check, encode: asAny[int], copy: same[int],
		decode: func(v *hujson.Value) (int, *problem) {
			n, bad := integer(v)
			if bad == nil && int64(int(n)) != n {
				bad = badf("the number %d is too large", n)
			}
			return int(n), bad
		},
	}
}

func numbers(check func(float64) (float64, *problem)) codec[float64] {
	return codec[float64]{
		typ: "number", schema: `{"type":"number","minimum":0}`, decode: number, check: check, encode: asAny[float64], copy: same[float64],
	}
}

func strs(typ, schema string, check func(string) (string, *problem)) codec[string] {
	return codec[string]{typ: typ, schema: schema, decode: text, check: check, encode: asAny[string], copy: same[string]}
}

// choice is a string with a few legal values. In Go the empty string is the
// strictest of them, which is the first; in a file it is an error.
func choice(names ...string) codec[string] {
	s := spelling{"value", names}
	c := strs("one of "+orList(names), `{"enum":`+jsonList(names)+`}`, func(v string) (string, *problem) {
		if v == "" {
			return names[0], nil
		}
		_, bad := s.find(v)
		return v, bad
	})
	c.values = names
	c.decode = func(v *hujson.Value) (string, *problem) {
		t, bad := text(v)
		if bad == nil {
			_, bad = s.find(t)
		}
		return t, bad
	}
	return c
}

func enum[T ~uint8](s spelling) codec[T] {
	return codec[T]{
		typ: "one of " + orList(s.names), values: s.names, schema: `{"enum":` + jsonList(s.names) + `}`, copy: same[T],
		decode: func(v *hujson.Value) (T, *problem) {
			t, bad := text(v)
			if bad != nil {
				return 0, bad
			}
			i, bad := s.find(t)
			return T(i), bad
		},
		check: func(v T) (T, *problem) {
			if int(v) >= len(s.names) {
				return v, badf("%s is not a value", s.text(uint8(v))).hinted("use " + orList(s.names))
			}
			return v, nil
		},
		encode: func(v T) any { return s.text(uint8(v)) },
	}
}

// sizes are strings with a unit, or plain numbers of bytes.
func sizes(check func(Size) (Size, *problem)) codec[Size] {
	return codec[Size]{
		typ:    "size",
		schema: `{"anyOf":[{"type":"string","pattern":"^([0-9]+(B|[kK]B|MB|GB|TB|KiB|MiB|GiB|TiB)?)?$"},{"type":"integer","minimum":0}]}`,
		check:  check, encode: asAny[Size], copy: same[Size],
		decode: func(v *hujson.Value) (Size, *problem) {
			switch v.Value.Kind() {
			case '0':
				n, bad := integer(v)
				return Size(n), bad
			case '"':
				t, bad := text(v)
				if bad != nil {
					return 0, bad
				}
				return findSize(t)
			}
			return 0, wanted("a size", v).hinted(sizeHint)
		},
	}
}

// durations are Go duration strings; the number 0 is accepted, as it needs no unit.
func durations(check func(time.Duration) (time.Duration, *problem)) codec[time.Duration] {
	return codec[time.Duration]{
		typ:    "duration",
		schema: `{"anyOf":[{"type":"string","pattern":"^(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)?$"},{"const":0}]}`,
		check:  check, copy: same[time.Duration],
		encode: func(d time.Duration) any { return durationText(d) },
		decode: func(v *hujson.Value) (time.Duration, *problem) {
			if n, bad := number(v); bad == nil {
				if n == 0 {
					return 0, nil
				}
				return 0, badf("the duration has no unit").hinted(`write it as a string with a unit, such as "90s"`)
			}
			if v.Value.Kind() != '"' {
				return 0, wanted("a duration", v).hinted(`write a string such as "90s"`)
			}
			t, bad := text(v)
			if bad != nil {
				return 0, bad
			}
			return findDuration(t)
		},
	}
}

// jsonList writes names, which need no escapes, as a JSON list of strings.
func jsonList(names []string) string { return `["` + strings.Join(names, `","`) + `"]` }

func cloneList[E any](v []E) []E { return append(make([]E, 0, len(v)), v...) }

// unique keeps the first of equal entries.
func unique[E comparable](v []E) []E {
	out := make([]E, 0, len(v))
	for _, e := range v {
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}
