package qsandbox

import (
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/denylog"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/internal/supervise"
	"github.com/qiming-sandbox/qsandbox/report"
)

// On macOS the kernel writes a line to the system's log for each operation that a
// profile refuses (OBS-04). Where the log cannot be had - it is for administrators -
// the command's own messages are all there is, as on Linux.

// logQuiet is how long nothing may come before the log is taken for told. Only a
// command that failed waits for it.
const logQuiet = 150 * time.Millisecond

// seenLog is added to Report.DenialView when the kernel's log told of something.
const seenLog = "; certain ones are from the kernel's log"

// listen starts to read the kernel's log for a plan with a profile.
func (r *run) listen(p *plan.Plan) {
	r.unlisten() // of an attempt before this one
	if p.Profile == nil || p.Isolation.Direct {
		return
	}
	if src, err := denylog.Start(denylog.Program, denylog.Args()...); err == nil {
		r.log = src
	}
}

// unlisten ends the reading.
func (r *run) unlisten() {
	if r.log != nil {
		r.log.Stop(0)
		r.log = nil
	}
}

// logged puts what the kernel's log told of the command's processes into the report, once.
func (r *run) logged(s *supervise.Session, exit report.Exit) {
	if r.log == nil {
		return
	}
	src := r.log
	r.log = nil
	quiet := logQuiet
	if exit.Code == 0 {
		quiet = 0
	}
	list, more := src.Stop(quiet)
	told := logDenials(r.spec, denylog.Of(list, s.PIDs()))
	r.report.Denials = withoutGuesses(r.report.Denials, told)
	r.report.Denials = append(r.report.Denials, told...)
	if len(told) > 0 {
		r.report.DenialView += seenLog
	}
	if more {
		r.report.DenialView += seenMore
	}
}

// logDenials turns lines of the log into denials, with the rule and a remedy where
// the policy has a word for the operation.
func logDenials(s *spec.Spec, list []denylog.Entry) []report.Denial {
	var out []report.Denial
	for _, e := range list {
		d := report.Denial{Operation: e.Operation, Subject: e.Target, Rule: "seatbelt profile: " + e.Operation, Certain: true}
		if kind := e.Kind(); kind != "" {
			d.Operation = kind
			op := spec.Op(kind)
			if v := spec.Decide(s, spec.Query{Op: op, Path: e.Target, Host: e.Target}); !v.Allowed {
				d.Rule, d.Remedy = v.Rule+", from "+v.Origin, remedy(s, op, e.Target, v)
			}
		}
		if e.Operation == "mach-lookup" {
			d.Remedy = "if it is meant to: name the group of services that has it in macos.services"
		}
		if len(out) < maxLogged {
			out = append(out, d)
		}
	}
	return out
}

// maxLogged bounds what a command that tries without end adds to the report.
const maxLogged = 100

// withoutGuesses leaves out what is now known for certain.
func withoutGuesses(list, told []report.Denial) []report.Denial {
	sure := map[[2]string]bool{}
	for _, d := range told {
		sure[[2]string{d.Operation, d.Subject}] = true
	}
	out := list[:0]
	for _, d := range list {
		if d.Certain || !sure[[2]string{d.Operation, d.Subject}] {
			out = append(out, d)
		}
	}
	return out
}
