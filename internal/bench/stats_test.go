package main

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// The interval holds the true median about as often as it says.
func TestIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const tries = 2000
	hit := 0
	for range tries {
		s := make([]float64, 51)
		for i := range s {
			s[i] = r.ExpFloat64() // median ln 2, and far from normal
		}
		if row := row("g", "n", "ms", s); row.Lo <= 0.6931 && 0.6931 <= row.Hi {
			hit++
		}
	}
	if share := float64(hit) / tries; share < 0.93 || share > 0.99 {
		t.Errorf("%.3f of the intervals hold the median", share)
	}
}

func TestRowOfFew(t *testing.T) {
	if r := row("g", "n", "ms", nil); r.N != 0 || r.misses() {
		t.Errorf("%+v", r)
	}
	if r := row("g", "n", "ms", []float64{3}); r.Median != 3 || r.Lo != 3 || r.Hi != 3 {
		t.Errorf("%+v", r)
	}
	if r := row("g", "n", "ms", []float64{4, 1, 3, 2}); r.Median != 2.5 || r.Lo != 1 || r.Hi != 4 {
		t.Errorf("%+v", r)
	}
}

func TestWorse(t *testing.T) {
	was := Row{Unit: "x", N: 9, Median: 1, Lo: 0.95, Hi: 1.05}
	for _, c := range []struct {
		now  Row
		want bool
	}{
		{Row{N: 9, Median: 1.2, Lo: 1.1, Hi: 1.3}, true},
		{Row{N: 9, Median: 1.2, Lo: 1.0, Hi: 1.4}, false},   // may be chance
		{Row{N: 9, Median: 1.08, Lo: 1.06, Hi: 1.1}, false}, // too little
		{Row{N: 9, Median: 0.5, Lo: 0.4, Hi: 0.6}, false},
		{Row{Higher: true, N: 9, Median: 0.8, Lo: 0.7, Hi: 0.9}, true},
		{Row{Higher: true, N: 9, Median: 1.5, Lo: 1.4, Hi: 1.6}, false},
		{Row{}, false},
	} {
		if got := c.now.worse(was); got != c.want {
			t.Errorf("%+v: worse %v", c.now, got)
		}
	}
}

func TestCompareSavesAndCounts(t *testing.T) {
	path := t.TempDir() + "/out/bench.json"
	r := newResult(true)
	r.add(Row{Group: "start", Name: "native", Unit: "x", N: 9, Median: 1, Lo: 0.9, Hi: 1.1}, Row{Group: "start", Name: "bare", Unit: "ms", N: 9, Median: 1, Lo: 1, Hi: 1})
	if err := r.save(path); err != nil {
		t.Fatal(err)
	}
	before, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	now := &Result{Time: time.Now()}
	now.add(Row{Group: "start", Name: "native", Unit: "x", N: 9, Median: 2, Lo: 1.9, Hi: 2.1}, Row{Group: "start", Name: "bare", Unit: "ms", N: 9, Median: 5, Lo: 5, Hi: 5})
	var text strings.Builder
	if n := now.compare(&text, before); n != 1 || !strings.Contains(text.String(), "WORSE") {
		t.Errorf("%d regressions:\n%s", n, text.String())
	}
	if n := now.compare(&text, now); n != 0 {
		t.Errorf("%d regressions against itself", n)
	}
}

// Columns begin and end at the same place in every line.
func TestTableLinesUp(t *testing.T) {
	r := newResult(true)
	r.add(Row{Group: "× bwrap", Name: "native", Unit: "x", N: 200, Median: 0.5, Lo: 0.4, Hi: 0.6, Bar: 1}, Row{Group: "× bwrap", Name: "long name, longer", Unit: "ms", N: 9, Median: 1234, Lo: 1, Hi: 2000, Bar: 1})
	var b strings.Builder
	r.print(&b)
	var ends []int
	for line := range strings.Lines(b.String()) {
		if i := strings.Index(line, " … "); i > 0 {
			ends = append(ends, len([]rune(line[:strings.Index(line, "≤")])))
		}
	}
	if len(ends) != 2 || ends[0] != ends[1] {
		t.Errorf("%v\n%s", ends, b.String())
	}
}
