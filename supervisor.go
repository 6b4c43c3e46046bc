package qsandbox

import (
	"os"
	"sync"

	"github.com/qiming-sandbox/qsandbox/internal/event"
	"github.com/qiming-sandbox/qsandbox/internal/guard"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/protect"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/report"
)

// supervisor is the one who makes the calls that create names, for a run whose plan
// asks for it (FS-04), and what it refused.
type supervisor struct {
	guard *guard.Guard

	mu      sync.Mutex
	refused []report.Denial
	seen    map[guard.Denial]bool
}

// maxRefused bounds what a command that tries without end adds to the report.
const maxRefused = 200

// supervise gives the launcher what takes the notification descriptor, or nil.
func (r *run) supervise(p *plan.Plan, s *spec.Spec) func(*os.File) error {
	r.unsupervise() // of an attempt before this one
	if !p.Supervised {
		return nil
	}
	return func(listener *os.File) (err error) {
		w := &supervisor{seen: map[guard.Denial]bool{}}
		cfg := newNames(s)
		cfg.Watched, cfg.Places, cfg.User, cfg.OnDenied = watched(s.Protected), places(p), switchedTo(p), w.deny
		w.guard, err = guard.Start(listener, cfg)
		if err == nil {
			r.supervisor = w
		}
		return err
	}
}

// written are the user's own writable entries: a longer path than that of a protected
// name above it, and so what counts (FS-02).
func written(s *spec.Spec) (out []string) {
	for _, r := range s.Rules {
		if r.Layer == spec.User && r.Access == spec.Write && !r.Pin {
			out = append(out, r.Path)
		}
	}
	return out
}

// watched are the paths that protected links and git settings need, and no mount keeps.
func watched(f protect.Found) map[string]string {
	out := map[string]string{}
	for _, it := range f.Items {
		if it.Action == protect.Watch {
			out[it.Path] = it.Name
		}
	}
	return out
}

// places are the directories in which the Landlock domain lets names be made: the
// supervisor's threads are not in that domain.
//
// SECURITY: without them a name could be made through the supervisor that the
// command's own second layer would refuse.
func places(p *plan.Plan) []string {
	if p.Landlock == nil {
		return nil
	}
	return p.Landlock.Makes
}

func switchedTo(p *plan.Plan) *guard.User {
	if !p.User.Switch {
		return nil
	}
	return &guard.User{UID: p.User.UID, GID: p.User.GID, Groups: p.User.Groups}
}

// deny keeps a refusal once for each name.
func (w *supervisor) deny(d guard.Denial) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[d] || len(w.refused) >= maxRefused {
		return
	}
	w.seen[d] = true
	if d.Rule == "places" {
		return // an ordinary refusal outside the writable roots: its message is heard
	}
	w.refused = append(w.refused, report.Denial{
		Operation: "write", Subject: d.Path, Rule: "protected: " + d.Rule, Certain: true,
		Remedy: refusedRemedy(d.Rule),
	})
}

// refusedRemedy says why the supervisor refuses, and what a person can do.
func refusedRemedy(rule string) string {
	switch rule {
	case "link-to-protected":
		return "what lies behind such a link would count as protected names: make a folder instead"
	case "deep-folder", "large-folder", "unreadable-folder":
		return "the folder may bring protected names to where they count, and cannot be looked through: move its parts one by one"
	}
	return "the name runs code on the host later; filesystem.allowProtected: " + rule + " allows it"
}

// unsupervise ends the supervision and reports what was refused. The command and
// all it started must have ended.
func (r *run) unsupervise() {
	w := r.supervisor
	if w == nil {
		return
	}
	r.supervisor = nil
	if err := w.guard.Close(); err != nil {
		r.report.Notices = append(r.report.Notices, report.Notice{Kind: "supervisor:left", Text: err.Error()})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.refused {
		r.report.Denials = append(r.report.Denials, d)
		r.emit(event.PolicyViolation, map[string]string{"path": d.Subject, "rule": d.Rule, "change": "refused"})
	}
}
