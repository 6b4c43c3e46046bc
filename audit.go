package qsandbox

import (
	"errors"
	"strconv"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/event"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// AuditFile is the audit log's name in the state directory of the launcher's account.
const AuditFile = "audit.jsonl"

// record opens the audit log of the launcher's own account (OBS-01), before the policy
// is bound, so that its directory is there to be protected.
func (r *run) record() {
	if r.audit = auditLog(r.host); r.audit == nil {
		r.auditErr = errors.New("the account has no home directory, and XDG_STATE_HOME is not set")
		return
	}
	r.auditErr = r.audit.Open()
}

// auditLog is the audit log of an account; nil where it has no place for one.
func auditLog(h host.Host) *event.Log {
	if path := auditPath(h); path != "" {
		return event.Audit(path)
	}
	return nil
}

func (r *run) emit(name event.Name, fields map[string]string) {
	e := event.Event{Version: 1, Time: time.Now(), Name: name, Run: r.report.ID, Backend: r.report.Backend, Mode: r.report.Mode, Fields: fields}
	r.sink(e)
	if r.audit == nil {
		return
	}
	if err := r.audit.Write(e); err != nil && r.auditErr == nil {
		r.auditErr = err
	}
}

// permissive writes down that the command will run without isolation. That is always
// in the audit log (POL-08): when it cannot be, the command does not run. Any other
// run goes on without a record, with a notice, for it is the sandbox that protects and
// a full disk must not stop all work; here there is nothing but the record.
func (r *run) permissive() error {
	if r.report.Mode != policy.Permissive.String() {
		return nil
	}
	if !r.warned {
		r.warned = true
		r.emit(event.PermissiveUsed, map[string]string{"workspace": r.report.Workspace})
	}
	if r.auditErr == nil {
		return nil
	}
	return fault.Wrap(fault.PolicyUnenforceable, "record permissive run", "", r.auditErr).
		WithHint("mode permissive needs its audit record: make the log writable, or set XDG_STATE_HOME to a directory that is")
}

// settled counts what happened, for the record.
func (r *run) settled(exit report.Exit) map[string]string {
	f := map[string]string{"cause": string(exit.Cause), "code": strconv.Itoa(exit.Code), "duration_ms": strconv.FormatInt(r.report.DurationMS, 10)}
	guessed, certain := 0, 0
	for _, d := range r.report.Denials {
		if d.Certain {
			certain++
		} else {
			guessed++
		}
	}
	for k, n := range map[string]int{"denials": certain, "denials_guessed": guessed} {
		if n > 0 {
			f[k] = strconv.Itoa(n)
		}
	}
	return f
}

// unrecorded says in the report that the audit log lacks something.
func (r *run) unrecorded() {
	if r.auditErr != nil {
		r.report.Notices = append(r.report.Notices, report.Notice{Kind: "audit:failed", Text: "this run is not in the audit log, or not all of it: " + r.auditErr.Error()})
		r.auditErr = nil
	}
}
