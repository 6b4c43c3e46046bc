package jsonrpc

import (
	"cmp"
	"slices"
)

// Edit replaces a span; an empty one inserts.
type Edit struct {
	Span
	With string
}

// Apply makes a new line of an old one; what no edit names stays byte for byte.
// Edits must not overlap.
func Apply(data []byte, edits []Edit) []byte {
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	out := make([]byte, 0, len(data)+64)
	at := 0
	for _, e := range edits {
		out = append(append(out, data[at:e.Start]...), e.With...)
		at = e.End
	}
	return append(out, data[at:]...)
}

// Insert is an edit that adds a member at the beginning of an object.
func Insert(object Span, list []Member, key, value string) Edit {
	text := `"` + key + `":` + value
	if len(list) > 0 {
		text += ","
	}
	return Edit{Span{object.Start + 1, object.Start + 1}, text}
}
