package backendtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	blob "github.com/qiming-sandbox/qsandbox/internal/inside"
	"github.com/qiming-sandbox/qsandbox/internal/launch"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// groups lists what is there of a run's groups, in every hierarchy.
func groups(t *testing.T, id string) []string {
	t.Helper()
	found := list(t, "/sys/fs/cgroup/qsandbox-"+id, false)
	for _, below := range []string{"/*", "/*/*", "/*/*/*"} {
		found = append(found, list(t, "/sys/fs/cgroup"+below+"/qsandbox-"+id, false)...)
	}
	return found
}

// TestCommandIsInItsGroups: PROC-03. Whoever puts the init there, the command and what it
// starts are in the run's groups from their first instruction, and the groups go with them.
func TestCommandIsInItsGroups(t *testing.T) {
	processes, memory, cpus := 64, policy.Size(256<<20), 1.5
	each(t, both, func(t *testing.T, s Setup) {
		r := s.Run(t, NewPlace(t), Call{Script: `cat /proc/self/cgroup; (sleep 0.01; cat /proc/self/cgroup) & wait; echo --; cat /proc/1/cgroup`,
			Policy: Policy{Limits: policy.LayerLimits{Processes: &processes, Memory: &memory, CPUs: &cpus}}})
		if !r.OK() {
			t.Fatal(r.Describe())
		}
		command, init, _ := strings.Cut(r.Out, "--")
		for _, row := range r.Enforcement {
			what, how, _ := strings.Cut(row.Mechanism, ": ")
			if row.Requirement != "PROC-03" || !strings.HasPrefix(how, "cgroup v") {
				continue
			}
			controller := map[string]string{"processes": "pids", "memory": "memory", "cpus": "cpu"}[what]
			inits := 1
			if how == "cgroup v2" {
				controller = ""
			} else if what == "cpus" && blob.CanClone && !launch.EverySecondStart {
				inits = 0 // it must be able to end what has used up its time
			}
			// The line is HIERARCHY:CONTROLLERS:PATH (cgroups(7)).
			in := func(text string) (n int) {
				for line := range strings.Lines(text) {
					f := strings.SplitN(strings.TrimSpace(line), ":", 3)
					if len(f) == 3 && slices.Contains(strings.Split(f[1], ","), controller) && filepath.Base(f[2]) == "qsandbox-"+r.ID {
						n++
					}
				}
				return n
			}
			if in(command) != 2 || in(init) != inits {
				t.Errorf("%s: the command and its child are %d times, the init %d times in the group of run %s:\n%s", what, in(command), in(init), r.ID, r.Out)
			}
		}
		if left := groups(t, r.ID); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

// TestCommandCannotMoveItself: the descriptor by which the init enters its groups is
// closed, and no cgroup file can be written.
func TestCommandCannotMoveItself(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("an ordinary user has no group that it could write")
	}
	processes := 64
	each(t, both, func(t *testing.T, s Setup) {
		out := s.Must(t, NewPlace(t), Call{Script: `for f in /proc/self/fd/*; do case $(readlink $f) in *tasks*|*cgroup*) echo "open: $(readlink $f)";; esac; done
for d in /sys/fs/cgroup/*/ /sys/fs/cgroup/; do for f in tasks cgroup.procs; do (echo 0 > $d$f) 2>/dev/null && echo "moved by $d$f"; done; done; true`,
			Policy: Policy{Limits: policy.LayerLimits{Processes: &processes}}})
		if out != "" {
			t.Error(out)
		}
	})
}

// TestEndIsNotThrottled: PROC-02, PROC-03. A tree that has used up its share of processor
// time ends as soon as any other.
func TestEndIsNotThrottled(t *testing.T) {
	cpus, timeout, grace := 0.05, 2*time.Second, time.Millisecond
	each(t, both, func(t *testing.T, s Setup) {
		start := time.Now()
		r := s.Run(t, NewPlace(t), Call{Script: `i=0; while [ $i -lt 60 ]; do (while :; do :; done) & i=$((i+1)); done; wait`,
			Policy: Policy{Limits: policy.LayerLimits{CPUs: &cpus, Timeout: &timeout, Grace: &grace}}})
		if level(r, "cpus") != report.Enforced {
			t.Skipf("the report says that the limit is not kept here (%s)", level(r, "cpus"))
		}
		if r.Exit == nil || r.Exit.Cause != report.TimedOut {
			t.Fatal(r.Describe())
		}
		if took := time.Since(start); took > 2*timeout {
			t.Errorf("a time limit of %v ended the tree after %v", timeout, took)
		}
		if r.Exit.Truncated {
			t.Error("the report says that output was cut, and there was none")
		}
	})
}
