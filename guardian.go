package qsandbox

import (
	"fmt"
	"os"

	"github.com/qiming-sandbox/qsandbox/internal/event"
	"github.com/qiming-sandbox/qsandbox/internal/launch"
	"github.com/qiming-sandbox/qsandbox/internal/protect"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// recover looks at runs whose launcher was killed: what they planted is moved
// away before anything else starts (FS-04, FS-07).
func (r *run) recover() {
	dir := spec.StateRoot(r.host)
	if dir == "" {
		return
	}
	// Made now, so that it can be hidden when it lies in a writable root.
	_ = os.MkdirAll(dir, 0o700)
	records, notices := protect.Pending(r.host, dir)
	r.early = append(r.early, notices...)
	for _, rec := range records {
		j, err := rec.Adopt(r.host)
		if err != nil || j == nil {
			continue // somebody else adopted it
		}
		// SECURITY: the tree first. What still runs would make again what was just moved away.
		err = launch.EndRun(r.host.Cgroup().Dirs, rec.RunID)
		r.quarantine(rec.Found, rec.RunID)
		if err != nil { // the record stays, so that the next start looks again
			r.early = append(r.early, report.Notice{Kind: "journal:kept", Text: "run " + rec.RunID + ", whose launcher was killed, has not ended: " + err.Error()})
			continue
		}
		_ = j.End()
	}
}

// guard begins the watch over protected names.
func (r *run) guard(found protect.Found) error {
	r.found = found
	if r.journal != nil { // an attempt before this one failed
		_ = r.journal.End()
		r.journal = nil
	}
	dir := spec.StateRoot(r.host)
	if dir == "" {
		return nil
	}
	j, err := protect.Begin(r.host, dir, found, protect.Meta{RunID: r.report.ID, Workspace: r.report.Workspace})
	if err == nil {
		r.journal = j
		return nil
	}
	// An account without a writable home (nobody, a container) can still work:
	// only a run whose launcher is killed is then not looked at. Strict wants it all.
	if r.report.Mode == policy.Strict.String() {
		return err
	}
	r.report.Notices = append(r.report.Notices, report.Notice{Kind: "journal:missing", Text: "no journal could be written (" + err.Error() + "): if this launcher is killed, nobody looks at what the command planted"})
	return nil
}

// unguard looks for what the run planted and ends the watch.
func (r *run) unguard() {
	r.unsupervise()
	if len(r.found.Roots) > 0 {
		r.quarantine(r.found, r.report.ID)
	}
	if r.journal != nil {
		_ = r.journal.End()
	}
	r.found, r.journal = protect.Found{}, nil
}

// quarantine moves every new or changed protected entry to the state directory
// and reports it as a violation, with the command that restores it.
func (r *run) quarantine(found protect.Found, id string) {
	for _, v := range protect.Check(r.host, found) {
		d := report.Denial{Operation: "write", Subject: v.Path, Rule: v.Rule(), Certain: true, Remedy: v.Why}
		if v.Move {
			m, err := protect.Quarantine(v, spec.StateRoot(r.host), id)
			if err != nil {
				d.Remedy = fmt.Sprintf("%s; it could NOT be moved away: %v; look at it before you use git or a shell there", v.Why, err)
			} else {
				d.Remedy = v.Why + "; moved to " + m.To + "; to restore it: " + m.Restore
			}
		}
		r.report.Denials = append(r.report.Denials, d)
		r.emit(event.PolicyViolation, map[string]string{"path": v.Path, "rule": v.Name, "change": v.Change.String()})
	}
}
