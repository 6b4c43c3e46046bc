package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// maxCommand is a little less than what Linux takes as one argument (execve(2),
// MAX_ARG_STRLEN: 32 pages).
const maxCommand = 128<<10 - 1

// reader reads the arguments of a call. Its first error stays. Each is a result, not
// an error of the protocol: the model can mend it.
type reader struct {
	tool string
	args object
	seen map[string]bool
	err  error
}

func (k *call) reader(tool string) *reader {
	return &reader{tool: tool, args: k.args, seen: map[string]bool{}}
}

func (r *reader) fail(name, hint string) {
	if r.err == nil {
		r.err = fault.New(fault.UsageInvalid, "read argument of "+r.tool, name, hint)
	}
}

func (r *reader) raw(name string) json.RawMessage {
	r.seen[name] = true
	raw := r.args[name]
	if kind(raw) == 'n' {
		return nil // null is as good as not there
	}
	return raw
}

func (r *reader) text(name string) string {
	raw := r.raw(name)
	s, ok := asString(raw)
	if raw != nil && !ok {
		r.fail(name, "must be a string")
	}
	return s
}

func (r *reader) flag(name string) bool {
	switch raw := r.raw(name); {
	case raw == nil, string(raw) == "false":
	case string(raw) == "true":
		return true
	default:
		r.fail(name, "must be true or false")
	}
	return false
}

// millis reads a time. A number with a fraction or an exponent is taken for what it
// is worth; one that is out of range is an error that says the range.
func (r *reader) millis(name string, most time.Duration) (time.Duration, bool) {
	raw := r.raw(name)
	if raw == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if k := kind(raw); err != nil || k != '-' && (k < '0' || k > '9') {
		r.fail(name, "must be a number of milliseconds")
		return 0, false
	}
	if v < 0 || v > float64(most.Milliseconds()) {
		r.fail(name, fmt.Sprintf("must be between 0 and %d milliseconds", most.Milliseconds()))
		return 0, false
	}
	return time.Duration(v * float64(time.Millisecond)), true
}

// end is the first error, or that of an argument nobody asked for.
func (r *reader) end() error {
	for _, name := range slices.Sorted(maps.Keys(r.args)) {
		if !r.seen[name] {
			r.fail(name, "there is no such argument; "+r.tool+" takes "+strings.Join(slices.Sorted(maps.Keys(r.seen)), ", ")+
				". The workspace, the directory and the policy are the user's, and no request changes them")
		}
	}
	return r.err
}

// bashArgs are what Bash is called with.
type bashArgs struct {
	command    string
	timeout    time.Duration // 0: none
	background bool
}

// bashArgs reads and checks them. description is for people, who see it in the client.
func (s *Server) bashArgs(k *call) (bashArgs, error) {
	r := k.reader("Bash")
	a := bashArgs{command: r.text("command"), background: r.flag("run_in_background")}
	r.text("description")
	timeout, given := r.millis("timeout", s.maxTimeout())
	also, both := r.millis("timeout_ms", s.maxTimeout())
	switch {
	case r.args["command"] == nil || strings.TrimSpace(a.command) == "":
		r.fail("command", "a command is needed")
	case len(a.command) > maxCommand:
		r.fail("command", fmt.Sprintf("longer than %d bytes; write long text to files in parts", maxCommand))
	case strings.IndexByte(a.command, 0) >= 0:
		r.fail("command", "a NUL byte cannot be part of a command")
	case given && both:
		r.fail("timeout_ms", "timeout is given too")
	}
	if both {
		timeout = also
	}
	switch {
	case timeout > 0:
		a.timeout = s.allowed(timeout)
	case a.background:
		a.timeout = s.facts.timeout
	default:
		a.timeout = s.defaultTimeout()
	}
	return a, r.end()
}
