package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// object is a JSON object with its keys exactly as they were sent. encoding/json
// takes "Command" for "command" when it fills a struct; a map does not.
type object map[string]json.RawMessage

// maxDepth is how deep JSON may be nested.
const maxDepth = 64

// checkJSON says what is wrong with a JSON text: not UTF-8, not one value, too deep,
// or a key that is there twice. Of duplicate keys programs take the first or the
// last, as it happens (RFC 8259, section 4): what one of them checks is then not what
// the other one does.
func checkJSON(data []byte) (syntax, meaning error) {
	if !utf8.Valid(data) {
		return errors.New("not valid UTF-8"), nil
	}
	if !json.Valid(data) {
		return errors.New("not one JSON value"), nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var w walk
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return err, nil
		}
		if err := w.step(tok); err != nil {
			return nil, err
		}
	}
}

// level is an object or an array that is open.
type level struct {
	keys  map[string]bool // nil: an array
	value bool            // the next token belongs to a key
}

type walk struct{ open []level }

func (w *walk) step(tok json.Token) error {
	if tok == json.Delim('}') || tok == json.Delim(']') {
		w.open = w.open[:len(w.open)-1]
		return nil
	}
	if n := len(w.open); n > 0 && w.open[n-1].keys != nil {
		top := &w.open[n-1]
		if !top.value {
			key, _ := tok.(string)
			if top.keys[key] {
				return fmt.Errorf("the key %s is there twice", quote(key))
			}
			top.keys[key], top.value = true, true
			return nil
		}
		top.value = false
	}
	switch tok {
	case json.Delim('{'):
		w.open = append(w.open, level{keys: map[string]bool{}})
	case json.Delim('['):
		w.open = append(w.open, level{})
	}
	if len(w.open) > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	return nil
}

// asObject reads a value that checkJSON has passed; false when it is no object.
func asObject(raw json.RawMessage) (object, bool) {
	var o object
	if kind(raw) != '{' || json.Unmarshal(raw, &o) != nil {
		return nil, false
	}
	return o, true
}

// asString reads a string; false for anything else.
func asString(raw json.RawMessage) (string, bool) {
	var s string
	if kind(raw) != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// kind gives the first byte of a value: { [ " t f n, or that of a number; 0 for none.
func kind(raw []byte) byte {
	if raw = bytes.TrimLeft(raw, " \t\r\n"); len(raw) > 0 {
		return raw[0]
	}
	return 0
}
