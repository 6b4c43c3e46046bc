package seatbelt

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/qiming-sandbox/qsandbox/internal/sbpl"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// The file systems of macOS take ".ENV" for ".env", and "é" for "e" with an accent
// behind it. The kernel tells a profile the name on the disk, where there is one; of
// what is only being made it knows what the command said.
//
// SECURITY: so rules that take away name a path in every form, and rules that give
// name it as it is on the disk: a form that nobody thought of is denied.

// anyForm matches a path in every form, with below also what lies under it.
func anyForm(path string, r reach) sbpl.Filter { return sbpl.Regex("^" + formsOf(path) + string(r)) }

// formsOf is an expression, without anchors, for every form of a path.
func formsOf(path string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		var list []string
		for _, form := range normalForms(part) {
			g, err := policy.CompileFold("/" + policy.EscapeLiteral(form))
			if err != nil || len(g.Regexps()) != 1 {
				list = append(list, "/"+sbpl.QuoteRegex(form))
				continue
			}
			list = append(list, g.Regexps()[0])
		}
		if len(list) == 1 {
			b.WriteString(list[0])
			continue
		}
		b.WriteString("(" + strings.Join(list, "|") + ")")
	}
	return b.String()
}

// normalForms gives a text with composed and with decomposed characters (UAX #15).
func normalForms(s string) []string {
	out := []string{s}
	for _, f := range []norm.Form{norm.NFC, norm.NFD} {
		if n := f.String(s); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// globForms gives the expressions of a glob in every form.
func globForms(glob string) []string {
	var out []string
	for _, form := range normalForms(glob) {
		if g, err := policy.CompileFold(form); err == nil {
			out = append(out, g.Regexps()...)
		}
	}
	return out
}

// taken are the filters of a rule that takes a path and all below it away.
func taken(here sbpl.Filter, path string) []sbpl.Filter {
	if path == "/" {
		return []sbpl.Filter{here}
	}
	return []sbpl.Filter{here, anyForm(path, below)}
}
