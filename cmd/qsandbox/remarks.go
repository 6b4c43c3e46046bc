package main

import (
	"fmt"
	"os"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
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
	switch {
	case rep.Exit.Truncated && ended(rep):
		remark("output was cut (limits.output, or nobody read it)")
	case rep.Exit.Truncated:
		remark("output was cut (limits.output)")
	}
}

// layerRemarks says what layers have to tell, such as what a migration changed, where no
// report of a run says it: that may be the first use of a new version (POL-11).
func layerRemarks(layers []policy.Layer) {
	for _, l := range layers {
		for _, text := range l.Remarks {
			remark(text)
		}
	}
}

// ended tells whether the run was ended rather than ended by itself.
func ended(rep *report.Report) bool {
	return rep.Exit != nil && (rep.Exit.Cause == report.TimedOut || rep.Exit.Cause == report.Cancelled)
}

// lastWords is how long a reader of remarks has after a run that was ended.
const lastWords = 250 * time.Millisecond

// told says something at the end of a run. Whoever does not read the command's output
// may not read ours either, and must not hold a run whose time is over.
func told(rep *report.Report, say func()) {
	if !ended(rep) {
		say()
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); say() }()
	select {
	case <-done:
	case <-time.After(lastWords):
	}
}

// alarm says before a command starts that it has no sandbox although it should: when it
// has ended, its own output may have pushed a warning out of sight.
func alarm(e qsandbox.Event) {
	if e.Name != qsandbox.EventUnavailable {
		return
	}
	lines := []string{"NO SANDBOX: the command runs with all of your rights", "  reason: " + e.Fields["reason"]}
	if r := e.Fields["remedy"]; r != "" {
		lines = append(lines, "  remedy: "+r)
	}
	lines = append(lines, "  to make this an error: qsandbox policy set autoFallback=manual")
	for _, l := range lines {
		fmt.Fprintln(os.Stderr, paint(os.Stderr, bold+red, "qsandbox: "+printable(l)))
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
