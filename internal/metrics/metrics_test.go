package metrics

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/event"
)

// logged is a log with events in it.
func logged(t *testing.T, list ...event.Event) (path string, write func(...event.Event)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "audit.jsonl")
	write = func(list ...event.Event) {
		t.Helper()
		for _, e := range list {
			e.Version, e.Time = 1, time.Now()
			if err := event.Audit(path).Write(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(list...)
	return path, write
}

func started(run string) event.Event {
	return event.Event{Name: event.ExecuteStart, Run: run, Backend: "linux-native", Mode: "compat"}
}

func ended(run string, ms string) event.Event {
	return event.Event{Name: event.ExecuteComplete, Run: run, Backend: "linux-native", Mode: "compat",
		Fields: map[string]string{"cause": "exited", "duration_ms": ms, "denials_guessed": "2"}}
}

func text(t *testing.T, path string) string {
	t.Helper()
	c, unkept, err := Update(path)
	if err != nil || unkept != nil {
		t.Fatal(err, unkept)
	}
	return c.Text(time.Unix(5, 0))
}

func want(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains(text, "\n"+l+"\n") {
			t.Errorf("%q is not in\n%s", l, text)
		}
	}
}

// TestCountsOutliveTheProgram: each event is counted once, whoever counts and how often,
// and what was counted stays when the log is gone.
func TestCountsOutliveTheProgram(t *testing.T) {
	path, write := logged(t, started("a"), started("b"), ended("a", "70"),
		event.Event{Name: event.Unavailable, Fields: map[string]string{"reason": "hunter2"}}, event.Event{Name: event.PermissiveUsed})
	for range 3 {
		got := text(t, path)
		want(t, got, "qsandbox_degrade_to_none_total 1", "qsandbox_degraded 1", "qsandbox_permissive_runs_total 1", "qsandbox_sessions_open 1",
			`qsandbox_sessions_ended_total{backend="linux-native",mode="compat",cause="exited"} 1`, `qsandbox_denials_total{certain="no"} 2`,
			`qsandbox_session_duration_seconds_bucket{le="0.05"} 0`, `qsandbox_session_duration_seconds_bucket{le="0.1"} 1`,
			`qsandbox_session_errors_total{code="SANDBOX_UNAVAILABLE"} 0`)
		if strings.Contains(got, "hunter2") {
			t.Error("a reason is in the metrics")
		}
	}
	write(event.Event{Name: event.Recovered}, event.Event{Name: event.ExecuteError, Run: "b", Fields: map[string]string{"code": "LAUNCH_FAILED"}},
		event.Event{Name: event.ExecuteError, Run: "c", Fields: map[string]string{"code": "x\"}\nevil 1"}})
	want(t, text(t, path), "qsandbox_degrade_to_none_total 1", "qsandbox_degraded 0", "qsandbox_sessions_open 0",
		`qsandbox_session_errors_total{code="LAUNCH_FAILED"} 1`, `qsandbox_session_errors_total{code="other"} 1`)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want(t, text(t, path), "qsandbox_degrade_to_none_total 1", "qsandbox_permissive_runs_total 1", "qsandbox_audit_gaps_total 1")
}

// TestDamagedCounts begin anew, and that is told.
func TestDamagedCounts(t *testing.T) {
	path, _ := logged(t, started("a"))
	for _, bad := range []string{"{", `{"version":9}`, `{"version":1,"durations":{"buckets":[1]}}`, `{"version":1,"started":null}`} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), File), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		c, unkept, err := Update(path)
		if err != nil || unkept == nil {
			t.Fatalf("%s: %v %v", bad, unkept, err)
		}
		want(t, c.Text(time.Now()), `qsandbox_sessions_started_total{backend="linux-native",mode="compat"} 1`)
		want(t, text(t, path), `qsandbox_sessions_started_total{backend="linux-native",mode="compat"} 1`) // and are kept again
	}
}

// TestBounded: a log that is full of names and of runs without an end costs a bounded
// state, and no line of the text can be forged.
func TestBounded(t *testing.T) {
	c := fresh()
	for i := range mostOpen + 50 {
		c.Add(event.Event{Name: event.ExecuteStart, Run: fmt.Sprint(i), Time: time.Unix(int64(i), 0), Backend: fmt.Sprint(i) + "\"} 1\nevil_total 7"})
	}
	if len(c.Open) != mostOpen || len(c.Started) > mostLabels+1 {
		t.Errorf("%d runs, %d series", len(c.Open), len(c.Started))
	}
	if c.oldest() != 50 {
		t.Errorf("the oldest is %d: not the oldest ones were forgotten", c.oldest())
	}
	if strings.Contains(c.Text(time.Now()), "\nevil_total") {
		t.Error("a line was forged")
	}
}

// TestPromtool: Prometheus' own tool takes the text and the rules, and its own engine
// raises the alerts for one degradation and none on a quiet machine.
func TestPromtool(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not here (Debian: prometheus)")
	}
	path, _ := logged(t, started("a"), ended("a", "70"), event.Event{Name: event.Unavailable})
	check := exec.Command(tool, "check", "metrics")
	check.Stdin = strings.NewReader(text(t, path))
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("check metrics: %v\n%s", err, out)
	}
	rules, err := filepath.Abs("../../docs/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "check", "rules", rules).CombinedOutput(); err != nil || !bytes.Contains(out, []byte("8 rules found")) {
		t.Errorf("check rules: %v\n%s", err, out)
	}
	cases, err := os.ReadFile("testdata/alerts_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "alerts_test.yml")
	if err := os.WriteFile(file, bytes.ReplaceAll(cases, []byte("RULES"), []byte(rules)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("test rules: %v\n%s", err, out)
	}
}
