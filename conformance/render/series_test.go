package render

import (
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// TestSeriesAreShown: in both forms, with what grows; a series of another's file may be empty.
func TestSeriesAreShown(t *testing.T) {
	r := &results.Report{Cases: []results.CaseInfo{{ID: "SOAK-02"}}, Records: []results.Record{{CaseID: "SOAK-02", Backend: "b", Mode: "compat", Platform: "linux/amd64", Status: results.Fail}}, Evidence: []results.Evidence{{CaseID: "SOAK-02", Backend: "b", Mode: "compat", Platform: "linux/amd64", Runs: []results.Run{{As: "user", Samples: []results.SampleSeries{
		{Name: "memory", Unit: "bytes", Seconds: []float64{0, 60}, Values: []float64{1 << 20, 3 << 20}, PerHour: 120 << 20, Interval: [2]float64{100 << 20, 130 << 20}, Growing: true, Note: "a <note>"},
		{Name: "descriptors", Unit: "count", Seconds: []float64{0, 60}, Values: []float64{7, 7}},
		{Name: "mounts", Unit: "count"},
		{Name: "cgroups", Unit: "count", Values: []float64{7}},
	}}}}}}
	for form, text := range map[string]string{"Markdown": strings.ReplaceAll(string(Markdown(r)), `\`, ""), "HTML": string(HTML(r))} {
		for _, want := range []string{"memory: 1.00 MiB, then 3.00 MiB (2 readings in 60 s); an hour 120.00 MiB", "IT GROWS", "descriptors: 7, then 7", "mounts: no readings", "cgroups: no readings"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", form, want)
			}
		}
		if strings.Contains(text, "<note>") {
			t.Errorf("%s shows a note as it is", form)
		}
	}
}
