package mcpserver

import "testing"

// TestCallsAreOneSession: once a call ran in a sandbox, autoFallback startup-only must
// not let a later one go without (POL-06), so all share one memory.
func TestCallsAreOneSession(t *testing.T) {
	s, other := &Server{}, &Server{}
	a, b := s.request(bashArgs{}, newRecording()), s.request(bashArgs{}, newRecording())
	if a.Memory == nil || a.Memory != b.Memory {
		t.Errorf("%p %p", a.Memory, b.Memory)
	}
	if c := other.request(bashArgs{}, newRecording()); c.Memory == a.Memory {
		t.Error("two servers share one")
	}
}
