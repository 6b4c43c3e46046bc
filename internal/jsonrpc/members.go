package jsonrpc

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Span is a part of a line, from Start up to End.
type Span struct{ Start, End int }

// Of gives the bytes of a span.
func (s Span) Of(data []byte) []byte { return data[s.Start:s.End] }

// Member is one member of an object.
type Member struct {
	Key   string // decoded
	Value Span
}

// Whole is the span of all data.
func Whole(data []byte) Span { return Span{0, len(data)} }

// Members gives the members of the object in a span, which may begin with white
// space. The data must be valid JSON. ok is false for any other value, and for none.
func Members(data []byte, in Span) (list []Member, ok bool) {
	i := skipSpace(data, in.Start)
	if i >= in.End || data[i] != '{' {
		return nil, false
	}
	for i = skipSpace(data, i+1); data[i] != '}'; {
		end := skipValue(data, i)
		m := Member{Key: text(data[i:end])}
		i = skipSpace(data, skipSpace(data, end)+1) // past the colon
		end = skipValue(data, i)
		m.Value = Span{i, end}
		list = append(list, m)
		if i = skipSpace(data, end); data[i] == ',' {
			i = skipSpace(data, i+1)
		}
	}
	return list, true
}

// Elements gives the elements of an array, in the way of Members.
func Elements(data []byte, in Span) (list []Span, ok bool) {
	i := skipSpace(data, in.Start)
	if i >= in.End || data[i] != '[' {
		return nil, false
	}
	for i = skipSpace(data, i+1); data[i] != ']'; {
		end := skipValue(data, i)
		list = append(list, Span{i, end})
		if i = skipSpace(data, end); data[i] == ',' {
			i = skipSpace(data, i+1)
		}
	}
	return list, true
}

// Single gives the value of the one member with this key. It is an error of the
// caller's peer when there is a second one, or one in other letters: some
// programs take that for the same.
func Single(list []Member, key string) (v Span, found, clear bool) {
	clear = true
	for _, m := range list {
		switch {
		case m.Key == key && !found:
			v, found = m.Value, true
		case strings.EqualFold(m.Key, key):
			clear = false
		}
	}
	return v, found, clear
}

// String decodes a span that holds a string.
func String(data []byte, s Span) (string, bool) {
	raw := s.Of(data)
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return text(raw), true
}

// text decodes a valid string with its quotes.
func text(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "" // not valid after all
	}
	return s
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue gives the end of the value that begins at i.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for ; i < len(b); i++ {
			switch b[i] {
			case '"':
				i = skipString(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return i
	}
	for i < len(b) && !strings.ContainsRune(" \t\r\n,:]}", rune(b[i])) {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}
