// Package render shows a report to people and to CI: Markdown, one HTML page, JUnit.
//
// SECURITY: what comes from inside a sandbox is an attacker's text. It is made
// visible in plain once (Visible) and then escaped for the form it goes into (OBS-05).
package render

import (
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible makes control characters, marks that turn the direction of writing and
// invalid bytes visible. Line breaks and tabs stay when keep says so.
func Visible(s string, keep string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unicode.IsPrint(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		default:
			q := fmt.Sprintf("%+q", r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// SafeJSON writes what Visible would make visible as escapes of JSON: a reader gets the
// same values, and a terminal no sequences. The text must be JSON: there, such characters
// are in strings alone.
func SafeJSON(text []byte) []byte {
	var out []byte
	done := 0 // up to here it is in out
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if !unicode.IsPrint(r) || r == utf8.RuneError && n == 1 {
			out = append(out, text[done:i]...)
			for _, u := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, u)
			}
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// line is text for one line of HTML or XML.
func line(s string) string { return html.EscapeString(Visible(s, "")) }

// block is text for a block of HTML or XML with its lines.
func block(s string) string { return html.EscapeString(Visible(s, "\n\t")) }

// markdown is text for one line or table cell of Markdown: nothing in it is markup.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range Visible(s, "") {
		switch {
		case strings.ContainsRune("\\`*_{}[]()#+-!|~:", r):
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@': // no mention of an account: those are sought after entities are read
			b.WriteString("&#64;&#8288;")
		default:
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), "www.", "www&#46;"), `http\:`, "http&#58;")
}

// shorten cuts long text for a table.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
