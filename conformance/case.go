package conformance

import (
	"slices"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// Severity says how bad a case that fails is.
type Severity uint8

// The severities, worst first. The zero value is the worst.
const (
	Critical Severity = iota // a way out, or a secret that leaks
	Major                    // a protection that is weaker than promised
	Minor                    // a program that does not work as it should
)

var severityNames = []string{"critical", "major", "minor"}

// String gives critical, major or minor.
func (s Severity) String() string { return severityNames[s] }

// Want is what must happen inside.
type Want uint8

// The expectations.
const (
	Denied  Want = iota // the command fails inside, and works without the sandbox
	Works               // the command gives 0 inside
	Ends                // the command ends with Case.Exit or Case.Signal
	Refused             // no command is run: the sandbox cannot be had, error Case.Code
)

// Identity is who a case runs as.
type Identity string

// The identities. As root both are tried, otherwise only the second.
const (
	AsRoot Identity = "root"
	AsUser Identity = "user"
)

// Case is one file. See docs/conformance.md for its form.
type Case struct {
	ID       string
	Title    string
	Severity Severity
	Rows     []string // of the requirements
	Why      string   // why it matters
	Source   string   // where the attempt is known from

	Platforms []string   // GOOS values
	Backends  []string   // names; empty: every backend that isolates. "policy": the case's own policy says
	Modes     []string   // empty: strict and compat
	As        []Identity // empty: both
	Needs     []string   // programs
	With      []string   // fixtures of the host: socket, abstract, tcp, process, descriptor
	Assumes   string     // what must hold for the case to mean anything, for people
	Shown     string     // how the attempt is known to work without a sandbox, if not in a cell; see shownBy
	Judged    string     // "effect": the command may seem to work inside, where it has a layer of its own; outside it must have had no effect
	Judges    string     // "qsandbox": it is about things of which a cell, where others are tried, has its own
	Runs      string     // "outside": it is about the program's own commands, and no sandbox takes part; see onTheHost
	Skip      string     // why no machine can run it yet
	Limits    []Limit    // known limits, each with its reason

	Want      Want
	Exit      int    // for Ends
	Signal    string // for Ends
	Code      string // for Refused: an error code
	Backend   string // what the report must name as the backend; "" anything
	Event     string // an event that must be seen
	Cwd       string
	Workspace string // the workspace's own name; "" is ws
	Terminal  bool
	Network   string // off, on; "" is off
	Timeout   time.Duration
	Driver    string // what runs it instead of a shell; see drive
	Count     int    // for the driver
	Full      int    // the count when a real length is asked for; 0: the same

	Policy    string // JSON, with $WS and the like
	Setup     string // outside, before
	Requires  string // outside: 1 means skip, with the last line as reason
	Available string // in a cell, before the control: 1 means skip, as above
	Command   string // inside
	Twin      string // inside: must work
	Control   string // outside, instead of Command
	Effect    string // outside: 0 when the attempt had its effect
	After     string // outside: must hold afterwards, when all was well before
	Cleanup   string // outside: always, at the end
	Stdin     string

	File string // where it was read
}

// Limit is something known that a backend does not keep.
type Limit struct {
	Backend string // "*" is any
	Reason  string
}

// LimitFor gives the reason of a known limit of a backend, "" for none.
func (c *Case) LimitFor(backend string) string {
	for _, l := range c.Limits {
		if l.Backend == "*" || l.Backend == backend {
			return l.Reason
		}
	}
	return ""
}

// Isolating are the backends that a case without a list is for.
var Isolating = map[string][]string{
	"linux":   {"linux-native", "linux-bwrap"},
	"darwin":  {"macos-seatbelt"},
	"windows": {"windows-sandbox"},
}

// backends gives the backends of a case on a system.
func (c *Case) backends(goos string) []string {
	if len(c.Backends) > 0 {
		return c.Backends
	}
	return Isolating[goos]
}

// modes gives the modes of a case.
func (c *Case) modes() []string {
	if len(c.Modes) > 0 {
		return c.Modes
	}
	return []string{"strict", "compat"}
}

// runsAs tells whether a case is for an identity.
func (c *Case) runsAs(who Identity) bool { return len(c.As) == 0 || slices.Contains(c.As, who) }

// limit is how long one attempt may take.
func (c *Case) limit() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return 20 * time.Second
}

// ParseSeverity reads critical, major or minor.
func ParseSeverity(s string) (Severity, error) {
	if i := slices.Index(severityNames, s); i >= 0 {
		return Severity(i), nil
	}
	return 0, fault.New(fault.UsageInvalid, "read severity", s, "use critical, major or minor")
}
