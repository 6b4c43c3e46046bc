// Package trend says whether something that was measured again and again grows, and
// how sure that is.
//
// The slope is the median of the slopes between all pairs of points (Theil 1950, Sen
// 1968): up to 29 % of the points may be wrong without moving it. Its interval is the
// one that belongs to Kendall's rank test, with the variance for ties: P. K. Sen,
// "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968);
// R. O. Gilbert, "Statistical Methods for Environmental Pollution Monitoring" (1987),
// 16.5. It takes the points' errors as independent of each other. Those of memory are
// not quite, so that its interval is somewhat too narrow: who judges by it wants a
// least size as well.
package trend

import (
	"math"
	"slices"
)

// z95 is how many standard deviations hold 95 % of a normal distribution.
const z95 = 1.959964

// Least is the number of points below which no interval can be given.
const Least = 8

// Line is a fit. Slopes are in units of the values per unit of the times.
type Line struct {
	Slope     float64
	Low, High float64 // 95 %; both infinite with fewer than Least points
	Level     float64 // the median of the values
	Spread    float64 // of the values about the line: 1.4826 × the median distance
	Span      float64 // from the first time to the last
}

// Fit puts a line through points. Times ascend; points at equal times say nothing of a
// slope together. Without two different times there is no slope: it is 0, the interval
// infinite.
func Fit(times, values []float64) Line {
	n := min(len(times), len(values))
	times, values = times[:n], values[:n]
	l := Line{Low: math.Inf(-1), High: math.Inf(1), Level: median(slices.Clone(values))}
	slopes := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		for j := range i {
			if dt := times[i] - times[j]; dt > 0 {
				slopes = append(slopes, (values[i]-values[j])/dt)
			}
		}
	}
	if len(slopes) == 0 {
		return l
	}
	l.Span = times[n-1] - times[0]
	slices.Sort(slopes)
	l.Slope = ofSorted(slopes)
	l.Spread = spread(times, values, l.Slope)
	if n < Least {
		return l
	}
	half := z95 * math.Sqrt(variance(values)) / 2
	middle := float64(len(slopes)) / 2
	l.Low = slopes[clamp(math.Floor(middle-half)-1, len(slopes))]
	l.High = slopes[clamp(math.Ceil(middle+half), len(slopes))]
	return l
}

func clamp(rank float64, n int) int { return int(max(0, min(rank, float64(n-1)))) }

// variance is that of Kendall's S for these values, without a trend.
func variance(values []float64) float64 {
	term := func(t float64) float64 { return t * (t - 1) * (2*t + 5) }
	v := term(float64(len(values)))
	ties := map[float64]int{}
	for _, x := range values {
		ties[x]++
	}
	for _, t := range ties {
		v -= term(float64(t))
	}
	return v / 18
}

// spread is how far the values usually are from a line of that slope.
func spread(times, values []float64, slope float64) float64 {
	rest := make([]float64, len(values))
	for i := range values {
		rest[i] = values[i] - slope*times[i]
	}
	base := median(slices.Clone(rest))
	for i := range rest {
		rest[i] = math.Abs(rest[i] - base)
	}
	return 1.4826 * median(rest)
}

// median sorts its argument. That of nothing is 0.
func median(v []float64) float64 {
	slices.Sort(v)
	return ofSorted(v)
}

func ofSorted(v []float64) float64 {
	n := len(v)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return v[n/2]
	}
	return v[n/2-1]/2 + v[n/2]/2
}
