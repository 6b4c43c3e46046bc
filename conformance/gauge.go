package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// What is measured. The first two are bytes, all others are counts.
const (
	memory        = "memory"         // of this process: heap and stacks, after a collection
	sessionMemory = "session-memory" // of all processes below this one together: resident sets
	descriptors   = "descriptors"    // of this process
	goroutines    = "goroutines"     // of this process
	processes     = "processes"      // below this one, and wherever the place's word is
	tempfiles     = "tempfiles"      // in the ground, where also TMPDIR and the state directory are
	mounts        = "mounts"         // that this process sees
	cgroups       = "cgroups"        // of runs that were made here
	ownMounts     = "own mounts"     // of those, the ones that name the product or the ground; no series
)

// othersMounts is how many mounts other programs may make meanwhile. A leak of each run
// is more.
const othersMounts = 8

// measured is the order in which series are reported.
var measured = []string{memory, sessionMemory, descriptors, goroutines, processes, tempfiles, mounts, cgroups}

// reading is what there was at one time.
type reading map[string]float64

// gauge measures what the driver's process holds. It must be the only one that does
// something in this process.
type gauge struct {
	dir    string   // whose files are counted
	word   string   // that the processes of the place carry
	groups []string // below which groups are made
	began  time.Time
	times  []float64
	values [][]float64 // as measured; made for all readings at once, so that they are no growth
	mu     sync.Mutex
	stayed []string // groups of runs that are over
}

// wordEnv holds the place's word in the environment of this process, for what the
// product starts outside. What runs inside has it as U.
const wordEnv = "QSANDBOX_VERIFY_WORD"

// newGauge fails where this is not known how to be measured.
func newGauge(g *ground, p *place) (*gauge, error) {
	m := &gauge{dir: g.dir, word: p.u, began: time.Now(), times: room()}
	for range measured {
		m.values = append(m.values, room())
	}
	os.Setenv(wordEnv, p.u)
	h := host.Real()
	for _, dir := range h.Cgroup().Dirs {
		if !slices.Contains(m.groups, dir) {
			m.groups = append(m.groups, dir)
		}
	}
	_, err := m.read()
	return m, err
}

// room is for the readings of the longest series. It is written once: a page that
// nobody has touched is no memory yet, and would grow as the readings come.
func room() []float64 {
	r := make([]float64, 2*mostReadings)
	for i := range r {
		r[i] = -1
	}
	return r[:0]
}

// ran looks at what groups a run has left that is over. Its id, which names them, is not
// kept: a day has many.
func (m *gauge) ran(id string) {
	if id == "" {
		return
	}
	for _, dir := range m.groups {
		if group := filepath.Join(dir, "qsandbox-"+id); isDir(group) {
			m.mu.Lock()
			m.stayed = append(m.stayed, group)
			m.mu.Unlock()
		}
	}
}

// sample takes a reading into the series.
func (m *gauge) sample() error {
	r, err := m.read()
	if err == nil {
		m.times = append(m.times, time.Since(m.began).Seconds())
		for i, what := range measured {
			m.values[i] = append(m.values[i], r[what])
		}
	}
	return err
}

// read measures now. It takes some milliseconds.
func (m *gauge) read() (reading, error) {
	debug.FreeOSMemory() // collects first: what is measured then is what is held
	r := reading{goroutines: float64(runtime.NumGoroutine()), tempfiles: float64(m.files()), cgroups: float64(m.left())}
	mem, err := ownMemory()
	if err != nil {
		return nil, err
	}
	r[memory] = mem
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, err
	}
	r[descriptors] = float64(len(fds) - 1) // without the one that reads them
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	m.mounted(r, string(table))
	list, err := m.processes()
	if err != nil {
		return nil, err
	}
	r[processes] = float64(len(list))
	for _, p := range list {
		r[sessionMemory] += p.resident
	}
	return r, nil
}

// mounted counts the lines of a mountinfo (proc(5)).
func (m *gauge) mounted(r reading, table string) {
	for line := range strings.Lines(table) {
		r[mounts]++
		if strings.Contains(line, "qsandbox") || strings.Contains(line, m.dir) {
			r[ownMounts]++
		}
	}
}

// files counts everything in the ground; what is gone meanwhile does not count.
func (m *gauge) files() (n int) {
	_ = filepath.WalkDir(m.dir, func(string, os.DirEntry, error) error { n++; return nil })
	return n
}

// left counts the groups that stayed and are still there.
func (m *gauge) left() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, dir := range m.stayed {
		if isDir(dir) {
			n++
		}
	}
	return n
}

// patience is how long what is on its way out may take.
const patience = 3 * time.Second

// settled waits until there is no more than there was, and says what is left at last.
func (m *gauge) settled(before reading, patience time.Duration) (left []excess, err error) {
	began := time.Now()
	for wait := time.Millisecond; ; wait *= 2 {
		after, err := m.read()
		if err != nil {
			return nil, err
		}
		if left = more(before, after); len(left) == 0 || time.Since(began) > patience {
			return left, nil
		}
		time.Sleep(min(wait, patience/4))
	}
}

// excess is how much more of something there is.
type excess struct {
	what      string
	had, have float64
}

func (e excess) String() string {
	return fmt.Sprintf("%s: %.0f before, %.0f after", e.what, e.had, e.have)
}

// more compares counts. Memory is judged by its series.
func more(before, after reading) (out []excess) {
	for _, what := range slices.Concat(measured, []string{ownMounts}) {
		allowed := before[what]
		switch what {
		case memory, sessionMemory:
			continue
		case mounts:
			allowed += othersMounts
		}
		if after[what] > allowed {
			out = append(out, excess{what, before[what], after[what]})
		}
	}
	return out
}
