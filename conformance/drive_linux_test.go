package conformance

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// driveHere runs a driver in this process.
func driveHere(t *testing.T, box sandbox, c *Case, soak time.Duration) results.Run {
	t.Helper()
	need(t, "linux-native")
	keepEnvironment(t)
	base, err := makeBase("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = removeAll(base) })
	bin := filepath.Join(base, "bin")
	if err := copyProgram("", filepath.Join(bin, "qsandbox")); err != nil {
		t.Fatal(err)
	}
	g, err := newGround(filepath.Join(base, "ground"), bin, filepath.Join(bin, "qsandbox"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.close)
	tmp := filepath.Join(g.dir, "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	tr := &trier{g: g, box: box, who: myself()[0], soak: soak, alone: true, controls: map[string]func() shownBare{}}
	if l, ok := box.(leaky); ok && l.leaves {
		tr.patience = 100 * time.Millisecond
	}
	c.Want, c.ID = Works, "SOAK-99"
	return tr.try(t.Context(), c, "linux-native", "compat")
}

// leaky leaves something with every run, every session, and as long as a session lives.
type leaky struct {
	product
	leaves bool
	leave  func(k call)
}

func (l leaky) run(ctx context.Context, k call) inside {
	l.leave(k)
	return l.product.run(ctx, k)
}

func (l leaky) open(ctx context.Context, k call) (*opened, error) {
	l.leave(k)
	s, err := l.product.open(ctx, k)
	if err != nil {
		return s, err
	}
	over, wait := make(chan struct{}), s.wait
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond):
				l.leave(k)
			}
		}
	})
	s.wait = func() inside {
		close(over)
		all.Wait()
		return wait()
	}
	return s, nil
}

// hold keeps what was left until the test is over. The last hooks of a test are called first.
type hold struct {
	mu   sync.Mutex
	undo []func()
}

func (h *hold) add(undo func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.undo = append(h.undo, undo)
}

func (h *hold) free() {
	for _, u := range h.undo {
		u()
	}
}

