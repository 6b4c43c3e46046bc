package render

import (
	"fmt"
	"strings"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// JUnit gives JUnit XML: a suite for each platform, backend and mode. A failure and
// an invalid case are failures; a skip and a known limit are skipped, with the reason.
func JUnit(r *results.Report) []byte {
	var b strings.Builder
	s := r.Summary
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	fmt.Fprintf(&b, `<testsuites name="qsandbox verify" tests="%d" failures="%d" skipped="%d" time="%.3f">`+"\n", s.Total, s.Fail+s.Invalid, s.Skip+s.KnownLimit, float64(r.DurationMS)/1000)
	titles := map[string]string{}
	for _, c := range r.Cases {
		titles[c.ID] = c.Title
	}
	for _, rate := range r.Metrics.PassRate {
		var list []results.Record
		var sum results.Report
		for _, x := range r.Records {
			if x.Platform == rate.Platform && x.Backend == rate.Backend && x.Mode == rate.Mode {
				list = append(list, x)
			}
		}
		sum.Records = list
		sum.Settle()
		suite := rate.Platform + " " + rate.Backend + " " + rate.Mode
		fmt.Fprintf(&b, ` <testsuite name="%s" tests="%d" failures="%d" skipped="%d">`+"\n", line(suite), sum.Summary.Total, sum.Summary.Fail+sum.Summary.Invalid, sum.Summary.Skip+sum.Summary.KnownLimit)
		for _, x := range list {
			junitCase(&b, suite, titles[x.CaseID], x)
		}
		b.WriteString(" </testsuite>\n")
	}
	b.WriteString("</testsuites>\n")
	return []byte(b.String())
}

func junitCase(b *strings.Builder, suite, title string, x results.Record) {
	fmt.Fprintf(b, `  <testcase classname="%s" name="%s" time="%.3f"`, line(suite), line(x.CaseID+" "+title), float64(x.DurationMS)/1000)
	switch x.Status {
	case results.Fail, results.Invalid:
		fmt.Fprintf(b, `><failure type="%s" message="%s"/></testcase>`+"\n", line(string(x.Status)), line(x.Notes))
	case results.Skip:
		fmt.Fprintf(b, `><skipped message="%s"/></testcase>`+"\n", line(x.Notes))
	case results.KnownLimit:
		fmt.Fprintf(b, `><skipped message="known limit: %s"/></testcase>`+"\n", line(x.Notes))
	default:
		b.WriteString("/>\n")
	}
}
