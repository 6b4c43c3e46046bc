package acpproxy

import (
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/jsonrpc"
)

// withoutTerminalLogin takes out of an answer to initialize the ways to log in that
// make the client start a program for the agent: methods of type "terminal" (the
// agent's arguments and environment for our own command line) and those with the
// older _meta member "terminal-auth" (any command).
//
// SECURITY: both run outside the sandbox, with what the agent says.
func (p *proxy) withoutTerminalLogin(m *jsonrpc.Message) []byte {
	if (m.Result == jsonrpc.Span{}) {
		return m.Line
	}
	members, _ := jsonrpc.Members(m.Line, m.Result)
	var edits []jsonrpc.Edit
	for _, mb := range members {
		if strings.EqualFold(mb.Key, "authMethods") {
			edits = append(edits, keepOthers(m.Line, mb.Value)...)
		}
	}
	if edits == nil {
		return m.Line
	}
	p.told.once("the agent offers to log in through a program that the client starts; that was taken out, as it would run outside the sandbox: log in before, with the agent's own command")
	return jsonrpc.Apply(m.Line, edits)
}

// keepOthers gives an edit that leaves the harmless methods, nil when all are.
func keepOthers(line []byte, list jsonrpc.Span) []jsonrpc.Edit {
	elements, _ := jsonrpc.Elements(line, list)
	var kept []string
	for _, e := range elements {
		if !startsProgram(line, e) {
			kept = append(kept, string(e.Of(line)))
		}
	}
	if len(kept) == len(elements) {
		return nil
	}
	return []jsonrpc.Edit{{Span: list, With: "[" + strings.Join(kept, ",") + "]"}}
}

func startsProgram(line []byte, method jsonrpc.Span) bool {
	members, _ := jsonrpc.Members(line, method)
	for _, m := range members {
		word, _ := jsonrpc.String(line, m.Value)
		if strings.EqualFold(m.Key, "type") && strings.EqualFold(word, "terminal") {
			return true
		}
		if !strings.EqualFold(m.Key, "_meta") {
			continue
		}
		meta, _ := jsonrpc.Members(line, m.Value)
		for _, x := range meta {
			if strings.EqualFold(x.Key, "terminal-auth") {
				return true
			}
		}
	}
	return false
}