// plants are leaks of each kind, and the series that must notice.
var plants = map[string]struct {
	leave  func(h *hold, k call) error
	series []string
}{
	"descriptor": {func(h *hold, _ call) error {
		f, err := os.Open(os.DevNull)
		h.add(func() { f.Close() })
		return err
	}, []string{descriptors}},
	"goroutine and memory": {func(h *hold, _ call) error {
		block, end := make([]byte, 512<<10), make(chan struct{})
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		go func() { <-end; block[0] = 2 }()
		h.add(func() { close(end) })
		return nil
	}, []string{goroutines, memory}},
	"child": {func(h *hold, _ call) error {
		cmd := exec.Command("sleep", "600")
		err := cmd.Start()
		h.add(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return err
	}, []string{processes}},
	"orphan": {func(h *hold, _ call) error {
		out, err := exec.Command("sh", "-c", `sleep 600 >&- 2>&- & echo $!`).Output()
		if err != nil {
			return err
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
		if err == nil {
			h.add(func() { p, _ := os.FindProcess(pid); _ = p.Kill() })
		}
		return err
	}, []string{processes}},
	"temporary file": {func(_ *hold, _ call) error {
		f, err := os.CreateTemp("", "left-*")
		if err == nil {
			f.Close()
		}
		return err
	}, []string{tempfiles}},
}

// TestPlantedLeaksAreFound: each kind, by each driver that measures over time.
func TestPlantedLeaksAreFound(t *testing.T) {
	for name, plant := range plants {
		for _, which := range []string{driveLeak, driveSoakRuns, driveSoakSession} {
			t.Run(name+"/"+which, func(t *testing.T) {
				h := &hold{}
				defer h.free()
				var failed atomic.Value
				box := leaky{leaves: true, leave: func(k call) {
					if err := plant.leave(h, k); err != nil {
						failed.Store(err)
					}
				}}
				run := driveHere(t, box, &Case{Driver: which, Count: 10}, 500*time.Millisecond)
				if err, _ := failed.Load().(error); err != nil {
					t.Fatalf("INVALID: nothing was planted: %v", err)
				}
				if run.Status != results.Fail {
					t.Fatalf("SURVIVED: %s (%s)", run.Status, run.Notes)
				}
				for _, s := range run.Samples {
					for _, must := range plant.series {
						if s.Name == must && !s.Growing {
							t.Errorf("the series %s does not grow: %v, slope %v %v; %s", s.Name, s.Values, s.PerHour, s.Interval, s.Note)
						}
					}
				}
				if len(run.Samples) != len(measured) {
					t.Errorf("%d series: %s", len(run.Samples), run.Notes)
				}
			})
		}
	}
}

// TestOneThingLeftIsFound: where there is no series, a single thing is enough.
func TestOneThingLeftIsFound(t *testing.T) {
	for _, which := range []string{driveSessions, driveRuns, driveLeak} {
		h, n := &hold{}, atomic.Int64{}
		defer h.free()
		run := driveHere(t, leaky{leaves: true, leave: func(k call) {
			if n.Add(1) == 12 { // after the first rounds
				_ = plants["descriptor"].leave(h, k)
			}
		}}, &Case{Driver: which, Count: 12}, 0)
		if run.Status != results.Fail || run.Leak != results.LeakHandle || !strings.Contains(run.Notes, descriptors) {
			t.Errorf("%s: %s %q (%s)", which, run.Status, run.Leak, run.Notes)
		}
	}
}

// TestCleanDriversPass: the twin of all others, on the same way.
func TestCleanDriversPass(t *testing.T) {
	for _, which := range []string{driveSessions, driveRuns, driveLeak, driveSoakSession, driveSoakRuns} {
		run := driveHere(t, leaky{leave: func(call) {}}, &Case{Driver: which, Count: 12}, 500*time.Millisecond)
		if run.Status != results.Pass {
			t.Errorf("%s: %s (%s)", which, run.Status, run.Notes)
		}
		for _, s := range run.Samples {
			if s.Growing || s.Name == memory && !strings.Contains(s.Note, "cannot tell 5 % an hour") {
				t.Errorf("%s %s: %v (%s)", which, s.Name, s.Values, s.Note)
			}
		}
	}
}

// wrong is a sandbox that mixes things up.
type wrong struct {
	product
	instead func(ctx context.Context, k call) inside
	answer  string // instead of the session's own, to every fifth line
}

func (w wrong) run(ctx context.Context, k call) inside {
	if w.instead != nil && !strings.HasPrefix(k.argv[4], "warm") {
		return w.instead(ctx, k)
	}
	return w.product.run(ctx, k)
}

func (w wrong) open(ctx context.Context, k call) (*opened, error) {
	if w.answer != "" && strings.HasSuffix(k.argv[4], "7") {
		k.argv[4] = w.answer
	}
	return w.product.open(ctx, k)
}

// TestMixedUpIsFound: outputs, codes and answers of others, runs that stand still, and
// some that fail.
func TestMixedUpIsFound(t *testing.T) {
	every := func(n int64, change func(*inside)) func(context.Context, call) inside {
		var i atomic.Int64
		return func(ctx context.Context, k call) inside {
			in := product{}.run(ctx, k)
			if i.Add(1)%n == 0 {
				change(&in)
			}
			return in
		}
	}
	for name, w := range map[string]struct {
		box  wrong
		c    Case
		says string
	}{
		"a code":     {wrong{instead: every(5, func(in *inside) { in.code++ })}, Case{Driver: driveRuns, Count: 10}, "ended with code"},
		"a fallback": {wrong{instead: every(5, func(in *inside) { in.degraded = true })}, Case{Driver: driveRuns, Count: 10}, "WITHOUT a sandbox"},
		"a backend":  {wrong{instead: every(5, func(in *inside) { in.backend = "linux-bwrap" })}, Case{Driver: driveRuns, Count: 10}, "run by"},
		"an output": {wrong{instead: func(ctx context.Context, k call) inside {
			k.argv = append([]string{}, k.argv...)
			if k.argv[4] == "run3" {
				_, _ = k.out.Write([]byte("run4"))
			}
			return product{}.run(ctx, k)
		}}, Case{Driver: driveRuns, Count: 10}, "something else is in its output"},
		"a lost output": {wrong{instead: func(ctx context.Context, k call) inside {
			k.out = nil
			return product{}.run(ctx, k)
		}}, Case{Driver: driveRuns, Count: 10}, "bytes of output"},
		"standing still": {wrong{instead: func(ctx context.Context, k call) inside {
			<-ctx.Done()
			return inside{backend: k.backend}
		}}, Case{Driver: driveRuns, Count: 10, Timeout: time.Second}, "did not end within"},
		"an answer":       {wrong{answer: "another"}, Case{Driver: driveSessions, Count: 10}, "answered"},
		"one run in five": {wrong{instead: every(5, func(in *inside) { in.err = errors.New("no") })}, Case{Driver: driveSoakRuns}, "runs failed"},
	} {
		t.Run(name, func(t *testing.T) {
			c := w.c
			run := driveHere(t, w.box, &c, 500*time.Millisecond)
			if run.Status != results.Fail || !strings.Contains(run.Notes, w.says) {
				t.Errorf("SURVIVED: %s (%s)", run.Status, run.Notes)
			}
		})
	}
}

// TestDriversApart: through Verify, in processes of their own, into a report that can be read.
func TestDriversApart(t *testing.T) {
	need(t, "linux-native")
	list := selected(t, ids("CONC-01", "LEAK-01", "SOAK-02"))
	for _, c := range list {
		c.Count = min(c.Count, 8)
	}
	r := verified(t, Options{Cases: list, As: myself(), Backends: []string{"linux-native"}, Version: "test"})
	for _, rec := range r.Records {
		if rec.Status != results.Pass || rec.Notes == "" {
			t.Errorf("%s: %s (%s)", rec.CaseID, rec.Status, rec.Notes)
		}
	}
	for _, e := range r.Evidence {
		if series := len(e.Runs[0].Samples); e.CaseID != "CONC-01" && series != len(measured) {
			t.Errorf("%s: %d series", e.CaseID, series)
		}
	}
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := results.Read("own", data); err != nil {
		t.Error(err)
	}
}

// TestTemplatesAreGivenRuns: what a command line can show is tried on others, in a cell.
func TestTemplatesAreGivenRuns(t *testing.T) {
	list := selected(t, ids("CONC-03", "LEAK-01", "SOAK-01"))
	r := verified(t, Options{Cases: list, Template: "env {command}", As: []Identity{AsUser}})
	for _, rec := range r.Records {
		switch {
		case rec.CaseID == "CONC-03" && rec.Status == results.Invalid:
			t.Skip(rec.Notes) // no cell can be made
		case rec.CaseID == "CONC-03" && rec.Status != results.Pass:
			t.Errorf("%s: %s (%s)", rec.CaseID, rec.Status, rec.Notes)
		case rec.CaseID != "CONC-03" && (rec.Status != results.Skip || !strings.Contains(rec.Notes, "library")):
			t.Errorf("%s: %s (%s)", rec.CaseID, rec.Status, rec.Notes)
		}
	}
}
