package main

import (
	"fmt"
	"os"

	"github.com/qiming-sandbox/qsandbox/report"
)

// remarks shows people what they must know: notices, what was refused, a limit, a
// cut output.
func remarks(rep *report.Report, verbose bool) {
	for _, n := range rep.Notices {
		remark(n.Text)
	}
	remarkDenials(rep, verbose)
	if rep.Exit == nil {
		return
	}
	switch rep.Exit.Cause {
	case report.TimedOut:
		remark("the time limit ended the command (limits.timeout)")
	case report.MemoryLimit:
		remark("the memory limit ended the command (limits.memory)")
	case report.CPULimit:
		remark("the processor limit ended the command (limits.cpus)")
	}
	if rep.Exit.Truncated {
		remark("output was cut (limits.output)")
	}
}

func remark(text string) { fmt.Fprintln(os.Stderr, warnLine(text)) }

// denialText is one refusal for people.
func denialText(d report.Denial) string {
	what := "was not allowed"
	if !d.Certain {
		what = "was likely denied"
	}
	text := fmt.Sprintf("%s %q %s (rule: %s", d.Operation, d.Subject, what, d.Rule)
	if d.Remedy != "" {
		text += "; " + d.Remedy
	}
	return text + ")"
}
