package event

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"
)

// What we write is what encoding/json writes, read back by it.
func FuzzLine(f *testing.F) {
	f.Add("execute:start", "0123", "linux-native", "strict", "program", "sh", int64(1_700_000_000_123_456_789))
	f.Add("a\"\\", "<&>", "", "", "\u2028\x00", "\xff\xfe\U000e0001é", int64(0))
	f.Add("x", "", "", "", "k", strings.Repeat("é", maxField), int64(-1))
	f.Fuzz(func(t *testing.T, name, run, backend, mode, key, value string, at int64) {
		e := Event{Version: 1, Time: time.Unix(0, at), Name: Name(name), Run: run, Backend: backend, Mode: mode, Fields: map[string]string{key: value, "code": "0"}}
		line, err := appendLine(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		e.Time, e.Fields = e.Time.UTC().Truncate(time.Microsecond), cutFields(e.Fields)
		std, err := json.Marshal(e)
		if err != nil {
			t.Skip(err) // a year that has no RFC 3339 form
		}
		var got, want Event
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if err := json.Unmarshal(std, &want); err != nil {
			t.Fatal(err)
		}
		if !got.Time.Equal(want.Time) || !maps.Equal(got.Fields, want.Fields) {
			t.Errorf("%q\nis not %q", line, std)
		}
		got.Time, want.Time, got.Fields, want.Fields = time.Time{}, time.Time{}, nil, nil
		if got.Name != want.Name || got.Run != want.Run || got.Backend != want.Backend || got.Mode != want.Mode {
			t.Errorf("%q\nis not %q", line, std)
		}
	})
}
