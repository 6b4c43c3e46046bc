package backendtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// The journal and the record of a permissive run are written while the sandbox is
// being built. Where a run may not be without them, the command must never have begun
// (FS-04, POL-08), and nothing of the half-built sandbox may stay.
func TestNoRecordNoCommand(t *testing.T) {
	for _, b := range []policy.Backend{policy.LinuxNative, policy.LinuxBwrap} {
		for _, c := range []struct {
			mode policy.Mode
			runs bool // without a record
		}{{policy.Strict, false}, {policy.Permissive, false}, {policy.Compat, true}} {
			s := Setup{b, c.mode}
			t.Run(s.String(), func(t *testing.T) {
				NeedBackend(t, b)
				p := NewPlace(t)
				mark := filepath.Join(p.WS, "began")
				call := Call{Script: `touch began`}
				t.Setenv("XDG_STATE_HOME", p.Root+"/state")
				if r := s.Run(t, p, call); !r.OK() || os.Remove(mark) != nil {
					t.Fatalf("the control, with a place for records, should run\n%s", r.Describe())
				}
				file := filepath.Join(p.Root, "file")
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				t.Setenv("XDG_STATE_HOME", file+"/state") // can never be made
				before := children(t)
				r := s.Run(t, p, call)
				_, err := os.Stat(mark)
				if began := err == nil; began != c.runs || r.OK() != c.runs {
					t.Errorf("the command began: %v, should: %v\n%s", began, c.runs, r.Describe())
				}
				told := slices.ContainsFunc(r.Notices, func(n report.Notice) bool { return n.Kind == "journal:missing" })
				if c.runs && !told {
					t.Error("no notice of the missing journal")
				}
				if after := children(t); after != before {
					t.Errorf("our children were %q, and are %q", before, after)
				}
			})
		}
	}
}

// children lists the processes that this one has started and not waited for.
func children(t *testing.T) string {
	t.Helper()
	var all []string
	threads, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(threads) == 0 {
		t.Fatal("the kernel does not list children", err)
	}
	for _, list := range threads {
		data, err := os.ReadFile(list)
		if err != nil && !os.IsNotExist(err) { // a thread may end meanwhile
			t.Fatal(err)
		}
		all = append(all, strings.Fields(string(data))...)
	}
	return strings.Join(all, " ")
}
