package jsonrpc

import (
	"bytes"
	"encoding/json"
)

// Codes of errors: those of JSON-RPC 2.0, then those that the Agent Client
// Protocol adds (schema v1, ErrorCode).
const (
	CodeParse     = -32700
	CodeRequest   = -32600
	CodeMethod    = -32601
	CodeParams    = -32602
	CodeInternal  = -32603
	CodeCancelled = -32800
	CodeNotFound  = -32002
)

// Error is an error answer.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Answer makes the line that answers a request: with err if that is not nil, else
// with the result.
func Answer(id []byte, result any, err *Error) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteString(`{"jsonrpc":"2.0","id":`)
	b.Write(id)
	at := b.Len()
	if err == nil {
		b.WriteString(`,"result":`)
		if enc.Encode(result) != nil {
			b.Truncate(at)
			err = &Error{Code: CodeInternal, Message: "the answer cannot be written as JSON"}
		}
	}
	if err != nil {
		b.WriteString(`,"error":`)
		_ = enc.Encode(err) // strings and plain data
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
	b.WriteString("}\n")
	return b.Bytes()
}
