package helpercmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Policy is what --policy-json says (WIN-02).
type Policy struct {
	Type          policy.WindowsMode
	WritableRoots []string
	Network       bool
	Mode          policy.Mode // sandbox_mode
	Preset        bool        // given by name: the helper's own directory is the workspace
}

// maxPolicy bounds the JSON: a command line holds no more.
const maxPolicy = 32 << 10

// Preset gives the policy that a name stands for.
func Preset(t policy.WindowsMode) Policy { return Policy{Type: t, Mode: policy.Compat, Preset: true} }

// ParsePolicy reads --policy-json: a JSON object, or the name of a preset, which is a
// type. Whatever it does not know is an error, never a weaker mode.
func ParsePolicy(text string) (Policy, error) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "{") {
		t, err := policy.ParseWindowsMode(trimmed)
		if err != nil {
			return Policy{}, invalid("", trimmed, `give a JSON object such as {"type":"read-only"}, or the preset read-only or workspace-write`)
		}
		return Preset(t), nil
	}
	if len(text) > maxPolicy {
		return Policy{}, invalid("", "", fmt.Sprintf("it has %d bytes; %d are the limit", len(text), maxPolicy))
	}
	fields, err := object(trimmed)
	if err != nil {
		return Policy{}, invalid("", "", err.Error())
	}
	return fromFields(fields)
}

func invalid(field, subject, hint string) error {
	return fault.New(fault.PolicyInvalid, strings.TrimSpace("read --policy-json "+field), subject, hint)
}

// object reads one JSON object and nothing behind it; a key twice is an error.
func object(text string) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, jsonError(err)
		}
		key, ok := k.(string)
		if !ok {
			return nil, errors.New("a key must be a string")
		}
		if _, dup := out[key]; dup {
			return nil, fmt.Errorf("the key %q stands there twice", key)
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, jsonError(err)
		}
		out[key] = v
	}
	if _, err := dec.Token(); err != nil {
		return nil, jsonError(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("something stands behind the object")
	}
	return out, nil
}

func jsonError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends too early")
	}
	return fmt.Errorf("it is no JSON: %w", err)
}

func fromFields(fields map[string]json.RawMessage) (Policy, error) {
	p := Policy{Mode: policy.Compat}
	raw, ok := fields["type"]
	if !ok {
		return p, invalid("type", "", "it is missing; it is read-only or workspace-write")
	}
	name, err := text("type", raw)
	if err != nil {
		return p, err
	}
	if p.Type, err = policy.ParseWindowsMode(name); err != nil {
		return p, invalid("type", name, "it is read-only or workspace-write")
	}
	for key, raw := range fields {
		if err := p.field(key, raw); err != nil {
			return Policy{}, err
		}
	}
	return p, nil
}

func (p *Policy) field(key string, raw json.RawMessage) error {
	if p.Type == policy.ReadOnly && (key == "writable_roots" || key == "network_access") {
		return invalid(key, "", "a read-only policy does not have it: nothing is writable, and the network is off")
	}
	switch key {
	case "type":
	case "writable_roots":
		return p.roots(raw)
	case "network_access":
		return decode(key, raw, &p.Network, "true or false")
	case "sandbox_mode":
		name, err := text(key, raw)
		if err != nil {
			return err
		}
		if p.Mode, err = policy.ParseMode(name); err != nil {
			return invalid(key, name, "it is strict, compat or permissive")
		}
	default:
		return invalid(key, "", "there is no such field; there are type, writable_roots, network_access, sandbox_mode")
	}
	return nil
}

func (p *Policy) roots(raw json.RawMessage) error {
	if err := decode("writable_roots", raw, &p.WritableRoots, "a list of paths"); err != nil {
		return err
	}
	for i, r := range p.WritableRoots {
		if r == "" || strings.IndexByte(r, 0) >= 0 {
			return invalid(fmt.Sprintf("writable_roots[%d]", i), r, "a path is not empty and has no NUL byte")
		}
		// The reader of JSON writes this for what it cannot read: another directory may have that name.
		if strings.ContainsRune(r, utf8.RuneError) {
			return invalid(fmt.Sprintf("writable_roots[%d]", i), r, "a path must be valid Unicode")
		}
	}
	return nil
}

func text(key string, raw json.RawMessage) (s string, err error) {
	return s, decode(key, raw, &s, "a string")
}

// decode reads a value; null is no value.
func decode(key string, raw json.RawMessage, into any, what string) error {
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) || json.Unmarshal(raw, into) != nil {
		return invalid(key, string(raw), "it must be "+what)
	}
	return nil
}

// JSON writes the policy as ParsePolicy reads it.
func (p Policy) JSON() string {
	out := map[string]any{"type": p.Type, "sandbox_mode": p.Mode}
	if p.Type == policy.WorkspaceWrite {
		out["writable_roots"], out["network_access"] = append([]string{}, p.WritableRoots...), p.Network
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err) // plain data
	}
	return string(b)
}
