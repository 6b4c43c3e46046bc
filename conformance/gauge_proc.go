package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// process is what is known of one, from proc(5).
type process struct {
	pid, parent int
	resident    float64 // bytes
}

// processes are those below this one, and those that carry the place's word: an
// orphan has another parent. A dead one that nobody has waited for counts.
func (m *gauge) processes() ([]process, error) {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(names) == 0 {
		return nil, errors.Join(err, errors.New("/proc tells no processes"))
	}
	all := map[int]process{}
	ours := map[int]bool{os.Getpid(): true}
	for _, dir := range names {
		p, ok := readProcess(dir)
		if !ok {
			continue // it is gone
		}
		all[p.pid] = p
		if m.marked(dir) {
			ours[p.pid] = true
		}
	}
	for found := true; found; {
		found = false
		for pid, p := range all {
			if !ours[pid] && ours[p.parent] {
				ours[pid], found = true, true
			}
		}
	}
	var out []process
	for pid, p := range all {
		if ours[pid] && pid != os.Getpid() {
			out = append(out, p)
		}
	}
	return out, nil
}

// marked tells whether a process carries the word. Only our own user's environment can
// be read, and as root everybody's.
func (m *gauge) marked(dir string) bool {
	for _, name := range []string{"cmdline", "environ"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && bytes.Contains(data, []byte(m.word)) {
			return true
		}
	}
	return false
}

// readProcess reads parent and resident set from stat: fields 4 and 24. The name in
// field 2 may hold anything, so what counts comes after the last bracket.
func readProcess(dir string) (process, bool) {
	data, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return process{}, false
	}
	pid, _ := strconv.Atoi(filepath.Base(dir))
	f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(f) < 22 {
		return process{}, false
	}
	parent, err := strconv.Atoi(f[1])
	pages, err2 := strconv.ParseFloat(f[21], 64)
	return process{pid, parent, pages * float64(os.Getpagesize())}, err == nil && err2 == nil
}

// ownMemory is the anonymous part of this process' resident set in bytes (proc(5),
// smaps_rollup): heap and stacks. The program's own text is shared with others, and
// comes in as it is used: that would be no growth.
func ownMemory() (float64, error) {
	const file, field = "/proc/self/smaps_rollup", "Anonymous:"
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == field {
			kib, err := strconv.ParseFloat(f[1], 64)
			return kib * 1024, err
		}
	}
	return 0, fmt.Errorf("%s has no line %q", file, field)
}
