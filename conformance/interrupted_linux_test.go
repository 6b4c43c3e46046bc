package conformance

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// TestInterrupted: a soak that is interrupted is judged by what it has, what was not tried
// says so, and a gate fails.
func TestInterrupted(t *testing.T) {
	need(t, "linux-native")
	keepEnvironment(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	list := selected(t, ids("LX-EXIT-01", "SOAK-02"))
	time.AfterFunc(6*time.Second, cancel)
	r, err := Verify(ctx, Options{Cases: list, As: myself(), Backends: []string{"linux-native"}, Modes: []string{"compat"}, Soak: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Interrupted || results.GateExit(r.Gates()) == 0 {
		t.Errorf("interrupted %v, gates %+v", r.Interrupted, r.Gates())
	}
	for _, rec := range r.Records {
		if rec.CaseID == "SOAK-02" && rec.Status != results.Skip && !strings.Contains(rec.Notes, "INTERRUPTED after ") {
			t.Errorf("%+v", rec)
		}
	}
	for _, e := range r.Evidence {
		if e.CaseID == "SOAK-02" && len(e.Runs) == 1 && len(e.Runs[0].Samples) > 0 {
			return
		}
	}
	t.Errorf("the soak has no series: %+v", r.Records)
}
