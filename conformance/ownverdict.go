package conformance

import (
	"fmt"
	"strings"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// verdict is what the run with the account's own policy means for one of the cases.
func (o *own) verdict(driver string) verdict {
	switch {
	case o.err != nil:
		return failed("your own policy cannot be used, so run does not start anything: %v", o.err)
	case o.off:
		return verdict{results.KnownLimit, "your stored policy switches the sandbox off (enabled: false): nothing is kept out", results.LeakNone}
	case o.report.Degraded:
		return failed("it was run WITHOUT a sandbox: %s; autoFallback=manual makes that an error", o.report.Reason)
	}
	v := verdict{status: results.Pass}
	switch driver {
	case ownSandbox:
		v.notes = o.whose() + ", by " + o.report.Backend
		if len(o.told) > 0 {
			v.notes += "; " + strings.Join(o.told, "; ")
		}
	case ownHidden:
		v = o.denied(readings)
		v.notes += fmt.Sprintf("; %d paths must not be read", o.reads)
	case ownClosed:
		v = o.denied(writings)
		v.notes += fmt.Sprintf("; %d paths must not be written", o.writes)
	case ownOpen:
		v = o.opened()
	}
	v.notes = strings.TrimPrefix(v.notes, "; ")
	return v
}

func (o *own) whose() string {
	if o.stored {
		return "the stored policy"
	}
	return "nothing is stored: the built-in policy"
}

// denied makes the verdict about what must not be possible.
func (o *own) denied(v verb) verdict {
	var list []finding
	for _, f := range o.leaks {
		if f.write == bool(v) {
			list = append(list, f)
		}
	}
	if len(list) > 0 {
		return verdict{results.Fail, "NOT DENIED: " + listed(list), results.LeakViolation}
	}
	return verdict{status: results.Pass}
}

// verb is what is tried of a path.
type verb bool

const (
	readings verb = false
	writings verb = true
)

func (o *own) opened() verdict {
	if len(o.shut) > 0 {
		return failed("not possible inside, though the policy allows it: %s", listed(o.shut))
	}
	return verdict{status: results.Pass, notes: fmt.Sprintf("%d paths can be", o.tried-o.reads-o.writes)}
}

// listed names the first few.
func listed(list []finding) string {
	const most = 8
	var out []string
	for i, f := range list {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		out = append(out, f.String())
	}
	return strings.Join(out, ", ")
}

// summary is the evidence.
func (o *own) summary() string {
	if o.err != nil {
		return o.err.Error()
	}
	s := fmt.Sprintf("%s, mode %s: %d paths tried, %d of them must not be read and %d not be written", o.whose(), o.mode, o.tried, o.reads, o.writes)
	s += fmt.Sprintf("; files of %d patterns are among them; not tried: %d (what is not there, what the account itself may not open, patterns that name no file)", o.patterns, o.untried)
	if o.unsure > 0 {
		s += fmt.Sprintf("; %d could not be told", o.unsure)
	}
	if len(o.leaks)+len(o.shut) > 0 {
		s += "\n" + listed(append(append([]finding{}, o.leaks...), o.shut...))
	}
	return s
}
