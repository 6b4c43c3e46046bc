package event

import (
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"
)

// appendLine writes an event as one line of JSON that shows nothing on a terminal but
// itself (OBS-05), of bounded length. It is written by hand: encoding/json compiles its
// encoders at the first use in a process, which costs a run more than both its events.
// A test holds it to what encoding/json reads.
func appendLine(b []byte, e Event) ([]byte, error) {
	if len(e.Fields) > maxFields {
		return b, fmt.Errorf("event %s has more than %d fields", e.Name, maxFields)
	}
	for _, v := range e.Fields {
		if len(v) > maxField {
			e.Fields = cutFields(e.Fields)
			break
		}
	}
	b = fmt.Appendf(b, `{"version":%d,"time":"`, e.Version)
	b = e.Time.UTC().Truncate(time.Microsecond).AppendFormat(b, time.RFC3339Nano)
	b = appendText(append(b, `","event":`...), string(e.Name))
	for _, m := range [...]struct{ key, value string }{{`,"run":`, e.Run}, {`,"backend":`, e.Backend}, {`,"mode":`, e.Mode}} {
		if m.value != "" {
			b = appendText(append(b, m.key...), m.value)
		}
	}
	if len(e.Fields) > 0 {
		b = append(b, `,"fields":`...)
		sign := byte('{')
		for _, k := range slices.Sorted(maps.Keys(e.Fields)) {
			b = appendText(append(b, sign), k)
			b = appendText(append(b, ':'), e.Fields[k])
			sign = ','
		}
		b = append(b, '}')
	}
	return append(b, '}', '\n'), nil
}

// appendText writes a JSON string (RFC 8259, section 7). What does not print is
// escaped, and what HTML would read; a byte that is not UTF-8 becomes U+FFFD.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case ' ' <= r && r <= '~' && r != '<' && r != '>' && r != '&':
			b = append(b, byte(r))
		case r > '~' && unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		default:
			b = appendEscaped(b, r)
		}
	}
	return append(b, '"')
}
