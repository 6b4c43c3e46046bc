package jsonrpc

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Message is one line that is an object, and where its parts are.
type Message struct {
	Line   []byte
	ID     Span // empty: there is none
	Method string
	Params Span
	Result Span
	Error  Span
	called bool // it has a method
}

// Kind says what a message is for.
type Kind uint8

// The kinds of messages.
const (
	Other Kind = iota
	Request
	Notification
	Response
)

// Kind tells a request from a notification and a response.
func (m *Message) Kind() Kind {
	switch {
	case m.called && m.ID != Span{}:
		return Request
	case m.called:
		return Notification
	case m.ID != Span{}:
		return Response
	}
	return Other
}

// Parse reads one line. A nil Message and a nil error are for an empty line.
func Parse(line []byte) (*Message, *Error) {
	body := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	switch at := skipSpace(body, 0); {
	case bytes.IndexByte(body, '\r') >= 0: // some programs end a line there
		return nil, &Error{Code: CodeParse, Message: "parse error: a carriage return inside a line"}
	case at == len(body):
		return nil, nil
	case !utf8.Valid(body) || !json.Valid(body):
		return nil, &Error{Code: CodeParse, Message: "parse error: the line is not one JSON value in UTF-8"}
	case body[at] == '[':
		return nil, &Error{Code: CodeRequest, Message: "invalid request: batches are not supported"}
	case body[at] != '{':
		return nil, &Error{Code: CodeRequest, Message: "invalid request: not an object"}
	}
	return parts(line, body)
}

// parts finds the members of a message. Each may be there once.
func parts(line, body []byte) (*Message, *Error) {
	m := &Message{Line: line}
	list, _ := Members(body, Whole(body))
	var method Span
	for key, to := range map[string]*Span{"jsonrpc": nil, "id": &m.ID, "method": &method, "params": &m.Params, "result": &m.Result, "error": &m.Error} {
		v, found, clear := Single(list, key)
		if !clear {
			return nil, &Error{Code: CodeRequest, Message: "invalid request: member " + strconv.Quote(key) + " is there twice, or in other letters"}
		}
		if found && to != nil {
			*to = v
		}
		if found && key == "method" {
			m.called = true
		}
	}
	if m.called {
		var ok bool
		if m.Method, ok = String(body, method); !ok {
			return nil, &Error{Code: CodeRequest, Message: "invalid request: the method is not a string"}
		}
	}
	if (m.ID != Span{}) && m.Key() == "" {
		return nil, &Error{Code: CodeRequest, Message: "invalid request: an id is a string, a number or null"}
	}
	return m, nil
}

// RawID is the id as it stands in the line; "null" when there is none.
func (m *Message) RawID() []byte {
	if (m.ID == Span{}) {
		return []byte("null")
	}
	return m.ID.Of(m.Line)
}

// Key makes ids comparable: 1 and 1.0 are the same number, "1" is another id. It
// is "" for what cannot be an id.
func (m *Message) Key() string { return Key(m.RawID()) }

// Key is Message.Key for an id by itself.
func Key(raw []byte) string {
	switch {
	case len(raw) == 0:
		return ""
	case raw[0] == '"':
		return "s" + text(raw)
	case string(raw) == "null":
		return "null"
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		s := string(raw)
		if f, err := strconv.ParseFloat(s, 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 && strings.ContainsAny(s, ".eE") {
			s = strconv.FormatInt(int64(f), 10)
		}
		return "n" + s
	}
	return ""
}
