package acpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/qiming-sandbox/qsandbox/acpterm"
	"github.com/qiming-sandbox/qsandbox/internal/jsonrpc"
)

// fromAgent decides about one line of the agent. Its error says that the client is
// gone.
//
// SECURITY: nothing is passed on that a client could read as a request for a
// terminal, or for a file that the agent's own sandbox keeps from it.
func (p *proxy) fromAgent(line []byte) error {
	m, bad := jsonrpc.Parse(line)
	if bad != nil {
		p.told.once("a line of the agent was not passed on: " + bad.Message)
		p.answer([]byte("null"), nil, bad)
		return nil
	}
	if m == nil {
		return p.pass(line)
	}
	switch {
	case strings.TrimSpace(m.Method) != m.Method: // a client might take the spaces away
		if m.Kind() == jsonrpc.Request {
			p.answer(m.RawID(), nil, &jsonrpc.Error{Code: jsonrpc.CodeMethod, Message: "method not found: it begins or ends with a space"})
		}
		return nil
	case strings.HasPrefix(strings.ToLower(m.Method), "terminal/"):
		p.terminal(m)
		return nil
	case m.Method == "$/cancel_request" && m.Kind() == jsonrpc.Notification && p.cancelled(m):
		return nil
	}
	if bad := p.files(m); bad != nil {
		p.told.once(bad.Message)
		if m.Kind() == jsonrpc.Request {
			p.answer(m.RawID(), nil, bad)
		}
		return nil
	}
	p.talk.inbound(m, p)
	return p.pass(p.withoutTerminalLogin(m))
}

func (p *proxy) pass(line []byte) error {
	err := p.client.write(line)
	if err != nil {
		p.cancel(errGone)
	}
	return err
}

// overlong is for a line that is longer than anybody takes.
func (p *proxy) overlong() {
	bad := &jsonrpc.Error{Code: jsonrpc.CodeRequest, Message: fmt.Sprintf("invalid request: a line of more than %d MiB", maxLine>>20)}
	p.told.once("a line of the agent was not passed on: " + bad.Message)
	p.answer([]byte("null"), nil, bad)
}

// answer writes to the agent and waits until it has read: one that sends and never
// reads waits for itself.
func (p *proxy) answer(id []byte, result any, bad *jsonrpc.Error) {
	_ = p.agent.write(jsonrpc.Answer(id, result, bad)) // an agent that is gone wants no answer
}

// terminal answers a terminal request, or refuses it; it never goes to the client.
func (p *proxy) terminal(m *jsonrpc.Message) {
	switch m.Kind() {
	case jsonrpc.Request:
	default:
		p.told.once("the agent sent a terminal request without an id; it was dropped")
		return
	}
	id := bytes.Clone(m.RawID())
	if p.other.Load() {
		p.answer(id, nil, &jsonrpc.Error{Code: jsonrpc.CodeMethod, Message: "method not found: this version of the protocol has no such request"})
		return
	}
	key := m.Key()
	ctx, why := p.calls.add(key)
	if why != "" {
		p.answer(id, nil, &jsonrpc.Error{Code: jsonrpc.CodeRequest, Message: why})
		return
	}
	method, params := m.Method, bytes.Clone(m.Params.Of(m.Line))
	go func() {
		defer p.calls.done(key)
		if method == acpterm.MethodOutput { // large, and made at once
			_ = p.agent.writeMade(func() []byte { return p.reply(ctx, id, method, params) })
			return
		}
		_ = p.agent.write(p.reply(ctx, id, method, params))
	}()
}

// reply makes the answer to a terminal request.
func (p *proxy) reply(ctx context.Context, id []byte, method string, params json.RawMessage) (line []byte) {
	defer func() {
		if v := recover(); v != nil { // one bad request must not end all terminals
			p.told.once(fmt.Sprintf("%s: a fault in qsandbox: %v", method, v))
			line = jsonrpc.Answer(id, nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "internal error"})
		}
	}()
	result, err := p.terms.Call(ctx, method, params)
	return jsonrpc.Answer(id, result, wireError(err))
}

// wireError puts an error of package acpterm into the protocol's words, with our code as data.
func wireError(err error) *jsonrpc.Error {
	var e *acpterm.Error
	if err == nil {
		return nil
	}
	if !errors.As(err, &e) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}
	}
	out := &jsonrpc.Error{Code: e.Code, Message: e.Message}
	if code := e.FaultCode(); code != "" {
		out.Data = map[string]string{"code": string(code)}
	}
	return out
}

// cancelled handles $/cancel_request for a request that is ours to answer.
func (p *proxy) cancelled(m *jsonrpc.Message) bool {
	list, _ := jsonrpc.Members(m.Line, m.Params)
	id, found, clear := jsonrpc.Single(list, "requestId")
	return found && clear && p.calls.cancel(jsonrpc.Key(id.Of(m.Line)))
}
