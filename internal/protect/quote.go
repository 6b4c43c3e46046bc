package protect

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// restorePowerShell gives the command for PowerShell that moves an entry back. It
// replaces nothing, and takes every character as it is: Move-Item would read [ and ].
func restorePowerShell(to, from string) string {
	return "[IO.Directory]::Move(" + powerShell(to) + ", " + powerShell(from) + ")"
}

// powerShell writes a string. SECURITY: PowerShell ends a string at typographic
// quotes too, and what a terminal would not show as it is becomes a number.
func powerShell(s string) string {
	parts, run := []string{}, ""
	flush := func() {
		if run != "" || len(parts) == 0 { // a string comes first: numbers alone would be added up
			parts = append(parts, quoteDouble(run))
		}
		run = ""
	}
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 && len(s) > 2 { // half of a pair, as Go writes it (WTF-8)
			r, n = rune(s[0]&15)<<12|rune(s[1]&63)<<6|rune(s[2]&63), 3
		}
		if r < utf8.RuneSelf && unicode.IsPrint(r) || r >= utf8.RuneSelf && unicode.IsLetter(r) {
			run += string(r)
		} else {
			flush()
			for _, u := range units(r) {
				parts = append(parts, fmt.Sprintf("[char]%d", u))
			}
		}
		s = s[n:]
	}
	if run != "" || len(parts) == 0 {
		flush()
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, "+") + ")"
}

func quoteDouble(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// units gives the UTF-16 of a character, which may be half of a pair.
func units(r rune) []rune {
	if hi, lo := utf16.EncodeRune(r); hi != unicode.ReplacementChar {
		return []rune{hi, lo}
	}
	return []rune{r}
}
