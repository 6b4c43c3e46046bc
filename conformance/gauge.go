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
	tempfiles     = "tempfiles"      // in the ground and in the directory for temporary files
	mounts        = "mounts"         // that this process sees
	cgroups       = "cgroups"        // of runs that were made here
)

// measured is the order in which series are reported.
var measured = []string{memory, sessionMemory, descriptors, goroutines, processes, tempfiles, mounts, cgroups}

// reading is what there was at one time.
type reading map[string]float64

// gauge measures what the driver's process holds. It must be the only one that does
// something in this process.
type gauge struct {
	dirs   []string // whose files are counted
	word   string   // that the processes of the place carry
	groups []string // below which groups are made
	began  time.Time
	times  []float64
	taken  []reading
	mu     sync.Mutex
	runs   []string // ids of runs
}

// newGauge fails where this is not known how to be measured.
func newGauge(g *ground, p *place) (*gauge, error) {
	m := &gauge{dirs: []string{g.dir}, word: p.u, began: time.Now()}
	if tmp := os.TempDir(); strings.Contains(tmp, "qsandbox") && !strings.HasPrefix(tmp, g.dir) {
		m.dirs = append(m.dirs, tmp)
	}
	h := host.Real()
	for _, dir := range h.Cgroup().Dirs {
		if !slices.Contains(m.groups, dir) {
			m.groups = append(m.groups, dir)
		}
	}
	_, err := m.read()
	return m, err
}

// ran notes the id of a run, by which its groups are known.
func (m *gauge) ran(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id != "" && !slices.Contains(m.runs, id) {
		m.runs = append(m.runs, id)
	}
}

// sample takes a reading into the series.
func (m *gauge) sample() error {
	r, err := m.read()
	if err == nil {
		m.times = append(m.times, time.Since(m.began).Seconds())
		m.taken = append(m.taken, r)
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
	r[mounts] = float64(strings.Count(string(table), "\n"))
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

// files counts everything in the directories; what is gone meanwhile does not count.
func (m *gauge) files() (n int) {
	for _, dir := range m.dirs {
		_ = filepath.WalkDir(dir, func(string, os.DirEntry, error) error { n++; return nil })
	}
	return n
}

// left counts the groups of the runs so far.
func (m *gauge) left() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, dir := range m.groups {
		list, _ := filepath.Glob(filepath.Join(dir, "qsandbox-*"))
		for _, g := range list {
			if slices.Contains(m.runs, strings.TrimPrefix(filepath.Base(g), "qsandbox-")) {
				n++
			}
		}
	}
	return n
}

// settled waits until there is no more than there was, and says what is left then.
func (m *gauge) settled(before reading) (left []excess, err error) {
	for wait := time.Millisecond; ; wait *= 2 {
		after, err := m.read()
		if err != nil {
			return nil, err
		}
		if left = more(before, after); len(left) == 0 || wait > 2*time.Second {
			return left, nil
		}
		time.Sleep(wait)
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
	for _, what := range measured {
		if what != memory && what != sessionMemory && after[what] > before[what] {
			out = append(out, excess{what, before[what], after[what]})
		}
	}
	return out
}
