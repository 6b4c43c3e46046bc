package conformance

import (
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// judgedSeries makes a series of n readings over some hours, and judges it.
func judgedSeries(unit string, hours float64, n int, f func(hour float64) float64) results.SampleSeries {
	s := results.SampleSeries{Name: memory, Unit: unit}
	for i := range n {
		at := hours * float64(i) / float64(n-1)
		s.Seconds, s.Values = append(s.Seconds, at*3600), append(s.Values, f(at))
	}
	judgeSeries(&s)
	return s
}

// TestJudgeSeries: what grows beyond the bound does, noise and what stays below do not,
// and a run that is too short says so.
func TestJudgeSeries(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const level = 40 << 20
	noise := func() float64 { return r.NormFloat64() * level / 100 }
	saw := func(h float64) float64 { return level/50*(h*7-float64(int(h*7))) + noise() }
	for name, c := range map[string]struct {
		unit  string
		hours float64
		f     func(h float64) float64
		grows bool
		says  string
	}{
		"24 h, flat":                 {"bytes", 24, func(float64) float64 { return level }, false, "the bound is 5 %"},
		"24 h, noise":                {"bytes", 24, func(float64) float64 { return level + noise() }, false, "the bound is 5 %"},
		"24 h, sawtooth":             {"bytes", 24, func(h float64) float64 { return level + saw(h) }, false, "the bound is 5 %"},
		"24 h, 2 % an hour":          {"bytes", 24, func(h float64) float64 { return level*(1+0.02*h) + noise() }, false, "the bound is 5 %"},
		"24 h, 20 % an hour":         {"bytes", 24, func(h float64) float64 { return level*(1+0.2*h) + noise() }, true, "the bound is 5 %"},
		"24 h, falling":              {"bytes", 24, func(h float64) float64 { return level*(3-0.1*h) + noise() }, false, "the bound is 5 %"},
		"3 s, noise":                 {"bytes", 3.0 / 3600, func(float64) float64 { return level + noise() }, false, "cannot tell 5 % an hour"},
		"3 s, 5 % more an hour":      {"bytes", 3.0 / 3600, func(h float64) float64 { return level*(1+0.05*h) + noise() }, false, "cannot tell 5 % an hour"},
		"3 s, twice as much":         {"bytes", 3.0 / 3600, func(h float64) float64 { return level*(1+h*1200) + noise() }, true, "cannot tell 5 % an hour"},
		"24 h, one descriptor":       {"count", 24, func(h float64) float64 { return 10 + float64(int(h/12)) }, false, ""},
		"24 h, a descriptor an hour": {"count", 24, func(h float64) float64 { return 10 + float64(int(h)) }, true, ""},
		"24 h, now and then one":     {"count", 24, func(float64) float64 { return 10 + float64(r.IntN(2)) }, false, ""},
	} {
		s := judgedSeries(c.unit, c.hours, 200, c.f)
		if s.Growing != c.grows || !strings.Contains(s.Note, c.says) {
			t.Errorf("%s: growing %v, %v %v (%s)", name, s.Growing, s.PerHour, s.Interval, s.Note)
		}
		if (growth([]results.SampleSeries{s}) != "") != c.grows {
			t.Errorf("%s: %q", name, growth([]results.SampleSeries{s}))
		}
	}
	if s := judgedSeries("count", 1, 5, func(h float64) float64 { return h * 100 }); s.Growing || !strings.Contains(s.Note, "too few") {
		t.Errorf("five readings: %+v", s)
	}
}

// TestMore: one thing more is too much, but for mounts of other programs, which are few.
func TestMore(t *testing.T) {
	m := &gauge{dir: "/var/lib/here"}
	count := func(lines ...string) reading {
		r := reading{descriptors: 5, memory: 100}
		m.mounted(r, strings.Join(lines, ""))
		return r
	}
	const root, other, ours, product = "1 0 8:1 / / rw - ext4 /dev/a rw\n", "2 1 8:2 / /mnt rw - ext4 /dev/b rw\n", "3 1 0:9 / /var/lib/here/x rw - tmpfs tmpfs rw\n", "4 1 0:9 / /tmp/qsandbox-1 rw - tmpfs tmpfs rw\n"
	before := count(root)
	for name, c := range map[string]struct {
		after reading
		left  string
	}{
		"the same":     {count(root), ""},
		"another's":    {count(root, other), ""},
		"many others'": {count(root, strings.Repeat(other, 9)), "mounts: 1 before, 10 after"},
		"in the place": {count(root, ours), "own mounts: 0 before, 1 after"},
		"the product":  {count(root, product), "own mounts: 0 before, 1 after"},
		"fewer":        {reading{descriptors: 4}, ""},
		"memory":       {reading{descriptors: 5, memory: 900}, ""},
		"descriptors":  {reading{descriptors: 6}, "descriptors: 5 before, 6 after"},
	} {
		if got := joined(more(before, c.after)); got != c.left {
			t.Errorf("%s: %q, wanted %q", name, got, c.left)
		}
	}
}

// TestSuccessText: few runs do not claim 99.9 %.
func TestSuccessText(t *testing.T) {
	for _, c := range []struct {
		n, failed int
		says      string
		claims    bool
	}{{60, 0, "95.00 %", false}, {3000, 0, "3000 of 3000", true}, {20000, 3, "19997 of 20000", true}, {0, 0, "0 of 0", true}} {
		if s := successText(c.n, c.failed); !strings.Contains(s, c.says) || strings.Contains(s, "not 99.9 %") == c.claims {
			t.Errorf("%d of %d: %s", c.failed, c.n, s)
		}
	}
}

// TestLeash: the context of a worker ends with its input.
func TestLeash(t *testing.T) {
	r, w := io.Pipe()
	ctx, cancel := leashed(context.Background(), r)
	defer cancel()
	if ctx.Err() != nil {
		t.Fatal("it ended at once")
	}
	w.Close()
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}

// TestRepeated: the checking of outputs, in pieces of all sizes.
func TestRepeated(t *testing.T) {
	for _, size := range []int{1, 3, 7, 100} {
		r := &repeated{unit: []byte("one two\n")}
		for text := strings.Repeat("one two\n", 5); text != ""; text = text[min(size, len(text)):] {
			_, _ = r.Write([]byte(text[:min(size, len(text))]))
		}
		if err := r.check(5); err != nil {
			t.Error(err)
		}
		if r.check(4) == nil || r.check(6) == nil {
			t.Error("another count is taken as well")
		}
		_, _ = r.Write([]byte("one too\n"))
		if err := r.check(6); err == nil || !strings.Contains(err.Error(), "too") {
			t.Errorf("%v", err)
		}
	}
}
