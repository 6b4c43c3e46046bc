package policy

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// Change is one field that a write to the store changed. It is for the log, and holds
// no values that may be secrets.
type Change struct {
	Field string `json:"field"`
	Old   string `json:"old"` // JSON, or "" when the field was not set
	New   string `json:"new"` // JSON, or "" when it is not set any more
}

// Secret tells whether a field holds values that may be secrets (env.set, network.upstream).
func Secret(field string) bool { return field == "env.set" || field == "network.upstream" }

// Take sets every field that from sets.
func (l *Layer) Take(from Layer) {
	for _, f := range Fields() {
		if f.ops.has(&from) {
			f.ops.take(l, &from)
		}
	}
}

// Replace makes the fields those of with. What does not differ stays as it is, with the
// value of a newer version that may stand behind it; so does what is unknown.
func (l *Layer) Replace(with Layer) {
	for _, f := range Fields() {
		was, _ := l.Value(f.Name)
		now, set := with.Value(f.Name)
		switch {
		case f.Name == "version" || string(was) == string(now):
		case set:
			f.ops.take(l, &with)
		default:
			f.ops.clear(l)
		}
	}
}

// Unset takes fields out of a layer. Errors: POLICY_INVALID for a name that is no field.
func (l *Layer) Unset(names ...string) error {
	for _, name := range names {
		f, ok := FieldNamed(name)
		if !ok || name == "version" {
			return fault.New(fault.PolicyInvalid, "reset field", name, keyHint(name))
		}
		f.ops.clear(l)
	}
	return nil
}

// Value gives a field as a policy file has it; false when the layer does not set it.
func (l *Layer) Value(name string) (json.RawMessage, bool) {
	f, ok := FieldNamed(name)
	if !ok || !f.ops.has(l) {
		return nil, false
	}
	raw, err := json.Marshal(f.ops.layerJSON(l))
	return raw, err == nil
}

// Diff lists what differs between two layers, field by field, in the order of the
// policy file. Of a field that may hold secrets only the names are shown.
func Diff(before, after Layer) []Change {
	var out []Change
	for _, f := range Fields() {
		if f.Name == "version" {
			continue
		}
		was, _ := before.Value(f.Name)
		now, _ := after.Value(f.Name)
		if string(was) != string(now) {
			out = append(out, Change{f.Name, shown(f.Name, was), shown(f.Name, now)})
		}
	}
	for _, name := range before.Unknown() {
		if !slices.Contains(after.Unknown(), name) {
			if _, known := FieldNamed(name); !known {
				out = append(out, Change{Field: name, Old: "(unknown to this version)"})
			}
		}
	}
	return out
}

// shown hides what may be a secret.
func shown(field string, raw json.RawMessage) string {
	if raw == nil || !Secret(field) {
		return string(raw)
	}
	var vars map[string]string
	if json.Unmarshal(raw, &vars) != nil || len(vars) == 0 {
		if string(raw) == `""` || string(raw) == "{}" {
			return string(raw)
		}
		return `"(hidden)"` // SECURITY: a proxy's URL may hold a password
	}
	for name := range vars {
		vars[name] = "(hidden)"
	}
	hidden, _ := json.Marshal(vars) // a map of strings always marshals
	return string(hidden)
}

// ParseAssignments reads KEY=VALUE pairs, as the command line has them. A value is JSON,
// or the text itself for a field that is written as a string: mode=strict,
// limits.processes=64, filesystem.writable=["~/x"]. Errors: POLICY_INVALID.
func ParseAssignments(pairs []string) (Layer, error) {
	var all Layer
	seen := map[string]bool{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return Layer{}, fault.New(fault.PolicyInvalid, "set field", pair, "write KEY=VALUE, such as mode=strict")
		}
		one, err := assignment(key, value)
		if err != nil {
			return Layer{}, err
		}
		if seen[key] {
			return Layer{}, fault.New(fault.PolicyInvalid, "set field", key, "it is set twice")
		}
		seen[key] = true
		all.Take(one)
	}
	all.Origin = Origin{Kind: OriginStored}
	return all, nil
}

func assignment(key, value string) (Layer, error) {
	const op = "set field"
	f, ok := FieldNamed(key)
	switch {
	case isGroup(key):
		return Layer{}, fault.New(fault.PolicyInvalid, op, key, "it is a group: set one of "+orList(siblings(key)))
	case !ok:
		return Layer{}, fault.New(fault.PolicyInvalid, op, key, keyHint(key))
	case key == "version":
		return Layer{}, fault.New(fault.PolicyInvalid, op, key, "the program sets it by itself")
	}
	// SECURITY: only what is one JSON value goes in as it is; anything else could hold
	// fields of its own.
	whole := json.Valid([]byte(value))
	if whole {
		l, err := parseValue(f, []byte(value))
		if err == nil || strings.HasPrefix(value, `"`) {
			return l, named(err, op, key)
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return Layer{}, err
	}
	l, err := parseValue(f, text)
	if err != nil && whole {
		_, err = parseValue(f, []byte(value)) // what was meant is the value, not its text
	}
	return l, named(err, op, key)
}

// parseValue reads one field from JSON.
func parseValue(f *Field, value []byte) (Layer, error) {
	var t tree
	t.put(f.path(), value)
	return Parse("", t.bytes())
}

// named says of an error in a made-up file what the user knows about it: the field.
func named(err error, op, key string) error {
	if err == nil {
		return nil
	}
	var e *fault.Error
	if !errors.As(err, &e) {
		return err
	}
	cause := e.Err
	if cause != nil {
		msg := cause.Error()
		if rest, ok := strings.CutPrefix(msg, "line "); ok {
			if _, after, ok := strings.Cut(rest, ": "); ok {
				msg = after
			}
		}
		cause = errors.New(msg)
	}
	return fault.Wrap(fault.PolicyInvalid, op, key, cause).WithHint(e.Hint)
}
