package backendtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// stubborn is a tree of processes that ignore TERM, with a daemon that left its
// session and parent. Each carries the tag, by which it is found on the host.
const stubborn = `trap '' TERM HUP INT
setsid bash -c 'trap "" TERM HUP INT; while :; do sleep 1; done' "$TAG" </dev/null >/dev/null 2>&1 &
(setsid bash -c 'trap "" TERM; (trap "" TERM; while :; do sleep 1; done) & disown; exit 0' "$TAG" &)
bash -c 'trap "" TERM; while :; do sleep 1; done' "$TAG" &
echo started; touch started
while :; do sleep 1; done`

// alive finds processes by a tag in their arguments.
func alive(tag string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscan(e.Name(), &pid); err != nil || pid == os.Getpid() {
			continue
		}
		b, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if strings.Contains(string(b), tag) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone waits a little until nothing carries the tag.
func gone(t *testing.T, tag string) {
	t.Helper()
	var left []int
	for range 200 {
		if left = alive(tag); len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, pid := range left {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		t.Errorf("still alive: %d %q", pid, clip(string(b)))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func tagOf(p *Place) string { return "TAG-" + filepath.Base(p.Root) }

// TestTimeoutEndsTheTree: PROC-02.
func TestTimeoutEndsTheTree(t *testing.T) {
	timeout, grace := 600*time.Millisecond, 300*time.Millisecond
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		start := time.Now()
		r := s.Run(t, p, Call{Command: []string{"/bin/bash", "-c", stubborn, tagOf(p)}, Env: map[string]string{"TAG": tagOf(p)}, Policy: Policy{Limits: policy.LayerLimits{Timeout: &timeout, Grace: &grace}}})
		if r.Err != nil || r.Exit.Cause != report.TimedOut || r.Out != "started\n" {
			t.Errorf("want a timeout with the output so far: %s", r.Describe())
		}
		if d := time.Since(start); d < timeout || d > timeout+grace+4*time.Second {
			t.Errorf("it took %v", d)
		}
		gone(t, tagOf(p))
	})
}

// TestTermComesFirst: PROC-02, a command may clean up in the grace.
func TestTermComesFirst(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		ctx, cancel := context.WithCancel(t.Context())
		r := s.Run(t, p, Call{Context: ctx, Stdout: whenWritten(cancel), Script: `trap 'echo cleaned > cleaned; exit 7' TERM; echo ready; while :; do sleep .05; done`})
		if r.Err != nil || r.Exit.Cause != report.Cancelled || r.Exit.Code != 7 {
			t.Errorf("%s", r.Describe())
		}
		p.Host(t, `[ "$(cat cleaned)" = cleaned ]`)
	})
}

// stuck is a writer that takes nothing until it is let go.
type stuck chan struct{}

func (s stuck) Write(b []byte) (int, error) { <-s; return len(b), nil }

// TestBlockedReaderDoesNotHoldTheEnd: PROC-02, nobody takes the output. The run ends
// with its time and grace all the same, be the command alive or not, and says that
// output is missing. The twin, a reader that is slow, gets all.
func TestBlockedReaderDoesNotHoldTheEnd(t *testing.T) {
	timeout, grace := 400*time.Millisecond, 300*time.Millisecond
	limits := policy.LayerLimits{Timeout: &timeout, Grace: &grace}
	kept := policy.Size(1000)
	tail := limits
	tail.Output = &kept
	each(t, []Setup{setups[0], setups[2], None}, func(t *testing.T, s Setup) {
		for name, c := range map[string]Call{
			"alive":  {Command: []string{"/bin/bash", "-c", `trap "" TERM; while :; do echo 0123456789; done`}, Policy: Policy{Limits: limits}},
			"ended":  {Script: `echo all`, Policy: Policy{Limits: limits}},
			"at end": {Script: `head -c 9000 /dev/zero`, Policy: Policy{Limits: tail}},
		} {
			p := NewPlace(t)
			w := make(stuck)
			defer close(w)
			c.Stdout = w
			start := time.Now()
			r := s.Run(t, p, c)
			if d := time.Since(start); r.Err != nil || r.Exit.Cause != report.TimedOut || !r.Exit.Truncated || d < timeout || d > timeout+grace+4*time.Second {
				t.Errorf("%s: it took %v: %s", name, d, r.Describe())
			}
		}
		p := NewPlace(t)
		n := 0
		slow := takes(func(b []byte) { time.Sleep(20 * time.Millisecond); n += len(b) })
		r := s.Run(t, p, Call{Stdout: slow, Script: `head -c 300000 /dev/zero`, Policy: Policy{Limits: limits}})
		if !r.OK() || n != 300000 || r.Exit.Truncated {
			t.Errorf("a slow reader got %d of 300000 bytes: %s", n, r.Describe())
		}
	})
}

// takes is a function as a writer.
type takes func(b []byte)

func (f takes) Write(b []byte) (int, error) { f(b); return len(b), nil }

// whenWritten calls a function at the first output.
type whenWritten func()

func (f whenWritten) Write(b []byte) (int, error) { f(); return len(b), nil }

// TestBackgroundJobDoesNotBlock: PROC-02, one that holds stdout open.
func TestBackgroundJobDoesNotBlock(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		start := time.Now()
		out := s.Must(t, p, Call{Command: []string{"/bin/bash", "-c", `(setsid bash -c 'trap "" TERM; sleep 50; :' "$TAG" & ); bash -c 'sleep 50; :' "$TAG" & echo done`, tagOf(p)}, Env: map[string]string{"TAG": tagOf(p)}})
		if d := time.Since(start); out != "done\n" || d > 8*time.Second {
			t.Errorf("%q after %v", out, d)
		}
		gone(t, tagOf(p))
	})
}

// TestEndedContextStartsNothing: a caller that has given up gets no command.
func TestEndedContextStartsNothing(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := s.Run(t, p, Call{Context: ctx, Script: `sleep 1; touch ran`})
		if r.OK() {
			t.Errorf("it ran to its end: %s", r.Describe())
		}
		if _, err := os.Stat(p.WS + "/ran"); err == nil {
			t.Error("the command did its work")
		}
	})
}

// TestSignalReachesTheCommand: a signal that a caller passes on.
func TestSignalReachesTheCommand(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		started := func(x *qsandbox.Session) {
			go func() {
				for range 500 {
					if _, err := os.Stat(p.WS + "/ready"); err == nil {
						_ = x.Signal(syscall.SIGUSR1)
						return
					}
					time.Sleep(5 * time.Millisecond)
				}
			}()
		}
		r := s.Run(t, p, Call{Started: started, Script: `trap 'exit 9' USR1; touch ready; while :; do sleep .02; done`})
		if r.Err != nil || r.Exit.Code != 9 {
			t.Error(r.Describe())
		}
	})
}
