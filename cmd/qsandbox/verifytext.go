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
	if rep.Matrix == results.Quick {
		b.WriteString("the QUICK matrix: a part of the cases, in one mode each\n\n")
	}
	if rep.Interrupted {
		b.WriteString("INTERRUPTED: not all was tried\n\n")
	}
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
		b.WriteString(gateLine(g))
	}
	return b.String()
}

// gateLine is one gate for people.
func gateLine(g results.Gate) string {
	word := paintOut(green, "holds")
	if !g.Holds {
		word = paintOut(red, "FAILS")
	}
	return "  " + word + "  " + printable(g.Name+": "+g.Detail) + "\n"
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
