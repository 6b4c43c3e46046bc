package qsandbox

import "github.com/qiming-sandbox/qsandbox/report"

// Refused gives the report of a request that never came as far as Run, because
// its policy could not be read: whoever reads reports must not find an older one.
// It is in the audit log as well: the policy may have been tampered with.
func Refused(req Request, err error) *report.Report {
	r := newRun(req)
	r.record()
	return r.fail(err)
}
