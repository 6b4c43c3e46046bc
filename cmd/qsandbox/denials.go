package main

import (
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/qiming-sandbox/qsandbox/report"
)

// maxGuesses is how many guesses people are shown without --verbose.
const maxGuesses = 5

// remarkDenials shows what was refused. What is certain is always shown: somebody has
// to look at it. A guess is shown when it may explain a failure and a person watches:
// stderr is the command's own, byte for byte (PROC-01), and programs that read it
// through a pipe have --report, --json or --verbose to ask for more.
func remarkDenials(rep *report.Report, verbose bool) {
	failed := rep.Exit != nil && rep.Exit.Code != 0
	show := verbose || failed && term.IsTerminal(int(os.Stderr.Fd()))
	guesses := 0
	for _, d := range rep.Denials {
		if !d.Certain {
			if guesses++; !show || guesses > maxGuesses && !verbose {
				continue
			}
		}
		remark(denialText(d))
	}
	if left := guesses - maxGuesses; show && !verbose && left > 0 {
		remark(fmt.Sprintf("%d more may have been refused: --verbose shows them, --report writes them to a file", left))
	}
}
