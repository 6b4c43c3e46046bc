package event

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The published schema names every event, takes what is written, and nothing that
// lacks what belongs to it.
func TestSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/schema/event.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../../docs/schema/event.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Properties struct {
			Event struct{ Enum []Name }
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	all := []Name{Unavailable, Recovered, ExecuteStart, ExecuteComplete, ExecuteError, PolicyChanged, PolicyViolation, PermissiveUsed}
	if !slices.Equal(doc.Properties.Event.Enum, all) {
		t.Errorf("the schema has %q", doc.Properties.Event.Enum)
	}
	valid := func(e Event) error {
		line, err := appendLine(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(line)))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	base := Event{Version: 1, Time: time.Now(), Run: "0123", Backend: "linux-native", Mode: "strict"}
	for name, fields := range map[Name]map[string]string{
		ExecuteStart:    {"program": "make", "workspace": "/ws\x1b\xff"},
		ExecuteComplete: {"cause": "exited", "code": "3", "duration_ms": "12"},
		ExecuteError:    {"code": "LAUNCH_FAILED"},
		Unavailable:     {"reason": "r", "backend": "linux-native", "fallback": "session"},
		PolicyViolation: {"path": "/ws/.git/config", "rule": "git-config", "change": "new"},
		PermissiveUsed:  {"workspace": "/ws"},
		PolicyChanged:   {"how": "set", "field": "mode", "old": "", "new": `"strict"`},
		Recovered:       {"workspace": "/ws"},
	} {
		e := base
		e.Name, e.Fields = name, fields
		if err := valid(e); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		e.Fields = nil
		if valid(e) == nil {
			t.Errorf("%s is taken without its fields", name)
		}
	}
	if bad := base; valid(bad) == nil {
		t.Error("an event without a name is taken")
	}
}
