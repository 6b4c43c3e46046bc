package launch

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/inside"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
)

func TestJoining(t *testing.T) {
	self := joinSelf
	if !inside.CanClone {
		self = joinAdopt
	}
	for name, c := range map[string]struct {
		controllers string
		version     int
		second      bool
		want        joining
	}{
		"no group":                      {"", 1, false, joinNone},
		"version 1":                     {"pids memory cpu", 1, false, self},
		"version 1, an init of threads": {"pids", 1, true, joinAdopt},
		"version 2":                     {"pids", 2, false, joinBorn},
		"version 2, second start":       {"pids", 2, true, joinBorn},
		"version 2, memory":             {"memory", 2, false, joinAdopt},
		"version 2, both":               {"memory pids", 2, false, joinAdopt},
	} {
		dirs := map[string]string{}
		for _, c := range strings.Fields(c.controllers) {
			dirs[c] = "/x"
		}
		l := &launcher{plan: &plan.Plan{Limits: plan.Limits{How: plan.Mechanisms{CgroupDir: dirs, CgroupVer: c.version}}}, opt: Options{SecondStart: c.second}}
		if got := l.joining(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// bornPlan runs a command without namespaces that tells its group; the group is there
// already. pids.max cannot be part of it: the controller may be version 1's here.
func bornPlan(t *testing.T, dir string) *launcher {
	t.Helper()
	p := &plan.Plan{Exe: "/bin/cat", Argv: []string{"cat", "/proc/self/cgroup"}, Cwd: "/", Isolation: plan.Isolation{Direct: true}}
	p.Limits.How = plan.Mechanisms{CgroupDir: map[string]string{"pids": filepath.Dir(dir)}, CgroupVer: 2}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &launcher{plan: p, born: fd, theirs: []int{fd}, group: &cgroup{dirs: []string{dir}, version: 2}}
}

// TestBornInGroup: on version 2 the first process is made in the group, and so is the command.
func TestBornInGroup(t *testing.T) {
	dir := ""
	for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		made := filepath.Join(mount, fmt.Sprintf("launch-test-%d", os.Getpid()))
		if _, err := os.Stat(filepath.Join(mount, "cgroup.controllers")); err == nil && os.Mkdir(made, 0o755) == nil {
			dir = made
			break
		}
	}
	if dir == "" {
		t.Skip("no cgroup of version 2 can be made here")
	}
	defer os.Remove(dir)
	l := bornPlan(t, dir)
	for _, step := range []func() error{l.lower, l.open, l.fork} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	l.closeChildEnds()
	if err := l.handshake(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := l.process()
	out, _ := io.ReadAll(p.Stdout)
	if r, err := p.Wait(); err != nil || r.Code != 0 {
		t.Fatalf("%+v %v", r, err)
	}
	if want := "0::/" + filepath.Base(dir) + "\n"; !strings.Contains(string(out), want) {
		t.Errorf("the command was in %q, not in %q", out, want)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the group is still there: %v", err)
	}
}

// TestBornOutside: where a process cannot be made in the group, it is made once outside.
func TestBornOutside(t *testing.T) {
	for name, refused := range map[string]error{"older kernel": unix.EINVAL, "container's filter": unix.ENOSYS, "no right": unix.EACCES} {
		l := &launcher{born: 7}
		calls := map[int]int{}
		err := l.inGroup(func(group int) error {
			calls[group]++
			if group >= 0 {
				return refused
			}
			return nil
		})
		if err != nil || !maps.Equal(calls, map[int]int{7: 1, -1: 1}) || l.born != -1 {
			t.Errorf("%s: %v, calls %v, group %d", name, err, calls, l.born)
		}
	}
	l := &launcher{born: -1}
	if err := l.inGroup(func(int) error { return syscall.ENOENT }); err != syscall.ENOENT {
		t.Errorf("a start that fails: %v", err)
	}
}

// TestLimitCountsOurs: what is asked for is what the command gets.
func TestLimitCountsOurs(t *testing.T) {
	for version := 1; version <= 2; version++ {
		g := &cgroup{version: version}
		for ours := 1; ours <= 2; ours++ {
			if got := g.settings(plan.Limits{Processes: 64}, ours)["pids"][0][1]; got != fmt.Sprint(64+ours) {
				t.Errorf("version %d, %d of ours: pids.max %s", version, ours, got)
			}
		}
	}
}
