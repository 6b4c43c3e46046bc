package winsandbox

import (
	"fmt"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/protect"
	"github.com/qiming-sandbox/qsandbox/report"
)

// NewNames says who looks for protected names that came during the run (FS-04). The
// zero value is the helper itself.
type NewNames uint8

// The answers.
const (
	NewNamesMoved   NewNames = iota // found at the end of the run, moved to the records, reported
	NewNamesCallers                 // the caller does that, with rules of its own
	NewNamesLeft                    // sandbox_mode permissive: nobody does
)

// watch is the look at what a run may have planted.
type watch struct {
	h       host.Host
	state   string // directory of the records
	id      string
	found   protect.Found
	journal *protect.Journal
}

func newWatch(h host.Host, state string, pid int) *watch {
	return &watch{h: h, state: state, id: fmt.Sprintf("helper-%d-%d", pid, time.Now().UnixNano())}
}

// recover looks at runs whose helper was killed, before anything counts as having been
// there.
func (w *watch) recover(o *Outcome) {
	records, notices := protect.Pending(w.h, w.state)
	o.Notices = append(o.Notices, notices...)
	for _, rec := range records {
		j, err := rec.Adopt(w.h)
		if err != nil || j == nil {
			continue // another start was first
		}
		w.move(o, rec.Found, rec.RunID)
		if err := j.End(); err != nil {
			o.notice("journal:left", err.Error())
		}
	}
}

// begin writes the journal: from here on what is planted is found, also when we die.
func (w *watch) begin(workspace string) (err error) {
	w.journal, err = protect.Begin(w.h, w.state, w.found, protect.Meta{RunID: w.id, Workspace: workspace})
	return err
}

// end looks for what the run planted. Everything it started is gone by now.
func (w *watch) end(o *Outcome) error {
	if w.journal == nil {
		return nil
	}
	w.move(o, w.found, w.id)
	return w.journal.End()
}

func (w *watch) move(o *Outcome, found protect.Found, id string) {
	for _, v := range protect.Check(w.h, found) {
		d := report.Denial{Operation: "write", Subject: v.Path, Rule: v.Rule(), Certain: true, Remedy: v.Why}
		if v.Move {
			m, err := protect.Quarantine(v, w.state, id)
			if err != nil {
				d.Remedy = fmt.Sprintf("%s; it could NOT be moved away: %v; look at it before you use git or a shell there", v.Why, err)
			} else {
				d.Remedy = v.Why + "; moved to " + m.To + "; to restore it, in PowerShell: " + m.Restore
			}
		}
		o.Denials = append(o.Denials, d)
	}
}

// rowOfNewNames says how new names are kept.
func (o *Outcome) rowOfNewNames(r Request) {
	const how = "new names: looked for at the end of the run, moved away, reported"
	switch {
	case r.ReadOnly:
	case r.NewNames == NewNamesCallers:
		o.row("FS-04", "new names: the caller looks", report.Advisory, "what the caller does is in its own report")
	case r.NewNames == NewNamesLeft:
		o.row("FS-04", "", report.None, "sandbox_mode permissive protects no names")
	case r.Restriction == Unrestricted:
		o.row("FS-04", how, report.Advisory, "without WRITE_RESTRICTED the command can remove the records of it; tried under Wine only")
	default:
		o.row("FS-04", how, report.Detected, "not prevented; where the look at the start did not come, a set-back time hides a file; tried under Wine only")
	}
}
