package backendtest

import (
	"fmt"
	"strings"
)

// Describe tells what happened, for a failure message.
func (r Result) Describe() string {
	var b strings.Builder
	if r.Err != nil {
		fmt.Fprintf(&b, "error: %v\n", r.Err)
	}
	if r.Report != nil && r.Exit != nil {
		fmt.Fprintf(&b, "exit: code %d signal %q cause %s\n", r.Exit.Code, r.Exit.Signal, r.Exit.Cause)
	}
	if r.Report != nil {
		for _, n := range r.Notices {
			fmt.Fprintf(&b, "notice: %s: %s\n", n.Kind, n.Text)
		}
	}
	for name, text := range map[string]string{"stdout": r.Out, "stderr": r.Msg} {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, clip(text))
		}
	}
	return b.String()
}

func clip(s string) string {
	const most = 3000
	if len(s) > most {
		return s[:most/2] + "\n…\n" + s[len(s)-most/2:]
	}
	return s
}
