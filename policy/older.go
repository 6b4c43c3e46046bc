package policy

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// beforeVersions are the fields and values that the desktop client knew before there was
// a version in a stored policy, which is called version 0.
var beforeVersions = map[string][]string{
	"enabled":      nil,
	"backend":      {"auto", "docker", "macos-seatbelt", "linux-bwrap", "windows-sandbox"},
	"mode":         {"strict", "compat"},
	"autoFallback": {"manual", "startup-only", "session"},
	"windowsMode":  {"read-only", "workspace-write"},
}

// MarshalOlder writes a stored policy as an older version has it, for a rollback: what
// that version knows is kept, the rest is dropped, and a value that it would not know
// becomes the field's default. Each loss is one Migration. The older version cannot keep
// what it does not know, so a policy may become wider: the log says so. Versions are 0
// (before there were versions) to CurrentVersion. Errors: USAGE_INVALID for another.
func MarshalOlder(l Layer, version int) ([]byte, []Migration, error) {
	if version < 0 || version > CurrentVersion {
		return nil, nil, fault.New(fault.UsageInvalid, "roll back to version", strconv.Itoa(version),
			"this program knows the versions 0 to "+strconv.Itoa(CurrentVersion))
	}
	var log []Migration
	for _, name := range l.Unknown() {
		log = append(log, Migration{Field: name, Why: "unknown to version " + strconv.Itoa(version) + ": dropped"})
	}
	l.DropUnknown()
	if version == CurrentVersion {
		l.Version = nil
		out, err := MarshalStored(l)
		return out, log, err
	}
	var t tree
	for _, f := range Fields() {
		raw, set := l.Value(f.Name)
		if !set || f.Name == "version" {
			continue
		}
		values, known := beforeVersions[f.Name]
		if !known {
			log = append(log, Migration{Field: f.Name, Old: shown(f.Name, raw), Why: "unknown to version 0: dropped; it does not hold there"})
			continue
		}
		if kept := olderValue(f, raw, values); string(kept) != string(raw) {
			log = append(log, Migration{f.Name, string(raw), string(kept), "version 0 does not know the value"})
			raw = kept
		}
		t.put(f.path(), raw)
	}
	return t.bytes(), log, nil
}

// olderValue gives a value that an older version knows.
func olderValue(f Field, raw json.RawMessage, values []string) json.RawMessage {
	var text string
	if values == nil || json.Unmarshal(raw, &text) == nil && slices.Contains(values, text) {
		return raw
	}
	def, _ := f.JSON(Default()) // a default always marshals
	return def
}
