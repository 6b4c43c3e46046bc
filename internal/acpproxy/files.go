package acpproxy

import (
	"strings"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/internal/jsonrpc"
)

// files judges a request for a file, which the client would carry out with all its
// rights: the agent gets through the client what its own sandbox lets it read and
// write, and nothing else. nil means that the line may pass.
//
// What lies between our look and the client's is not defended: see docs/acp.md.
func (p *proxy) files(m *jsonrpc.Message) *jsonrpc.Error {
	var op qsandbox.Operation
	switch strings.ToLower(m.Method) {
	case "fs/read_text_file":
		op = qsandbox.OpRead
	case "fs/write_text_file":
		op = qsandbox.OpWrite
	default:
		return nil
	}
	list, _ := jsonrpc.Members(m.Line, m.Params)
	v, found, clear := jsonrpc.Single(list, "path")
	path, isText := jsonrpc.String(m.Line, v)
	if !found || !clear || !isText {
		return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: "invalid params: " + m.Method + " wants one path"}
	}
	verdict, err := qsandbox.Explain(p.opt.Agent, op, path)
	if err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: m.Method + ": " + err.Error()}
	}
	if !OnHost(verdict) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: string(op) + " was not allowed: the agent's policy keeps this file from it, also through the client (rule: " + verdict.Rule + ")"}
	}
	return nil
}

// OnHost tells whether a verdict allows something with the host's own file. In a
// private place, such as /tmp, the agent's file is another one than the client's.
func OnHost(v qsandbox.Verdict) bool { return v.Allowed && !strings.HasPrefix(v.Rule, "private ") }
