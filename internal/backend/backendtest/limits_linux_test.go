package backendtest

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/qiming-sandbox/qsandbox/internal/launch"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// level gives how PROC-03 is kept for what a mechanism's text starts with.
func level(r Result, what string) report.Level {
	for _, e := range r.Enforcement {
		if e.Requirement == "PROC-03" && strings.HasPrefix(e.Mechanism, what) {
			return e.Level
		}
	}
	return report.None
}

const forks = `import os,sys,time
n = 0
try:
    for i in range(200):
        if os.fork() == 0:
            time.sleep(20); os._exit(0)
        n += 1
except OSError: pass
print(n)`

// TestProcessLimit: PROC-03.
func TestProcessLimit(t *testing.T) {
	limit, least := 40, "30"
	if launch.EverySecondStart {
		least = "25" // the Go init's threads count too
	}
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		r := s.Run(t, p, Call{Command: []string{"/usr/bin/python3", "-c", forks}, Policy: Policy{Limits: policy.LayerLimits{Processes: &limit}}})
		if r.Err != nil && s.Mode == policy.Strict {
			t.Skipf("strict refuses what it cannot keep: %v", r.Err)
		}
		if level(r, "processes") != report.Enforced {
			t.Skipf("the report says that the limit is not kept here (%s)", level(r, "processes"))
		}
		if !r.OK() || len(r.Out) != 3 || r.Out > "40" || r.Out < least {
			t.Errorf("limit 40, started %s", r.Describe())
		}
	})
}

// TestDefaultProcessLimitIsThere: 4,096 processes are built in.
func TestDefaultProcessLimitIsThere(t *testing.T) {
	each(t, setups, func(t *testing.T, s Setup) {
		r := s.Run(t, NewPlace(t), Call{Command: []string{"/bin/true"}})
		if !r.OK() || level(r, "processes") != report.Enforced {
			t.Errorf("%s level %q", r.Describe(), level(r, "processes"))
		}
	})
}

// TestTmpLimit: PROC-03, size of /tmp and of /dev/shm.
func TestTmpLimit(t *testing.T) {
	size := policy.Size(1 << 20)
	each(t, setups, func(t *testing.T, s Setup) {
		pol := Policy{Limits: policy.LayerLimits{Tmp: &size}}
		for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
			s.MustFail(t, NewPlace(t), Call{Script: "head -c 2M /dev/zero > " + dir + "/x", Policy: pol})
			s.Must(t, NewPlace(t), Call{Script: "head -c 900K /dev/zero > " + dir + "/x", Policy: pol})
		}
	})
}

// TestMemoryLimit: PROC-03, where the report says that it is kept.
func TestMemoryLimit(t *testing.T) {
	size := policy.Size(100 << 20)
	pol := Policy{Limits: policy.LayerLimits{Memory: &size}}
	const eat = `x = []
for i in range(400): x.append(bytearray(1 << 20))
print("ate")`
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		r := s.Run(t, p, Call{Command: []string{"/usr/bin/python3", "-c", eat}, Policy: pol})
		if r.Err != nil && s.Mode == policy.Strict {
			t.Skipf("strict refuses what it cannot keep: %v", r.Err)
		}
		if r.Err != nil || strings.Contains(r.Out, "ate") {
			t.Fatalf("400 MiB within a limit of 100: %s", r.Describe())
		}
		if level(r, "memory") == report.Enforced && r.Exit.Cause != report.MemoryLimit {
			t.Errorf("the cause is not told: %s", r.Describe())
		}
		s.Must(t, p, Call{Command: []string{"/usr/bin/python3", "-c", `x = bytearray(20 << 20)`}, Policy: pol})
	})
}

// TestOutputLimit: PROC-03, cut at a character boundary, head and tail kept.
func TestOutputLimit(t *testing.T) {
	size := policy.Size(1000)
	each(t, everywhere(), func(t *testing.T, s Setup) {
		r := s.Run(t, NewPlace(t), Call{Policy: Policy{Limits: policy.LayerLimits{Output: &size}},
			Command: []string{"/usr/bin/python3", "-c", `print("HEAD" + "目ü😀" * 100000 + "TAIL", end="")`}})
		if !r.OK() || !r.Exit.Truncated {
			t.Fatal(r.Describe())
		}
		if !strings.HasPrefix(r.Out, "HEAD") || !strings.HasSuffix(r.Out, "TAIL") || !utf8.ValidString(r.Out) || len(r.Out) > 1100 {
			t.Errorf("%d bytes, valid %v: %q", len(r.Out), utf8.ValidString(r.Out), r.Out)
		}
	})
}

// TestNoCoreDumps: PROC-03, also where the kernel hands them to a program.
func TestNoCoreDumps(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		s.Run(t, p, Call{Script: `ulimit -c unlimited; bash -c 'kill -SEGV $$'; true`})
		if left, _ := os.ReadDir(p.WS); len(left) != 2 {
			t.Errorf("the workspace holds %v", left)
		}
	})
}

// TestWallTimeIsNotLimitedByItself: no time limit is built in.
func TestWallTimeIsNotLimitedByItself(t *testing.T) {
	start := time.Now()
	Native.Must(t, NewPlace(t), Call{Command: []string{"/bin/sleep", "1"}})
	if time.Since(start) < time.Second {
		t.Error("it ended early")
	}
}
