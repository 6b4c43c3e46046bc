package acpproxy

import (
	"path/filepath"
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
		if !strings.HasPrefix(strings.ToLower(m.Method), "fs/") {
			return nil
		}
		// SECURITY: a method that a later version or this client adds would be carried out
		// outside, and we do not know what it does.
		return &jsonrpc.Error{Code: jsonrpc.CodeMethod, Message: m.Method + " is not known here, and does not pass to the client"}
	}
	list, _ := jsonrpc.Members(m.Line, m.Params)
	v, found, clear := jsonrpc.Single(list, "path")
	path, isText := jsonrpc.String(m.Line, v)
	if !found || !clear || !isText {
		return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: "invalid params: " + m.Method + " wants one path"}
	}
	if !filepath.IsAbs(path) {
		return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: "invalid params: " + m.Method + " wants an absolute path"}
	}
	verdicts, err := qsandbox.ExplainAll(p.opt.Agent, readings(op, path))
	if err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: m.Method + ": " + err.Error()}
	}
	for _, v := range verdicts {
		if rule := refusal(v); rule != "" {
			return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: string(op) + " was not allowed: the agent's policy keeps this file from it, also through the client (rule: " + rule + ")"}
		}
	}
	return nil
}

// readings are the files that a client may take a path for.
//
// SECURITY: the kernel follows a link before it takes the ".." after it, and a client
// that cleans the path first does not. Both files must be allowed.
func readings(op qsandbox.Operation, path string) []qsandbox.Question {
	list := []qsandbox.Question{{Operation: op, Target: path}}
	if clean := filepath.Clean(path); clean != path {
		list = append(list, qsandbox.Question{Operation: op, Target: clean})
	}
	return list
}

// refusal gives the rule that keeps a file from the agent, "" for none. A new
// protected name is refused in every mode that isolates: the client is outside, where
// nothing prevents it.
func refusal(v qsandbox.Verdict) string {
	switch {
	case !OnHost(v):
		return v.Rule
	case v.Protected != "":
		return "protected: " + v.Protected
	}
	return ""
}

// OnHost tells whether a verdict allows something with the host's own file. In a
// private place, such as /tmp, the agent's file is another one than the client's.
func OnHost(v qsandbox.Verdict) bool { return v.Allowed && !strings.HasPrefix(v.Rule, "private ") }
