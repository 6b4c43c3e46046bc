package main

import (
	"fmt"
	"strings"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// verifySummary is what verify and report say to people.
func verifySummary(rep *results.Report) string {
	var b strings.Builder
	s := rep.Summary
	fmt.Fprintf(&b, "%s%d records: %d pass, %d fail, %d invalid, %d known limits, %d skipped\n\n", heading("result"), s.Total, s.Pass, s.Fail, s.Invalid, s.KnownLimit, s.Skip)
	var t table
	for _, r := range rep.Metrics.PassRate {
		rate := "nothing tried"
		if r.Rate != nil {
			rate = fmt.Sprintf("%.1f %% of %d", 100**r.Rate, r.Tried)
		}
		t.row(r.Platform, r.Backend, r.Mode, rate)
	}
	b.WriteString(t.lines("  "))
	for _, st := range []results.Status{results.Fail, results.Invalid, results.KnownLimit} {
		b.WriteString(withStatus(rep, st))
	}
	b.WriteString("\n" + heading("gates"))
	t = nil
	for _, g := range rep.Gates() {
		word := paintOut(green, "holds")
		if !g.Holds {
			word = paintOut(red, "FAILS")
		}
		b.WriteString("  " + word + "  " + printable(g.Name+": "+g.Detail) + "\n")
	}
	return b.String()
}

func withStatus(rep *results.Report, st results.Status) string {
	var t table
	for _, r := range rep.Records {
		if r.Status == st {
			t.row(r.CaseID, r.Backend, r.Mode, clipped(r.Notes))
		}
	}
	if len(t) == 0 {
		return ""
	}
	return "\n" + heading(string(st)) + t.lines("  ")
}

func clipped(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
