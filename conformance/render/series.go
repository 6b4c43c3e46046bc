package render

import (
	"fmt"
	"strings"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// seriesText says in a line what a series is: its ends, its slope, and what that means.
func seriesText(s results.SampleSeries) string {
	if len(s.Values) == 0 || len(s.Seconds) == 0 {
		return s.Name + ": no readings"
	}
	show := func(v float64) string { return fmt.Sprintf("%.4g", v) }
	if s.Unit == "bytes" {
		show = func(v float64) string { return fmt.Sprintf("%.2f MiB", v/(1<<20)) }
	}
	n := len(s.Values)
	text := fmt.Sprintf("%s: %s, then %s (%d readings in %.0f s); an hour %s, 95 %% between %s and %s",
		s.Name, show(s.Values[0]), show(s.Values[n-1]), n, s.Seconds[len(s.Seconds)-1]-s.Seconds[0], show(s.PerHour), show(s.Interval[0]), show(s.Interval[1]))
	if s.Growing {
		text += "; IT GROWS"
	}
	if s.Note != "" {
		text += "; " + s.Note
	}
	return text
}

// markdownSeries lists what was measured over time.
func markdownSeries(b *strings.Builder, r *results.Report) {
	head := false
	for _, e := range r.Evidence {
		for _, run := range e.Runs {
			for _, s := range run.Samples {
				if !head {
					head = true
					b.WriteString("\n## Measured over time\n\n| case | backend | as | series |\n|---|---|---|---|\n")
				}
				fmt.Fprintf(b, "| %s | %s | %s | %s |\n", markdown(e.CaseID), markdown(e.Backend), markdown(run.As), markdown(shorten(seriesText(s), 400)))
			}
		}
	}
}
