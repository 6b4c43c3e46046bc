package qsandbox

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/qiming-sandbox/qsandbox/internal/event"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
)

// Memory is what a session of several runs remembers (POL-06): once a command of it ran
// in a sandbox, losing the sandbox is an error under autoFallback startup-only, and may
// degrade, with its event, under session. The zero value is a session that has run
// nothing. It may be used by many runs at once.
type Memory struct {
	mu        sync.Mutex
	sandboxed bool
	degraded  bool
}

func (m *Memory) ranSandboxed() bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sandboxed
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
