package acpterm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
)

// CONC-01, CONC-02: 50 at once, none mixed up; the 51st is refused in the words of
// the specification; a released slot is free at once.
func TestFiftyTerminalsAndOneMore(t *testing.T) {
	h := newHost(t, Options{})
	ids := make([]string, DefaultLimit)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() { ids[i] = h.sh(fmt.Sprint("s", i%5), fmt.Sprintf("echo number %d; sleep 600", i), nil) })
	}
	wg.Wait()
	for range 3 {
		_, err := h.Create(context.Background(), CreateRequest{Session: "x", Command: "true"})
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Message, "Terminal limit reached") || e.FaultCode() != fault.TerminalLimit {
			t.Errorf("CONC-02: the 51st: %v", err)
		}
	}
	for i, id := range ids {
		wg.Go(func() {
			s := fmt.Sprint("s", i%5)
			if o := h.waitFor(s, id, "\n"); o.Output != fmt.Sprintf("number %d\n", i) || o.ExitStatus != nil {
				t.Errorf("terminal %d: %+v", i, o)
			}
			h.on(MethodRelease, s, id)
			h.on(MethodRelease, s, h.sh(s, "true", nil))
		})
	}
	wg.Wait()
	if h.Len() != 0 {
		t.Errorf("%d slots are taken", h.Len())
	}
}

// Many more requests at once than there are slots: never more than the limit run.
func TestNobodyGetsPastTheLimit(t *testing.T) {
	h := newHost(t, Options{Limit: 5})
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := 0
	for range 40 {
		wg.Go(func() {
			if _, err := h.Create(context.Background(), CreateRequest{Session: "s", Command: "sleep", Args: []string{"600"}}); err == nil {
				mu.Lock()
				got++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if got != 5 || h.Len() != 5 {
		t.Errorf("%d were started, %d slots; want 5", got, h.Len())
	}
}

// LEAK-01: 1,000 rounds leave no process, descriptor, file, mount or goroutine.
func TestThousandRounds(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", backendtest.Base()+"/state")
	h := newHost(t, Options{})
	round := func(i int) {
		s := fmt.Sprint("s", i%7)
		script := fmt.Sprintf("echo round %d", i)
		switch i % 4 {
		case 1:
			script += "; (setsid sleep 600 &) ; sleep 600 & exit 0" // daemons end with their terminal
		case 2:
			script += "; sleep 600"
		}
		id := h.sh(s, script, nil)
		if i%4 == 2 {
			h.waitFor(s, id, "\n")
		} else {
			h.on(MethodWait, s, id)
		}
		if o := h.output(s, id); o.Output != fmt.Sprintf("round %d\n", i) {
			t.Errorf("round %d: %+v", i, o)
		}
		h.on(MethodRelease, s, id)
	}
	eight := func(from, to int) {
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for i := from + w; i < to; i += 8 {
					round(i)
				}
			})
		}
		wg.Wait()
	}
	eight(0, 40) // what is made once and kept
	before := have(h)
	eight(40, 1040)
	var after map[string]int
	for range 60 {
		after = have(h)
		if more(before, after) == "" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("left behind: %s", more(before, after))
}

// have counts what could be left.
func have(h *host) map[string]int {
	count := func(pattern string) int { l, _ := filepath.Glob(pattern); return len(l) }
	mounts, _ := os.ReadFile("/proc/self/mounts")
	return map[string]int{
		"slots": h.Len(), "goroutines": runtime.NumGoroutine() - 2, "descriptors": count("/proc/self/fd/*") - 2,
		"processes": len(processes(h.place.Root)), "mounts": strings.Count(string(mounts), "\n"),
		"files":   count(h.place.Root+"/*") + count(h.place.WS+"/*") + count(os.Getenv("XDG_STATE_HOME")+"/qsandbox/journal/*"),
		"cgroups": count(fmt.Sprintf("/sys/fs/cgroup/*/qsandbox-%d-*", os.Getpid())),
	}
}

// more compares; goroutines and descriptors have two of slack for the runtime's own.
func more(before, after map[string]int) string {
	var out []string
	for k, n := range after {
		slack := 0
		if k == "goroutines" || k == "descriptors" {
			slack = 2
		}
		if n > before[k]+slack {
			out = append(out, fmt.Sprintf("%s: %d, then %d", k, before[k], n))
		}
	}
	return strings.Join(out, "; ")
}
