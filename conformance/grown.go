package conformance

import (
	"fmt"
	"math"
	"strings"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
	"github.com/qiming-sandbox/qsandbox/conformance/trend"
)

// memoryBound is how much memory may grow, in percent of its level in an hour.
const memoryBound = 5

// What memory moves by without a leak: a share of its level, or some bytes.
const (
	memoryShare = 0.05
	memoryLeast = 1 << 20
	memoryNoise = 4 // times the spread of the readings
)

// series are the readings as the report has them, each judged.
func (m *gauge) series() (out []results.SampleSeries) {
	for i, what := range measured {
		s := results.SampleSeries{Name: what, Unit: "count", Seconds: m.times, Values: m.values[i]}
		if what == memory || what == sessionMemory {
			s.Unit = "bytes"
		}
		judgeSeries(&s)
		out = append(out, s)
	}
	return out
}

// judgeSeries fits a series, and says whether it grows. What a run as short as this
// cannot tell is said in the note, and not judged.
func judgeSeries(s *results.SampleSeries) {
	l := trend.Fit(s.Seconds, s.Values)
	const hour = 3600
	s.PerHour = l.Slope * hour
	if l.Level > 0 {
		s.Percent = 100 * s.PerHour / l.Level
	}
	if math.IsInf(l.Low, -1) {
		s.Note = fmt.Sprintf("%d readings are too few for an interval", len(s.Values))
		return
	}
	s.Interval = [2]float64{l.Low * hour, l.High * hour}
	least, bound := 1.0, 0.0 // a count grows by whole ones, and may not
	if s.Unit == "bytes" {
		least = max(memoryLeast, memoryShare*l.Level, memoryNoise*l.Spread)
		bound = memoryBound / 100.0 * l.Level / hour
	}
	s.Growing = l.Low > bound && l.Slope*l.Span >= least
	if s.Unit == "bytes" && l.Level > 0 {
		s.Note = canTell(l, least)
	}
}

// canTell says which slope of memory this run would have noticed.
func canTell(l trend.Line, least float64) string {
	const hour = 3600
	percent := 100 * max(least/l.Span, (l.High-l.Low)/2) * hour / l.Level
	if percent <= memoryBound {
		return fmt.Sprintf("this run tells growth from %s an hour on; the bound is %d %%", percentText(percent), memoryBound)
	}
	hours := least / (l.Level * memoryBound / 100)
	return fmt.Sprintf("this run cannot tell %d %% an hour, only growth from %s an hour on (%.1f MiB in all); that takes about %.1f h", memoryBound, percentText(percent), least/(1<<20), hours)
}

func percentText(p float64) string {
	if p >= 100 {
		return fmt.Sprintf("%.0f %%", p)
	}
	return fmt.Sprintf("%.2g %%", p)
}

// growth says which series grow, "" for none.
func growth(list []results.SampleSeries) string {
	var out []string
	for _, s := range list {
		if s.Growing {
			out = append(out, fmt.Sprintf("%s grow by %.4g %s an hour (95 %%: %.4g to %.4g), from %.0f to %.0f", s.Name, s.PerHour, s.Unit, s.Interval[0], s.Interval[1], s.Values[0], s.Values[len(s.Values)-1]))
		}
	}
	return strings.Join(out, "; ")
}
