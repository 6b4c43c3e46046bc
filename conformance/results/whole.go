package results

// Matrix says how much of the matrix a report is of. The zero value is all that was asked for.
type Matrix string

// Quick is the quick matrix of verify.
const Quick Matrix = "quick"

// Exit codes of "report gate" for reports that are not whole.
const (
	ExitQuick       = 20
	ExitInterrupted = 21
)

// Whole tells whether a report is of more than the quick matrix; "report gate" asks it, as
// what was left out there was not tried at all. accept Quick takes it all the same.
func (r *Report) Whole(accept Matrix) Gate {
	g := Gate{"it is more than the quick matrix", ExitQuick, r.Matrix != Quick || accept == Quick, "verify was run without --quick"}
	if r.Matrix == Quick {
		g.Detail = "verify was run with --quick"
	}
	return g
}

// finished: what an interrupted verify left out was not tried.
func (r *Report) finished() Gate {
	g := Gate{"verify was not interrupted", ExitInterrupted, !r.Interrupted, "it came to its end"}
	if r.Interrupted {
		g.Detail = "it was ended by a signal before all was tried"
	}
	return g
}
