package mcpserver

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// valid makes output valid UTF-8 without NUL, which JSON can carry and many clients
// cannot. It is for programs: nothing else is changed.
func valid(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// readable makes output fit to be shown: colours and other terminal sequences are
// taken out, what else controls a terminal or turns the direction of writing is
// written as \x1b (OBS-05). Lines and tabs stay.
//
// SECURITY: clients print the text of a result on the user's terminal.
func readable(s string) string {
	s = strings.ReplaceAll(valid(s), "\r\n", "\n")
	if !strings.ContainsFunc(s, controls) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		if n := sequence(s); n > 0 {
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\r': // a line that is written over again and again
			b.WriteByte('\n')
		case !controls(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[n:]
	}
	return b.String()
}

// inline is readable on one line.
func inline(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", " ").Replace(readable(s))
}

// controls tells what acts on a terminal: C0 and C1 but for line and tab, and the
// marks of the bidirectional algorithm (Unicode UAX 9).
func controls(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x61c:
		return true
	}
	return false
}

// sequence gives the length of a terminal's control sequence at the beginning of s
// that is complete (ECMA-48: ESC [ parameters, intermediates, one final byte), 0 for none.
func sequence(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s) && i < 64; i++ {
		switch c := s[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x3f:
			return 0
		}
	}
	return 0
}
