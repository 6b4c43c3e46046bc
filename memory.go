package qsandbox

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/event"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
)

// Memory is what a session of several runs remembers (POL-06): once a command of it ran
// in a sandbox, losing the sandbox is an error under autoFallback startup-only, and may
// degrade, with its event, under session. And once a run of it was bound, its workspace
// and writable paths lead where they led then, or PATH_INVALID (FS-09). The zero value is
// a session that has run nothing. It may be used by many runs at once.
type Memory struct {
	mu        sync.Mutex
	sandboxed bool
	degraded  bool
	places    map[string]string // writable paths as they were given, and what they led to
}

func (m *Memory) ranSandboxed() bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sandboxed
}

// settled refuses a run whose workspace or writable paths lead elsewhere than in the
// first run of the session that named them.
//
// SECURITY: a command that may write the folder above a workspace, in a session of its
// own, can put a link in the workspace's place. Once it has lain there for a while it is
// followed like one that the user made, and the other session's commands would write
// where it leads: any folder of the user's.
func (m *Memory) settled(s *spec.Spec) error {
	if m == nil || !s.Isolated() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range s.Rules {
		if r.Layer != spec.User || r.Access != spec.Write || r.Pin {
			continue
		}
		if led, known := m.places[r.Given]; known && led != r.Path {
			return fault.New(fault.PathInvalid, "use writable path", r.Given,
				"it led to "+led+" when this session began and leads to "+r.Path+" now: look at what replaced it, and start the session anew if that is meant")
		}
	}
	if m.places == nil {
		m.places = map[string]string{}
	}
	for _, r := range s.Rules {
		if r.Layer == spec.User && r.Access == spec.Write && !r.Pin {
			m.places[r.Given] = r.Path
		}
	}
	return nil
}

// note remembers a run that has started; it tells whether a sandbox is back.
func (m *Memory) note(sandboxed, degraded bool) (recovered bool) {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	recovered = sandboxed && m.degraded
	m.sandboxed = m.sandboxed || sandboxed
	m.degraded = degraded || m.degraded && !sandboxed
	return recovered
}

// DegradedFile is there, in the state directory, from a degraded run until a run has its
// sandbox again: so sandbox:recovered is emitted across processes.
const DegradedFile = "degraded"

// remember notes that a command has started, with a sandbox or without, and emits
// sandbox:recovered when there is one again.
func (r *run) remember() {
	rep := r.report
	sandboxed := rep.Backend != "none"
	recovered := r.memory.note(sandboxed, rep.Degraded)
	if dir := spec.StateRoot(r.host); dir != "" {
		mark := filepath.Join(dir, DegradedFile)
		switch {
		case rep.Degraded:
			if f, err := os.OpenFile(mark, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil { // what is there stays
				f.Close()
			}
		case sandboxed && r.host.Exists(mark):
			recovered = os.Remove(mark) == nil || recovered
		}
	}
	if recovered {
		r.emit(event.Recovered, map[string]string{"workspace": rep.Workspace})
	}
}
