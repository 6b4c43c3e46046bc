package policy

import (
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
)

func stored(t *testing.T, text string) Layer {
	t.Helper()
	l, _, err := ParseStored([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestParseAssignments(t *testing.T) {
	for in, want := range map[string]string{
		"mode=strict":                        `{"mode":"strict"}`,
		`mode="strict"`:                      `{"mode":"strict"}`,
		"limits.processes=64":                `{"limits":{"processes":64}}`,
		"limits.timeout=90s":                 `{"limits":{"timeout":"1m30s"}}`,
		"limits.timeout=":                    `{"limits":{"timeout":""}}`,
		"enabled=false":                      `{"enabled":false}`,
		`filesystem.writable=["~/a","~/b"]`:  `{"filesystem":{"writable":["~/a","~/b"]}}`,
		`env.set={"A":"b=c"}`:                `{"env":{"set":{"A":"b=c"}}}`,
		"docker.image=debian:12":             `{"docker":{"image":"debian:12"}}`,
		"docker.image=123":                   `{"docker":{"image":"123"}}`,
		`network.upstream=http://proxy:3128`: `{"network":{"upstream":"http://proxy:3128"}}`,
	} {
		l, err := ParseAssignments([]string{in})
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got, _ := l.MarshalJSON(); string(got) != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"mode=comapt": `did you mean "compat"`, "mdoe=strict": `did you mean "mode"`, "mode": "write KEY=VALUE", "=x": "set field", "version=2": "by itself",
		"limits.processes=many": "wanted a whole number", "limits.processes=1": "processes", "filesystem.writable=~/a": "wanted a list", "env.set=A": "wanted",
		`limits.processes=64, "memory": "1GiB"`: "wanted a whole number", `mode=strict","enabled":false,"backend":"none`: "unknown value", "enabled=yes": "true or false",
		`filesystem.writable=["a\u0000"]`: "NUL", "limits=1": "it is a group", "limits.processes=64 // x": "wanted a whole number",
	} {
		l, err := ParseAssignments([]string{in})
		if fault.CodeOf(err) != fault.PolicyInvalid || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "line 1") {
			got, _ := l.MarshalJSON()
			t.Errorf("%s: %v (%s), want %s", in, err, got, want)
		}
	}
	if _, err := ParseAssignments([]string{"mode=strict", "mode=compat"}); err == nil {
		t.Error("a field set twice is taken")
	}
}

func TestTakeUnsetAndDiff(t *testing.T) {
	l := stored(t, `{"version":1,"mode":"compat","autoFallback":"manual","env":{"set":{"A":"hunter2"}},"new":1}`)
	more, err := ParseAssignments([]string{"mode=strict", "limits.processes=64", `env.set={"B":"hunter3"}`, "network.upstream=http://u:hunter4@p:1"})
	if err != nil {
		t.Fatal(err)
	}
	after := stored(t, `{"version":1,"mode":"compat","autoFallback":"manual","env":{"set":{"A":"hunter2"}},"new":1}`)
	after.Take(more)
	if err := after.Unset("autoFallback"); err != nil {
		t.Fatal(err)
	}
	if err := after.Unset("mdoe"); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Error(err)
	}
	after.DropUnknown()
	var got []string
	for _, c := range Diff(l, after) {
		got = append(got, c.Field+" "+c.Old+" "+c.New)
	}
	want := `mode "compat" "strict"|autoFallback "manual" |network.upstream  "(hidden)"|env.set {"A":"(hidden)"} {"B":"(hidden)"}|limits.processes  64|new (unknown to this version) `
	if strings.Join(got, "|") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "|"), want)
	}
	if d := Diff(l, l); d != nil {
		t.Errorf("no change is %v", d)
	}
}

// What an older version reads after a rollback is legal there, and what was lost is said.
func TestMarshalOlder(t *testing.T) {
	l := stored(t, `{"version":2,"enabled":true,"backend":"linux-native","mode":"strict","autoFallback":"on-idle","network":{"mode":"off"},"env":{"set":{"A":"hunter2"}},"new":{"x":1}}`)
	out, log, err := MarshalOlder(l, 0)
	if err != nil || string(out) != `{"enabled":true,"backend":"auto","mode":"strict","autoFallback":"manual"}` {
		t.Errorf("%s %v", out, err)
	}
	if got := strings.Join(logged(log), "|"); got != `autoFallback →|new →|backend "linux-native"→"auto"|network.mode "off"→|env.set {"A":"(hidden)"}→` {
		t.Errorf("log %s", got)
	}
	out, _, err = MarshalOlder(l, 1)
	if err != nil || strings.Contains(string(out), "new") || !strings.HasPrefix(string(out), `{"version":1,`) {
		t.Errorf("%s %v", out, err)
	}
	if _, _, err := MarshalOlder(l, 2); fault.CodeOf(err) != fault.UsageInvalid {
		t.Error(err)
	}
	// Up again: nothing is invented that would be wider than what was there.
	back, _, err := ParseStored([]byte(`{"enabled":true,"backend":"auto","mode":"strict","autoFallback":"manual"}`))
	if err != nil || *back.AutoFallback != Manual || *back.Mode != Strict {
		t.Errorf("%+v %v", back, err)
	}
}
