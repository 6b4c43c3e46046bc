package trend

import (
	"math"
	"math/rand/v2"
	"testing"
)

func series(n int, f func(i float64) float64) (times, values []float64) {
	for i := range n {
		times, values = append(times, float64(i)), append(values, f(float64(i)))
	}
	return times, values
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// TestFit: lines that are known, and a wrong third that does not move them.
func TestFit(t *testing.T) {
	for name, c := range map[string]struct {
		f         func(i float64) float64
		slope     float64
		low, high float64
	}{
		"constant":    {func(i float64) float64 { return 7 }, 0, 0, 0},
		"exact":       {func(i float64) float64 { return 3 + 2*i }, 2, 2, 2},
		"falling":     {func(i float64) float64 { return -i }, -1, -1, -1},
		"wild points": {func(i float64) float64 { return 5*i + 1e6*float64(int(i)%5/4) }, 5, 5, math.Inf(1)},
	} {
		l := Fit(series(40, c.f))
		if !near(l.Slope, c.slope) || l.Low > l.Slope || l.High < l.Slope || l.Low < c.low-1e-9 && name != "wild points" || l.High > c.high+1e-9 {
			t.Errorf("%s: %+v", name, l)
		}
		if l.Span != 39 {
			t.Errorf("%s: span %v", name, l.Span)
		}
	}
}

// TestByHand: N = 28, Var = 8·7·21/18 = 65.33, C = 15.84, ranks 6.08 and 21.92.
func TestByHand(t *testing.T) {
	times := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	values := []float64{10, 15, 14, 20, 25, 23, 30, 33}
	if v := variance(values); !near(v, 8*7*21/18.0) {
		t.Errorf("variance %v", v)
	}
	// Of the 28 slopes, sorted, the 14th and 15th are 3.25 and 23/7; the half width in
	// ranks is 7.92, so that the 6th and the 23rd bound the interval.
	l := Fit(times, values)
	if !near(l.Slope, (3.25+23.0/7)/2) || !near(l.Low, 2.5) || !near(l.High, 5) {
		t.Errorf("%+v", l)
	}
	few := Fit(times[:7], values[:7])
	if !math.IsInf(few.Low, -1) || !math.IsInf(few.High, 1) {
		t.Errorf("an interval from %d points: %+v", 7, few)
	}
	if none := Fit([]float64{1, 1}, []float64{2, 3}); none.Slope != 0 || !math.IsInf(none.High, 1) {
		t.Errorf("points at one time: %+v", none)
	}
	if none := Fit(nil, nil); none.Slope != 0 || none.Level != 0 {
		t.Errorf("nothing: %+v", none)
	}
}

// TestSteps: one step is no growth, three are.
func TestSteps(t *testing.T) {
	for steps, grows := range map[float64]bool{1: false, 3: true, 10: true} {
		l := Fit(series(40, func(i float64) float64 { return math.Floor(i * (steps + 1) / 40) }))
		if l.Low > 0 != grows {
			t.Errorf("%v steps: %+v", steps, l)
		}
	}
}

// TestCoverage: with independent noise the interval holds the true slope about 95
// times of a hundred.
func TestCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	in := 0
	const rounds = 400
	for range rounds {
		l := Fit(series(40, func(i float64) float64 { return 100 + 0.3*i + 4*r.NormFloat64() }))
		if l.Low <= 0.3 && 0.3 <= l.High {
			in++
		}
		if l.Spread < 1 || l.Spread > 9 {
			t.Fatalf("spread %v of 4", l.Spread)
		}
	}
	if share := float64(in) / rounds; share < 0.92 || share > 0.985 {
		t.Errorf("%.3f of the intervals hold the slope", share)
	}
}
