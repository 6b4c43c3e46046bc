package mcpserver

import (
	"bytes"
	"encoding/json"
	"math/big"
)

// maxID bounds an id: it is echoed in every answer about its request.
const maxID = 1 << 10

// maxExponent bounds the number that an id may be written as: 1e9999999 is short to
// write and long to compare.
const maxExponent = 400

// id is the id of a request. The zero value is that of a notification, which is
// never answered.
type id struct {
	raw json.RawMessage // as it was sent, and as it is answered
	key string          // the same for 1 and 1.0, which JSON does not tell apart
}

func (i id) none() bool { return i.raw == nil }

// nullID answers what has no id that could be read (JSON-RPC 2.0, section 5).
var nullID = id{raw: json.RawMessage("null")}

// readID reads an id: a string or a number. MCP does not allow null.
func readID(raw json.RawMessage) (id, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > maxID {
		return id{}, false
	}
	if s, ok := asString(raw); ok {
		return id{raw: raw, key: "s" + s}, true
	}
	if k := kind(raw); k != '-' && (k < '0' || k > '9') {
		return id{}, false
	}
	if !plainExponent(raw) {
		return id{}, false
	}
	n, ok := new(big.Rat).SetString(string(raw))
	if !ok {
		return id{}, false
	}
	return id{raw: raw, key: "n" + n.RatString()}, true
}

func plainExponent(raw []byte) bool {
	i := bytes.IndexAny(raw, "eE")
	if i < 0 {
		return true
	}
	digits := bytes.TrimLeft(raw[i+1:], "+-0")
	if len(digits) > 3 {
		return false
	}
	n := 0
	for _, d := range digits {
		n = 10*n + int(d-'0')
	}
	return n <= maxExponent
}
