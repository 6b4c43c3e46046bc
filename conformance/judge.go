package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// verdict is what a run comes to.
type verdict struct {
	status results.Status
	notes  string
	leak   results.Leak
}

func failed(format string, args ...any) verdict {
	return verdict{results.Fail, fmt.Sprintf(format, args...), results.LeakNone}
}

// leak says what it means when a deny case is not denied.
func (c *Case) leak() results.Leak {
	switch {
	case strings.HasPrefix(c.ID, "ENV-") || strings.HasPrefix(c.ID, "LX-ENV-"):
		return results.LeakEnv
	case strings.Contains(c.ID, "-FD-"):
		return results.LeakHandle
	}
	return results.LeakViolation
}

// residue says what it means when something is left.
func (c *Case) residue() results.Leak {
	switch {
	case slices.Contains(c.Rows, "PROC-02"):
		return results.LeakProcess
	case slices.Contains(c.Rows, "FS-07"), slices.Contains(c.Rows, "FS-04"):
		return results.LeakFile
	case slices.Contains(c.Rows, "WIN-06"):
		return results.LeakACL
	}
	return results.LeakViolation
}

// judge says what the end inside means.
func (a *attempt) judge(in inside) verdict {
	c := a.c
	if c.Want == Refused {
		switch {
		case in.err == nil:
			return verdict{results.Fail, fmt.Sprintf("the command was run (code %d), wanted error %s", in.code, c.Code), results.LeakViolation}
		case in.errCode != c.Code:
			return failed("error %s, wanted %s: %v", in.errCode, c.Code, in.err)
		}
		return verdict{status: results.Pass}
	}
	if in.err != nil {
		return failed("the sandbox could not be had: %v", in.err)
	}
	if in.late {
		return failed("it did not end within %v", c.limit())
	}
	if v := a.resolved(in); v.status != "" {
		return v
	}
	switch c.Want {
	case Works:
		if in.code != 0 {
			return failed("the command should work, and gave %d", in.code)
		}
	case Ends:
		if in.code != c.Exit && c.Signal == "" || in.signal != c.Signal {
			return failed("it ended with code %d signal %q, wanted code %d signal %q", in.code, in.signal, c.Exit, c.Signal)
		}
	case Denied:
		return c.denied(in)
	}
	return verdict{status: results.Pass}
}

// resolved looks at which backend it was, and whether the event came that must come.
func (a *attempt) resolved(in inside) verdict {
	c := a.c
	has := func(name string) bool {
		return slices.ContainsFunc(in.events, func(e results.Event) bool { return e.Name == name })
	}
	switch {
	case c.Backend != "" && in.backend != c.Backend:
		return failed("the backend was %q, wanted %q", in.backend, c.Backend)
	case c.Event != "" && !has(c.Event):
		return failed("the event %s did not come", c.Event)
	case in.degraded && c.Backend != "none":
		return failed("it was run WITHOUT a sandbox: %s", in.reason)
	case a.backend != "policy" && in.backend != a.backend && in.backend != "command":
		return failed("it was run by %q", in.backend)
	}
	return verdict{}
}

func (c *Case) denied(in inside) verdict {
	switch in.code {
	case allFine:
		return verdict{status: results.Pass}
	case notDenied:
		return verdict{results.Fail, "NOT DENIED: the attempt worked inside", c.leak()}
	case noTwin:
		return failed("the twin, which should work inside, does not")
	}
	return failed("it ended with code %d signal %q before both sides were tried", in.code, in.signal)
}
