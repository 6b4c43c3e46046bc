package acpterm

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/jsonrpc"
)

// CreateRequest is what terminal/create takes. It is from the agent: nothing in it
// is trusted.
type CreateRequest struct {
	Session string
	Command string   // a program; no shell parses it (TRM-06)
	Args    []string // its arguments
	Env     []EnvVar // beyond the safe list; the last of a name counts
	Cwd     string   // absolute, inside the workspace; "" is Options.Dir's, else the workspace
	Limit   *uint64  // bytes of output to keep; nil: as many as Options.MaxOutput
}

// EnvVar is one variable.
type EnvVar struct{ Name, Value string }

// check refuses what no command can be started with, and a relative cwd.
func (r *CreateRequest) check() *Error {
	switch {
	case r.Session == "":
		return badParams("sessionId is empty")
	case r.Command == "":
		return badParams("command is empty")
	case r.Cwd != "" && !filepath.IsAbs(r.Cwd):
		return badParams("cwd %q is not an absolute path", clip(r.Cwd))
	case strings.ContainsRune(r.Cwd, 0):
		return badParams("cwd holds a NUL character")
	}
	for _, s := range append([]string{r.Command}, r.Args...) {
		if strings.ContainsRune(s, 0) {
			return badParams("command or args hold a NUL character")
		}
	}
	for _, v := range r.Env {
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") || strings.ContainsRune(v.Value, 0) {
			return badParams("env: a variable %q cannot be set", clip(v.Name))
		}
	}
	return nil
}

func (r *CreateRequest) env() map[string]string {
	out := make(map[string]string, len(r.Env))
	for _, v := range r.Env {
		out[v.Name] = v.Value
	}
	return out
}

// params are the members of a request's params. Members that the protocol does not
// have are left alone, as it asks.
type params struct {
	data []byte
	list []jsonrpc.Member
	err  *Error // the first that is wrong
}

func read(raw json.RawMessage) *params {
	p := &params{data: raw}
	if !json.Valid(raw) {
		p.err = badParams("not JSON")
		return p
	}
	var ok bool
	if p.list, ok = jsonrpc.Members(raw, jsonrpc.Whole(raw)); !ok {
		p.err = badParams("not an object")
	}
	return p
}

func (p *params) fail(format string, args ...any) {
	if p.err == nil {
		p.err = badParams(format, args...)
	}
}

// value gives a member; nil when it is left out or null.
func (p *params) value(key string) []byte {
	v, found, clear := jsonrpc.Single(p.list, key)
	if !clear {
		p.fail("%s is there twice, or in other letters", key)
	}
	if raw := v.Of(p.data); found && string(raw) != "null" {
		return raw
	}
	return nil
}

// text gives a string that may be left out.
func (p *params) text(key string) string {
	raw := p.value(key)
	if raw == nil {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		p.fail("%s is not a string", key)
	}
	return s
}

// need gives a string that must be there.
func (p *params) need(key string) string {
	s := p.text(key)
	if s == "" {
		p.fail("%s is missing or empty", key)
	}
	return s
}

// limit reads outputByteLimit: an integer without a sign, of any size.
func (p *params) limit(key string) *uint64 {
	raw := p.value(key)
	if raw == nil {
		return nil
	}
	n, err := strconv.ParseUint(string(raw), 10, 64)
	if err != nil {
		p.fail("%s is not an integer from 0 to 2^64-1", key)
	}
	return &n
}

func (p *params) strings(key string) []string {
	var out []string
	raw := p.value(key)
	list, ok := jsonrpc.Elements(raw, jsonrpc.Whole(raw))
	for _, s := range list {
		text, isText := jsonrpc.String(raw, s)
		ok = ok && isText
		out = append(out, text)
	}
	if raw != nil && !ok {
		p.fail("%s is not a list of strings", key)
	}
	return out
}

// pairs reads env: a list of objects with name and value.
func (p *params) pairs(key string) []EnvVar {
	raw := p.value(key)
	list, ok := jsonrpc.Elements(raw, jsonrpc.Whole(raw))
	if raw != nil && !ok {
		p.fail("%s is not a list of {name, value}", key)
	}
	var out []EnvVar
	for _, s := range list {
		one := read(s.Of(raw))
		v := EnvVar{one.need("name"), one.text("value")}
		if one.err != nil || one.value("value") == nil {
			p.fail("%s is not a list of {name, value}", key)
		}
		out = append(out, v)
	}
	return out
}

func readCreate(raw json.RawMessage) (CreateRequest, *Error) {
	p := read(raw)
	if p.err != nil {
		return CreateRequest{}, p.err
	}
	r := CreateRequest{
		Session: p.need("sessionId"), Command: p.need("command"), Args: p.strings("args"),
		Env: p.pairs("env"), Cwd: p.text("cwd"), Limit: p.limit("outputByteLimit"),
	}
	return r, p.err
}

// readTerminal reads what the other methods take.
func readTerminal(raw json.RawMessage) (session, id string, err *Error) {
	p := read(raw)
	if p.err != nil {
		return "", "", p.err
	}
	session, id = p.need("sessionId"), p.need("terminalId")
	return session, id, p.err
}
