package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// Counts of one run of /bin/true with the default policy, its own 30 calls included.
// They are stable where times are not: within 1 from run to run, allocations within 30.
// today is the figure of the day when it was set (root, December 2026, Linux 6.18, bwrap
// 0.8.0; an ordinary user needs 13 % fewer calls). The bound is 15 % above it: who needs
// more changes it, and says why.
var bounds = []struct {
	what  string
	today int
}{
	{"linux-native: system calls", 1040},
	{"linux-native: processes and threads made", 8},
	{"linux-native: programs executed", 3},
	{"linux-native: mounts", 75},
	{"linux-native: page faults", 560},
	{"linux-bwrap: system calls", 1620},
	{"linux-bwrap: processes and threads made", 9},
	{"linux-bwrap: programs executed", 4},
	{"linux-bwrap: page faults", 746},
	{"library linux-native: allocations", 2010},
}

func bound(t *testing.T, what string) int {
	t.Helper()
	for _, b := range bounds {
		if b.what == what {
			return b.today * 115 / 100
		}
	}
	t.Fatalf("there is no bound for %q", what)
	return 0
}

func check(t *testing.T, what string, got int) {
	t.Helper()
	t.Logf("%s: %d (bound %d)", what, got, bound(t, what))
	if got > bound(t, what) {
		t.Errorf("%s: %d, bound %d", what, got, bound(t, what))
	}
}

// place is a bench without figures: a workspace out of /tmp, and a binary.
func place(t *testing.T, build bool) *bench {
	t.Helper()
	if err := os.MkdirAll("../../out", 0o755); err != nil { // which git ignores
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("../../out", "counts-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = filepath.Abs(dir); err != nil {
		t.Fatal(err)
	}
	outside := os.Environ() // with the compiler's cache
	// A home of its own: how many credentials there are to hide must not count.
	for name, sub := range map[string]string{"HOME": "home", "XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache"} {
		t.Setenv(name, filepath.Join(dir, sub))
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b := &bench{Result: newResult(true), dir: dir, workspace: filepath.Join(dir, "ws"), env: os.Environ()}
	if err := os.Mkdir(b.workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	if !build {
		return b
	}
	b.binary = filepath.Join(dir, "qsandbox")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s", "-o", b.binary, "../../cmd/qsandbox")
	cmd.Env = append(outside, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the program cannot be built here: %v: %s", err, out)
	}
	return b
}

// noise is what the Go runtime does more or less often as time goes by.
var noise = []string{"futex", "nanosleep", "clock_nanosleep", "sched_yield", "rt_sigreturn", "tgkill", "getpid", "madvise", "epoll_pwait", "restart_syscall", "sched_getaffinity", "timer_settime", "timer_delete", "read", "write"}

var call = regexp.MustCompile(`^\d+ +([a-z_0-9]+)\(`)

// moves counts the processes that were put into a cgroup from outside, which makes the
// kernel wait for 3 to 15 ms (cgroup_attach_lock in kernel/cgroup/cgroup.c).
const moves = "moves to a cgroup"

var moved = regexp.MustCompile(`cgroup\.procs", O_WRONLY`)

// traced counts the system calls of a whole run by name, with the command's own.
func traced(t *testing.T, argv []string, workspace string) map[string]int {
	t.Helper()
	log := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command("strace", append([]string{"-f", "-qq", "-o", log}, argv...)...)
	cmd.Dir = workspace
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("cannot be traced here: %v: %s", err, out)
	}
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	counts := map[string]int{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if m := call.FindStringSubmatch(s.Text()); m != nil {
			counts[m[1]]++
		}
		if moved.MatchString(s.Text()) {
			counts[moves]++
		}
	}
	return counts
}

// v1 tells whether the limit on processes is kept by a cgroup of version 1.
func v1() bool {
	_, err := os.Stat("/sys/fs/cgroup/pids/tasks")
	return err == nil
}

func total(counts map[string]int) (n int) {
	for name, c := range counts {
		if name != moves && !slices.Contains(noise, name) {
			n += c
		}
	}
	return n
}

func sum(counts map[string]int, names ...string) (n int) {
	for _, name := range names {
		n += counts[name]
	}
	return n
}

func TestSystemCalls(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	b := place(t, true)
	for _, backend := range []string{"linux-native", "linux-bwrap"} {
		t.Run(backend, func(t *testing.T) {
			argv := b.ours(backend, b.workspace, noop)
			if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil { // and makes what is made once
				if strings.Contains(os.Getenv("QSANDBOX_REQUIRE"), backend) {
					t.Fatalf("%v: %s", err, out)
				}
				t.Skipf("cannot be run here: %v: %s", err, out)
			}
			// The least of a few: a busy machine adds threads and wake-ups, it takes nothing away.
			calls, clones, execs, mounts := 1<<30, 1<<30, 1<<30, 1<<30
			for range 4 {
				c := traced(t, argv, b.workspace)
				if total(c) < calls && os.Getenv("BENCH_COUNTS") != "" {
					t.Log(describe(c))
				}
				calls = min(calls, total(c))
				clones = min(clones, sum(c, "clone", "clone3", "fork", "vfork"))
				execs = min(execs, sum(c, "execve", "execveat"))
				mounts = min(mounts, sum(c, "mount", "move_mount", "open_tree", "mount_setattr", "umount2", "pivot_root"))
			}
			check(t, backend+": system calls", calls)
			check(t, backend+": processes and threads made", clones)
			if c := traced(t, argv, b.workspace); c[moves] > 0 && v1() {
				t.Errorf("%d %s", c[moves], moves)
			}
			check(t, backend+": programs executed", execs)
			if backend == "linux-native" {
				check(t, backend+": mounts", mounts)
			}
		})
	}
}

// Page faults are most of a short program's time in some virtual machines.
func TestPageFaults(t *testing.T) {
	b := place(t, true)
	for _, backend := range []string{"linux-native", "linux-bwrap"} {
		t.Run(backend, func(t *testing.T) {
			least := 1 << 30
			for range 10 {
				usage, err := b.spawn(b.ours(backend, b.workspace, noop))
				if err != nil {
					if strings.Contains(os.Getenv("QSANDBOX_REQUIRE"), backend) {
						t.Fatal(err)
					}
					t.Skip("cannot be run here: ", err)
				}
				least = min(least, int(usage.Minflt))
			}
			check(t, backend+": page faults", least)
		})
	}
}

// describe lists the calls, the most frequent first.
func describe(counts map[string]int) string {
	var names []string
	for n := range counts {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	out := ""
	for _, n := range names {
		out += fmt.Sprintf("%s=%d ", n, counts[n])
	}
	return out
}

func TestAllocations(t *testing.T) {
	b := place(t, false)
	if err := b.library(policy.LinuxNative); err != nil {
		if strings.Contains(os.Getenv("QSANDBOX_REQUIRE"), "linux-native") {
			t.Fatal(err)
		}
		t.Skip("cannot be run here: ", err)
	}
	check(t, "library linux-native: allocations", int(testing.AllocsPerRun(20, func() {
		if err := b.library(policy.LinuxNative); err != nil {
			t.Error(err)
		}
	})))
}
