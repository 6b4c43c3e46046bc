package fault

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestOneLine: whatever the subject and the cause are, an error is one line of bounded
// length without terminal sequences, and says both ends of what was cut.
func TestOneLine(t *testing.T) {
	long := "/begin" + strings.Repeat("é", 50_000) + "/end"
	for name, e := range map[string]*Error{
		"subject": New(PolicyInvalid, "read the policy", long, "name another"),
		"cause":   Wrap(PolicyInvalid, "read the policy", "/p", errors.New(long)),
		"joined":  Wrap(PolicyInvalid, "read the policy", "\x1b[2J\n", errors.Join(errors.New("/begin"), errors.New("/end"))),
	} {
		text := e.Error()
		if strings.ContainsAny(text, "\n\x1b") || len(text) > 6*longest || !utf8.ValidString(text) {
			t.Errorf("%s: %d bytes: %.200q", name, len(text), text)
		}
		if !strings.Contains(text, "/begin") || !strings.Contains(text, "/end") {
			t.Errorf("%s: an end is missing: %.200q", name, text)
		}
	}
	if path := strings.Repeat("d/", longest/2); !strings.Contains(New(PolicyInvalid, "op", path, "").Error(), path) {
		t.Error("a path of ordinary length is cut")
	}
}
