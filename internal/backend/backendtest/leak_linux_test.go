package backendtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// inventory is what a run could leave behind, by kind.
func inventory(t *testing.T, p *Place) map[string][]string {
	t.Helper()
	inv := map[string][]string{
		"goroutine": make([]string, runtime.NumGoroutine()),
		"child":     list(t, "/proc/self/task/*/children", true),
		"fd":        make([]string, len(list(t, "/proc/self/fd/*", false))),
		"mount":     list(t, "/proc/self/mounts", true),
		"temp":      append(list(t, "/tmp/*qsandbox*", false), list(t, "/dev/shm/*qsandbox*", false)...),
		"workspace": list(t, p.Root+"/*/*", false),
		"journal":   list(t, filepath.Join(os.Getenv("XDG_STATE_HOME"), "qsandbox/journal/*"), false),
	}
	return inv
}

// list gives the names that a pattern finds, or the words of those files.
func list(t *testing.T, pattern string, content bool) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if !content {
		return found
	}
	var out []string
	for _, f := range found {
		b, _ := os.ReadFile(f)
		for line := range strings.Lines(string(b)) {
			out = append(out, strings.Fields(line)...)
		}
	}
	sort.Strings(out)
	return out
}

// TestNothingIsLeft: FS-07, LEAK-01 to LEAK-03. It is not parallel: it counts
// what this process has.
func TestNothingIsLeft(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", Base()+"/state")
	runs := map[policy.Backend]int{policy.LinuxNative: 500, policy.LinuxBwrap: 100, policy.None: 50}
	for _, s := range []Setup{{policy.LinuxNative, policy.Compat}, {policy.LinuxBwrap, policy.Compat}, {policy.None, policy.Compat}} {
		t.Run(s.String(), func(t *testing.T) {
			NeedBackend(t, s.Backend)
			p := NewPlace(t)
			once := func(i int) {
				if left := groups(t, leakRun(t, s, p, i).ID); len(left) > 0 {
					t.Errorf("run %d left %q", i, left)
				}
			}
			for i := range 8 {
				once(i) // what is made once and kept
			}
			before := inventory(t, p)
			for i := range runs[s.Backend] {
				once(i)
			}
			compareInventories(t, p, before)
		})
	}
}

// leakRun is one run; the kinds differ.
func leakRun(t *testing.T, s Setup, p *Place, i int) Result {
	timeout, limit := 30*time.Millisecond, 64
	switch i % 8 {
	case 0:
		return s.Run(t, p, Call{Command: []string{"/bin/sleep", "5"}, Policy: Policy{Limits: policy.LayerLimits{Timeout: &timeout}}})
	case 1:
		return s.Run(t, p, Call{Command: []string{"/no/such/command"}})
	case 2:
		return s.Run(t, p, Call{Script: `sleep 5 & sleep 6 & echo x > /tmp/x; exit 3`})
	case 3:
		return ran(t, s.Run(t, p, Call{Command: []string{"/bin/cat"}, Stdin: strings.NewReader("x")}))
	case 4:
		return ran(t, s.Run(t, p, Call{Command: []string{"/bin/true"}, Policy: Policy{Limits: policy.LayerLimits{Processes: &limit}}}))
	default:
		return ran(t, s.Run(t, p, Call{Command: []string{"/bin/true"}, Policy: Policy{DenyRead: []string{"own.txt", "sub"}}}))
	}
}

func ran(t *testing.T, r Result) Result {
	t.Helper()
	if !r.OK() {
		t.Fatal(r.Describe())
	}
	return r
}

// compareInventories gives what is on its way out two seconds.
func compareInventories(t *testing.T, p *Place, before map[string][]string) {
	t.Helper()
	var more []string
	for range 40 {
		more = nil
		after := inventory(t, p)
		for kind, was := range before {
			slack := 0
			if kind == "fd" || kind == "goroutine" {
				slack = 2 // the runtime's own, made when it is busy
			}
			if len(after[kind]) > len(was)+slack {
				more = append(more, fmt.Sprintf("%s: %d, then %d: %q", kind, len(was), len(after[kind]), added(was, after[kind])))
			}
		}
		if more == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("left behind:\n%s", strings.Join(more, "\n"))
}

func added(was, now []string) (out []string) {
	have := map[string]int{}
	for _, w := range was {
		have[w]++
	}
	for _, n := range now {
		if have[n]--; have[n] < 0 {
			out = append(out, n)
		}
	}
	return out
}
