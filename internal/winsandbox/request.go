package winsandbox

import (
	"io"
	"time"

	"github.com/qiming-sandbox/qsandbox/report"
)

// Request is one command with its sandbox, as the helper's command line says it.
type Request struct {
	Home        string // our records; "" is %LOCALAPPDATA%\qsandbox
	Cwd         string
	Roots       []string // writable; none in read-only
	ReadOnly    bool
	DenyWrite   []string
	NewNames    NewNames
	Restriction Restriction
	Network     Network
	AuditAll    bool // fail when the audit did not see everything
	PassEnv     []string
	Timeout     time.Duration
	Memory      int64
	Processes   int
	CPUs        float64
	TTY         bool
	Size        Size        // of the console; zero is that of ours, else 80 by 25
	Sizes       <-chan Size // its changes; nil: those of our own console
	Argv        []string
	Stdin       io.Reader // nil: empty
	Stdout      io.Writer
	Stderr      io.Writer
}

// Outcome is how a command ended.
type Outcome struct {
	Code     int
	TimedOut bool
	Rows     []report.Enforcement
	Notices  []report.Notice
	Denials  []report.Denial // protected names that the run planted
}

func (o *Outcome) notice(kind, text string) {
	o.Notices = append(o.Notices, report.Notice{Kind: kind, Text: text})
}

func (o *Outcome) row(req, mechanism string, level report.Level, why string) {
	o.Rows = append(o.Rows, report.Enforcement{Requirement: req, Mechanism: mechanism, Level: level, Why: why})
}

// describe says how the requirements are kept in this run, after the token was read
// back. What the system's own check has confirmed is still called modelled until a
// test on a real Windows shows the whole. filters is why none block the network, or "".
func (o *Outcome) describe(r Request, f TokenFacts, filters string) {
	const how = "write-restricted token, capability identifiers in access-control lists"
	switch {
	case r.Restriction == Unrestricted:
		o.row("FS-01", "", report.None, "without WRITE_RESTRICTED nothing keeps the command from writing what its user can write")
	case f.Probe.Done && !f.Probe.DeniesMeta:
		o.row("FS-01", how, report.Advisory, "this Windows asks the capabilities about data only: deleting, renaming and changing lists outside is not prevented")
	default:
		o.row("FS-01", how, report.Modelled, "computed by our model of the access check; not verified on a real Windows")
	}
	o.rowOfNewNames(r)
	o.row("FS-03", "", report.None, "a write-restricted token reads whatever its user can read")
	o.rowOfNetwork(r, filters)
	o.row("VAR-01", "environment made from the safe list", report.Enforced, "")
	o.row("PROC-02", "job object that ends with the helper", report.Modelled, "tried under Wine only; not verified on a real Windows")
}
