package acpterm

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// TestTerminalsAreOneSession: after a terminal in a sandbox, one that cannot have a
// sandbox is refused under startup-only, and runs under session (POL-06). At the start
// both run.
func TestTerminalsAreOneSession(t *testing.T) {
	needSandbox(t)
	for _, fallback := range []policy.AutoFallback{policy.StartupOnly, policy.Session} {
		absent := policy.MacosSeatbelt
		lost := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Backend: &absent, AutoFallback: &fallback}
		memory := &qsandbox.Memory{}
		fine, without := newHost(t, Options{Memory: memory}), newHost(t, Options{Memory: memory, Layers: []policy.Layer{lost}})
		run := func(h *host) error {
			raw, _ := json.Marshal(map[string]any{"sessionId": "s", "command": "true"})
			_, err := h.Call(context.Background(), "terminal/create", raw)
			return err
		}
		if err := run(without); err != nil {
			t.Fatalf("%v at the start: %v", fallback, err)
		}
		if err := run(fine); err != nil {
			t.Fatal(err)
		}
		if err := run(without); (err != nil) != (fallback == policy.StartupOnly) {
			t.Errorf("%v after a sandboxed terminal: %v", fallback, err)
		}
	}
}
