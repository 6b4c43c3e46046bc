package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/qiming-sandbox/qsandbox/conformance/render"
)

// printable makes text from inside or from files safe to show: no terminal
// sequences, no line breaks, no marks that turn the direction of writing (OBS-05).
//
// SECURITY: whatever a person sees and we did not write goes through here.
func printable(s string) string {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return render.Visible(s, "")
		}
	}
	return s
}

// width is how many columns printable text takes: two for the wide characters of
// East Asia (Unicode TR 11), none for marks that combine.
func width(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), r >= 0xff01 && r <= 0xff60, r >= 0x3000 && r <= 0x303e, r >= 0x1f300 && r <= 0x1faff:
			n += 2
		default:
			n++
		}
	}
	return n
}

// table is rows of cells that line up. Cells are made printable.
type table [][]string

func (t *table) row(cells ...string) {
	for i := range cells {
		cells[i] = printable(cells[i])
	}
	*t = append(*t, cells)
}

// lines gives the rows as text, each with the indent in front and no blanks at its end.
func (t table) lines(indent string) string {
	var wide []int
	for _, row := range t {
		for i, c := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			if i < len(row)-1 { // the last cell of a row pushes nothing
				wide[i] = max(wide[i], width(c))
			}
		}
	}
	var b strings.Builder
	for _, row := range t {
		line := indent
		for i, c := range row {
			line += c
			if i < len(row)-1 {
				line += strings.Repeat(" ", wide[i]-width(c)+2)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
