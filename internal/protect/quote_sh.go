//go:build !windows

package protect

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// restoreCommand gives the command for sh that moves an entry back.
//
// SECURITY: a name may hold any byte but NUL, and the command is shown on a terminal
// and pasted from there. Within single quotes a shell takes everything but the quote
// as it is; control characters, and bytes that are not UTF-8, would reach the
// terminal, so that they are written as octal numbers, which any POSIX printf reads.
func restoreCommand(to, from string) string {
	if showable(to) && showable(from) {
		return "mv -n -- " + quote(to) + " " + quote(from)
	}
	return "printf '%b\\0' " + octal(to) + " " + octal(from) + " | xargs -0 mv -n --"
}

// showable tells whether a text is the same to a terminal, a person and a shell.
func showable(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) || r > unicode.MaxASCII && unicode.Is(unicode.Cf, r) {
			return false
		}
	}
	return true
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// octal writes all but plain characters as %b of printf wants them.
func octal(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := range len(s) {
		if c := s[i]; isAlpha(c) || c >= '0' && c <= '9' || strings.IndexByte("/._-", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\0%03o`, c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
