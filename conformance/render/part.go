package render

import "github.com/qiming-sandbox/qsandbox/conformance/results"

// part is a reason why a report does not stand for all that could be tried.
type part struct{ name, means string }

// parts give the reasons; a whole report has none. People read them before any figure.
func parts(r *results.Report) (out []part) {
	if r.Matrix == results.Quick {
		out = append(out, part{"The quick matrix", "a part of the cases, in one mode each"})
	}
	if r.Interrupted {
		out = append(out, part{"Interrupted", "not all was tried"})
	}
	return out
}
