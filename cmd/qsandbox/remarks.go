package main

import (
	"fmt"
	"os"

	"github.com/qiming-sandbox/qsandbox/report"
)

// remarks shows people what they must know: notices, what was refused, a limit, a
// cut output.
func remarks(rep *report.Report) {
	for _, n := range rep.Notices {
		remark(n.Text)
	}
	for _, d := range rep.Denials {
		remark(denialText(d))
	}
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
	text := fmt.Sprintf("%s %q was not allowed: %s", d.Operation, d.Subject, d.Rule)
	if !d.Certain {
		text = fmt.Sprintf("%s %q may have been refused (a guess): %s", d.Operation, d.Subject, d.Rule)
	}
	if d.Remedy != "" {
		text += " (" + d.Remedy + ")"
	}
	return text
}
