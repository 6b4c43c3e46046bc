package main

import (
	"strings"
	"testing"
	"unicode"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// TestTablesOfReportsAreEscaped: texts of a report move no cursor, begin no line and
// colour nothing.
func TestTablesOfReportsAreEscaped(t *testing.T) {
	tables := func(text string) map[string]string {
		r := &results.Report{Cases: []results.CaseInfo{{ID: text, Severity: "critical"}}, Required: []string{text}, Degradations: []results.Degradation{{CaseID: text}}, Permissive: []results.Permissive{{CaseID: text}}}
		for _, s := range results.Statuses() {
			r.Records = append(r.Records, results.Record{Platform: text, Backend: text, Mode: text, CaseID: text, Status: s, Notes: text})
		}
		r.Settle()
		return map[string]string{
			"summary": verifySummary(r),
			"changes": changeTable([]results.Change{{Platform: text, Backend: text, Mode: text, CaseID: text, Old: results.Status(text), New: results.Status(text), Notes: text, Worse: true}}),
		}
	}
	harmless := tables("x")
	for _, text := range []string{"\x1b[2J\x1b]0;t\x07", "a\r\nFAILS b\nc", "a\u202eb\u2066c", "a\x00b\x7f\u009b31m", "a\xff\xc0b", "a\u2028b\u2029c\u0085d", "a\u200bb\ufeff", "\tx\v"} {
		for name, got := range tables(text) {
			if a, b := strings.Count(got, "\n"), strings.Count(harmless[name], "\n"); a != b {
				t.Errorf("%s with %q has %d lines, not %d", name, text, a, b)
			}
			for _, r := range got {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("%s with %q has %U", name, text, r)
				}
			}
		}
	}
}
