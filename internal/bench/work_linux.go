package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// memory measures the peak resident memory of the wrapper itself: VmHWM, looked at
// until the process is gone. (ru_maxrss counts what the parent had before exec.)
func (b *bench) memory() error {
	const group = "peak memory of the wrapper"
	for _, v := range []variant{
		{"qsandbox linux-native", b.ours("linux-native", b.workspace, "sleep", "0.05"), 12},
		{"qsandbox linux-bwrap", b.ours("linux-bwrap", b.workspace, "sleep", "0.05"), 12},
		{"bwrap", b.plainBwrap(b.workspace, "sleep", "0.05"), 0},
	} {
		path, err := exec.LookPath(v.argv[0])
		if err != nil {
			continue // said before
		}
		v.argv[0] = path
		var peaks []float64
		for range 9 {
			kib, err := b.peak(v.argv)
			if err != nil {
				b.skip(group+", "+v.name, err)
				break
			}
			peaks = append(peaks, float64(kib)/1024)
		}
		r := row(group, v.name, "MiB", peaks)
		r.Bar = v.bar
		if r.N > 0 {
			b.add(r)
		}
	}
	return nil
}

func (b *bench) peak(argv []string) (kib int, err error) {
	pid, err := b.fork(argv)
	if err != nil {
		return 0, err
	}
	done := make(chan struct{})
	var status syscall.WaitStatus
	go func() { wait(pid, &status); close(done) }()
	for {
		select {
		case <-done:
			if status.ExitStatus() != 0 {
				return 0, fmt.Errorf("exit code %d", status.ExitStatus())
			}
			return kib, nil
		case <-time.After(300 * time.Microsecond):
			data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if _, rest, ok := bytes.Cut(data, []byte("VmHWM:")); ok {
				n, _ := strconv.Atoi(strings.Fields(string(rest))[0])
				kib = max(kib, n)
			}
		}
	}
}

// jobs are the work inside; each is timed by itself, without the sandbox's start.
var jobs = []struct{ name, script string }{
	{"find", "find . >/dev/null"},
	{"tar", "tar cf - . | cat >/dev/null"},
	{"git status", "git status --porcelain"},
}

// work measures what file-heavy programs take inside, on a tree of many files.
func (b *bench) work() error {
	tree, err := b.tree()
	if err != nil {
		b.skip("work inside", err)
		return nil
	}
	group := fmt.Sprintf("work on %d files, start-up excluded", b.files)
	count := 15
	if b.quick {
		count = 5
	}
	wrap := []struct {
		name string
		argv func(...string) []string
		bar  float64
	}{
		{"bare", func(c ...string) []string { return c }, 0},
		{"qsandbox linux-native", func(c ...string) []string { return b.ours("linux-native", tree, c...) }, 1.05},
		{"qsandbox strict", func(c ...string) []string {
			return append([]string{b.binary, "run", "--backend", "linux-native", "--mode", "strict", "--workspace", tree, "--"}, c...)
		}, 0},
	}
	var compared []Row
	for _, job := range jobs {
		times := make([][]float64, len(wrap))
		started := time.Now()
		for round := -1; round < count && (round < 3 || time.Since(started) < b.budget(15*time.Second)); round++ {
			for i, w := range wrap {
				ms, err := b.timed(tree, w.argv, job.script)
				if err != nil && w.bar == 0 && i > 0 {
					if round < 0 {
						b.skip(group+", "+job.name+", "+w.name, err)
					}
					continue
				}
				if err != nil {
					return fmt.Errorf("%s, %s: %w", job.name, w.name, err)
				}
				if round >= 0 {
					times[i] = append(times[i], ms)
				}
			}
		}
		for i, w := range wrap {
			if len(times[i]) == 0 {
				continue
			}
			b.add(row(group, job.name+", "+w.name, "ms", append([]float64(nil), times[i]...)))
			if i > 0 {
				r := row(group+": × bare", job.name+", "+w.name, "x", ratios(times[i], times[0]))
				r.Bar = w.bar
				compared = append(compared, r)
			}
		}
	}
	b.add(compared...)
	return nil
}

// timed runs a script and gives the milliseconds that it took, as the shell inside saw it.
func (b *bench) timed(dir string, wrap func(...string) []string, script string) (float64, error) {
	argv := wrap("bash", "-c", `s=$EPOCHREALTIME; `+script+` || exit; e=$EPOCHREALTIME; echo "took $(( ${e/[.,]/} - ${s/[.,]/} ))"`)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, b.env
	var text bytes.Buffer
	cmd.Stderr = &text
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, strings.TrimSpace(text.String()))
	}
	_, took, ok := strings.Cut(string(out), "took ")
	us, err := strconv.ParseFloat(strings.TrimSpace(took), 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("output %q", out)
	}
	return us / 1000, nil
}

// tree makes a repository of many small files, or takes the one of an earlier run. It
// stays beside the results, as it is dear to make.
func (b *bench) tree() (string, error) {
	dir := filepath.Join(filepath.Dir(b.dir), "bench-tree-"+strconv.Itoa(b.files))
	if _, err := os.Stat(filepath.Join(dir, ".git", "complete")); err == nil {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	for i := range b.files {
		sub := filepath.Join(dir, fmt.Sprintf("d%03d", i/100))
		if i%100 == 0 {
			if err := os.MkdirAll(sub, 0o755); err != nil {
				return "", err
			}
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%02d.txt", i%100)), fmt.Appendf(nil, "file %d\n", i), 0o644); err != nil {
			return "", err
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "tree"}, {"status", "--porcelain"}} {
		cmd := exec.Command("git", append([]string{"-c", "gc.auto=0", "-c", "maintenance.auto=false"}, args...)...) // nothing may change the tree later
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return dir, os.WriteFile(filepath.Join(dir, ".git", "complete"), nil, 0o644)
}
