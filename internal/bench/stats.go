package main

import (
	"math"
	"slices"
)

// Row is one figure with its 95 % interval.
type Row struct {
	Group  string  `json:"group"`
	Name   string  `json:"name"`
	Unit   string  `json:"unit"` // ms, x (a ratio), /s, MiB, faults
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Lo     float64 `json:"lo"`
	Hi     float64 `json:"hi"`
	Higher bool    `json:"higher_is_better,omitempty"`
	Bar    float64 `json:"bar,omitempty"` // what it should keep to; 0: none
}

// row makes a figure from samples, which it sorts. The interval of the median is that
// of order statistics: nothing is supposed about how times are spread.
func row(group, name, unit string, samples []float64) Row {
	slices.Sort(samples)
	r := Row{Group: group, Name: name, Unit: unit, N: len(samples)}
	if r.N == 0 {
		return r
	}
	n := float64(r.N)
	half := 1.96 * math.Sqrt(n) / 2
	at := func(rank float64) float64 { return samples[min(r.N-1, max(0, int(rank)))] }
	r.Lo, r.Hi = at(math.Floor(n/2-half)), at(math.Ceil(n/2+half))
	r.Median = (samples[(r.N-1)/2] + samples[r.N/2]) / 2
	return r
}

// ratios divides round by round, so that what disturbs a whole round does not count.
//
//lint:ignore U1000 measuring needs Linux
func ratios(a, b []float64) []float64 {
	out := make([]float64, 0, len(a))
	for i := range min(len(a), len(b)) {
		if b[i] > 0 {
			out = append(out, a[i]/b[i])
		}
	}
	return out
}

// misses tells whether a figure does not keep to its bar.
func (r Row) misses() bool {
	if r.Bar == 0 || r.N == 0 {
		return false
	}
	if r.Higher {
		return r.Median < r.Bar
	}
	return r.Median > r.Bar
}

// worse tells whether a figure is worse than before by more than a tenth, and by more
// than chance: the intervals do not meet.
func (r Row) worse(before Row) bool {
	if r.N < leastN || before.N < leastN {
		return false
	}
	if r.Higher {
		return r.Median < before.Median/tolerance && r.Hi < before.Lo
	}
	return r.Median > before.Median*tolerance && r.Lo > before.Hi
}

// leastN is the least number of samples whose whole range holds the median with 95 %
// (1 - 2/2⁶ is 97 %).
const leastN = 6

// tolerance is how much worse a figure may become before -compare fails.
const tolerance = 1.10

// comparable tells the figures that mean something on another day: those of one run
// against each other, and sizes. Times depend on what else the machine does.
func (r Row) comparable() bool { return r.Unit == "x" || r.Unit == "MiB" || r.Unit == "faults" }
