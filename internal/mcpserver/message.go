package mcpserver

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Codes of JSON-RPC 2.0, section 5.1, and of MCP.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeBusy           = -32000 // ours, in the range for servers
	codeVersion        = -32022 // UnsupportedProtocolVersion, since 2026-07-28
)

// rpcError is an error of the protocol: the request itself was wrong. What goes wrong
// in a tool is a result.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// message is a request or a notification.
type message struct {
	id     id // none: a notification
	method string
	params object // nil when there are none
}

// quote shows text of the peer in a message for people (OBS-05).
func quote(s string) string {
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return strconv.QuoteToASCII(s)
}

// parse reads one line. An error comes with the id that it is to be answered by. A
// line that needs no answer (blank, or an answer to what was never asked) has
// neither method nor error.
func parse(line []byte) (message, *rpcError) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return message{}, nil
	}
	syntax, meaning := checkJSON(line)
	if syntax != nil {
		return message{id: nullID}, &rpcError{Code: codeParse, Message: "read message: " + syntax.Error()}
	}
	if kind(line) == '[' {
		return message{id: nullID}, invalid("batches are not supported: send each request on a line of its own")
	}
	if meaning != nil {
		return message{id: safeID(line)}, invalid(meaning.Error())
	}
	o, ok := asObject(line)
	if !ok {
		return message{id: nullID}, invalid("a message is a JSON object")
	}
	return parseObject(o)
}

func invalid(why string) *rpcError {
	return &rpcError{Code: codeInvalidRequest, Message: "read request: " + why}
}

func parseObject(o object) (message, *rpcError) {
	m := message{}
	if raw, ok := o["id"]; ok {
		if m.id, ok = readID(raw); !ok {
			return message{id: nullID}, invalid("id must be a string or a number, of at most " + strconv.Itoa(maxID) + " bytes")
		}
	}
	if _, ok := o["method"]; !ok && (o["result"] != nil || o["error"] != nil) {
		return message{}, nil // SECURITY: answers are never answered, or two peers would talk for ever
	}
	reply := m
	if m.id.none() {
		reply.id = nullID
	}
	if v, _ := asString(o["jsonrpc"]); v != "2.0" {
		return reply, invalid(`jsonrpc must be "2.0"`)
	}
	var ok bool
	if m.method, ok = asString(o["method"]); !ok || m.method == "" {
		return reply, invalid("method must be a string")
	}
	if raw, there := o["params"]; there {
		if m.params, ok = asObject(raw); !ok {
			if m.id.none() {
				return message{}, nil // a notification is never answered
			}
			return m, &rpcError{Code: codeInvalidParams, Message: "read params of " + quote(m.method) + ": params must be an object"}
		}
	}
	return m, nil
}

// safeID finds the id of a message that cannot be used as a whole, so that its sender
// need not wait for ever. It reads the top level until something is wrong there, and
// gives null when the id is not certain.
func safeID(data []byte) id {
	dec := json.NewDecoder(bytes.NewReader(data))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nullID
	}
	found := nullID
	for dec.More() {
		tok, err := dec.Token()
		key, ok := tok.(string)
		var raw json.RawMessage
		if err != nil || !ok || dec.Decode(&raw) != nil {
			return found // cut off: the id came before, or is not known
		}
		if key != "id" {
			continue
		}
		if !bytes.Equal(found.raw, nullID.raw) {
			return nullID // twice
		}
		if i, ok := readID(raw); ok {
			found = i
		} else {
			return nullID
		}
	}
	return found
}
