package policy

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// logged gives "field old→new" of all entries.
func logged(log []Migration) []string {
	var out []string
	for _, m := range log {
		out = append(out, m.Field+" "+m.Old+"→"+m.New)
	}
	return out
}

// TestParseStored: what a stored policy is read as, what is logged, what is written back.
func TestParseStored(t *testing.T) {
	const v1 = `"version":1,"mode":"compat","autoFallback":"startup-only"`
	for _, c := range []struct {
		name, in string
		log      []string
		out      string
	}{
		{"complete", `{` + v1 + `}`, nil, `{` + v1 + `}`},
		{"nothing", `{}`, []string{`version →1`, `autoFallback →"startup-only"`, `mode →"compat"`}, `{` + v1 + `}`},
		{"missing fallback", `{"version":1,"mode":"strict"}`, []string{`autoFallback →"startup-only"`}, `{"version":1,"mode":"strict","autoFallback":"startup-only"}`},
		{"missing mode", `{"version":1,"autoFallback":"manual"}`, []string{`mode →"compat"`}, `{"version":1,"mode":"compat","autoFallback":"manual"}`},
		{"unknown fallback", `{"version":1,"mode":"compat","autoFallback":"retry"}`, []string{`autoFallback "retry"→"manual"`}, `{"version":1,"mode":"compat","autoFallback":"manual"}`},
		{"invalid mode", `{"version":1,"mode":7,"autoFallback":"manual"}`, []string{`mode 7→"compat"`}, `{"version":1,"mode":"compat","autoFallback":"manual"}`},
		{"permissive", `{"version":1,"mode":"permissive","autoFallback":"manual"}`, []string{`mode "permissive"→"compat"`}, `{"version":1,"mode":"compat","autoFallback":"manual"}`},
		{"invalid backend and limit", `{"backend":"bwrap","limits":{"processes":-4,"tmp":null},` + v1 + `}`,
			[]string{`backend "bwrap"→"auto"`, `limits.processes -4→4096`, `limits.tmp null→"2GiB"`}, `{"version":1,"backend":"auto","mode":"compat","autoFallback":"startup-only","limits":{"processes":4096,"tmp":"2GiB"}}`},
		{"legacy", `{"windows":{"sandbox":{"mode":"read-only"}},` + v1 + `}`, []string{`windows.sandbox.mode "read-only"→"read-only"`}, `{` + v1 + `,"windowsMode":"read-only"}`},
		{"legacy dotted", `{"windows.sandbox.mode":"read-only",` + v1 + `}`, []string{`windows.sandbox.mode "read-only"→"read-only"`}, `{` + v1 + `,"windowsMode":"read-only"}`},
		{"legacy invalid", `{"windows":{"sandbox":{"mode":"full"}},` + v1 + `}`, []string{`windows.sandbox.mode "full"→"workspace-write"`}, `{` + v1 + `,"windowsMode":"workspace-write"}`},
		{"legacy loses", `{"windows":{"sandbox":{"mode":"workspace-write","x":1}},"windowsMode":"read-only",` + v1 + `}`,
			[]string{`windows.sandbox.x →`, `windows.sandbox.mode "workspace-write"→`}, `{` + v1 + `,"windowsMode":"read-only","windows":{"sandbox":{"x":1}}}`},
		{"lists keep their good entries", `{"filesystem":{"denyRead":["a",5,"b\u0000"]},` + v1 + `}`, []string{`filesystem.denyRead 5, "b\u0000"→`}, `{` + v1 + `,"filesystem":{"denyRead":["a"]}}`},
		{"no list", `{"filesystem":{"denyRead":"a"},` + v1 + `}`, []string{`filesystem.denyRead "a"→[]`}, `{` + v1 + `,"filesystem":{"denyRead":[]}}`},
		{"no group", `{"network":"off",` + v1 + `}`, []string{`network "off"→`}, `{` + v1 + `}`},
		{"secrets stay out", `{"env":{"set":{"A":"hunter2","B":7}},"network":{"upstream":"http://u:hunter2@x y"},` + v1 + `}`, []string{`env.set "B"→`, `network.upstream →""`}, `{` + v1 + `,"network":{"upstream":""},"env":{"set":{"A":"hunter2"}}}`},
		{"twice", `{"mode":"compat","mode":"strict","version":1,"autoFallback":"manual"}`, []string{`mode →`}, `{"version":1,"mode":"strict","autoFallback":"manual"}`},
		{"unknown", `{"z":{"b":1, "a" : [1.0,{}]},"env":{"y":"\u0041"},"a.b":1,` + v1 + `}`, []string{`z →`, `env.y →`, `a.b →`}, `{` + v1 + `,"z":{"b":1, "a" : [1.0,{}]},"env":{"y":"\u0041"},"a.b":1}`},
		{"newer", `{"version":2,"mode":"compat","autoFallback":"on-idle","backend":{"x":1},"new":"\u00e9 é"}`,
			[]string{`version 2→2`, `autoFallback "on-idle"→"manual"`, `backend {"x":1}→"auto"`, `new →`}, `{"version":2,"backend":{"x":1},"mode":"compat","autoFallback":"on-idle","new":"\u00e9 é"}`},
		{"session gets a meaning", `{"mode":"compat","autoFallback":"session"}`, []string{`version →1`, `autoFallback "session"→"session"`}, `{"version":1,"mode":"compat","autoFallback":"session"}`},
		{"bad version", `{"version":"x","mode":"compat","autoFallback":"session"}`, []string{`version "x"→1`}, `{"version":1,"mode":"compat","autoFallback":"session"}`},
	} {
		l, log, err := ParseStored([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := logged(log); !slices.Equal(got, c.log) {
			t.Errorf("%s: log\n%q, want\n%q", c.name, got, c.log)
		}
		out, err := MarshalStored(l)
		if err != nil || string(out) != c.out {
			t.Errorf("%s: written as (%v)\n%s, want\n%s", c.name, err, out, c.out)
		}
		if e, err := Merge(BuiltIn(), l); err != nil || e.Policy.Version != CurrentVersion {
			t.Errorf("%s: cannot be merged: %v", c.name, err)
		}
		for _, m := range log {
			if m.Why == "" || strings.Contains(m.Old+m.New+m.Why, "hunter2") {
				t.Errorf("%s: log entry %+v", c.name, m)
			}
		}
	}
}

func TestStoredIsNotJSON(t *testing.T) {
	for _, in := range []string{``, `null`, `[]`, `{`, `"x"`, strings.Repeat(`{"a":`, 1000)} {
		if _, _, err := ParseStored([]byte(in)); fault.CodeOf(err) != fault.PolicyInvalid {
			t.Errorf("%.20s: %v", in, err)
		}
	}
}

// TestStoredChangeWins: a field that someone sets is written, even where a newer
// version's value had been kept; and a rollback forgets what is unknown.
func TestStoredChangeWins(t *testing.T) {
	l, _, err := ParseStored([]byte(`{"version":2,"mode":"fortress","autoFallback":"manual","new":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Unknown(); !slices.Equal(got, []string{"mode", "new"}) {
		t.Errorf("unknown %v", got)
	}
	l.Mode = new(Compat)
	if out, _ := MarshalStored(l); string(out) != `{"version":2,"mode":"compat","autoFallback":"manual","new":1}` {
		t.Errorf("got %s", out)
	}
	l.DropUnknown()
	l.Version = nil
	if out, _ := MarshalStored(l); string(out) != `{"version":1,"mode":"compat","autoFallback":"manual"}` {
		t.Errorf("got %s", out)
	}
}

// FuzzStored: no panic; reading what was written changes nothing more.
func FuzzStored(f *testing.F) {
	for _, s := range []string{`{}`, fullFile, `{"version":2,"x":{"y":[1,2]},"mode":1}`, `{"windows":{"sandbox":{"mode":"x","a":1}}}`, `{"env":1,"env":{"set":{"A":1}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, _, err := ParseStored(data)
		if err != nil {
			return
		}
		first, err := MarshalStored(l)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := ParseStored(first)
		if err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		second, _ := MarshalStored(again)
		if string(first) != string(second) {
			t.Fatalf("written as\n%s, then as\n%s", first, second)
		}
		if e, err := Merge(l); err != nil {
			t.Fatal(err)
		} else if f, err := Merge(again); err != nil || !reflect.DeepEqual(e.Policy, f.Policy) {
			t.Fatalf("%+v\n%+v (%v)", e.Policy, f.Policy, err)
		}
	})
}
