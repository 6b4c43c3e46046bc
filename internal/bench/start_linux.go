package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const noop = "/bin/true"

// variant is one way of starting a command.
type variant struct {
	name string
	argv []string
	bar  float64 // of its ratio to plain bwrap
}

// plainBwrap is what people write by hand: a read-only root, a private /dev, /proc and
// /tmp, one writable directory, all namespaces.
func (b *bench) plainBwrap(workspace string, command ...string) []string {
	return append([]string{"bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
		"--bind", workspace, workspace, "--unshare-all", "--chdir", workspace, "--"}, command...)
}

func (b *bench) ours(backend, workspace string, command ...string) []string {
	return append([]string{b.binary, "run", "--backend", backend, "--workspace", workspace, "--"}, command...)
}

// starters are all that could be measured; peers that are not there are left out.
func (b *bench) starters() []variant {
	ws := b.workspace
	return []variant{
		{"bare", []string{noop}, 0},
		{"bwrap", b.plainBwrap(ws, noop), 0},
		{"qsandbox linux-native", b.ours("linux-native", ws, noop), 1.0},
		{"qsandbox linux-bwrap", b.ours("linux-bwrap", ws, noop), 2.0},
		{"nsjail", []string{"nsjail", "-Mo", "--really_quiet", "--chroot", "/", "-T", "/tmp", "-B", ws, "--cwd", ws, "--", noop}, 0},
		{"firejail", []string{"firejail", "--quiet", "--noprofile", "--net=none", "--private-tmp", "--private-dev", "--read-only=/", "--read-write=" + ws, noop}, 0},
		{"crun", []string{"crun", "run", "--bundle", filepath.Join(b.dir, "bundle"), "qsandbox-bench"}, 0},
		{"docker", []string{"docker", "run", "--rm", "--network", "none", "busybox", "true"}, 0},
	}
}

// usable tries every variant once and says why one is left out.
func (b *bench) usable() ([]variant, error) {
	var out []variant
	for _, v := range b.starters() {
		path, err := exec.LookPath(v.argv[0])
		if err == nil && v.name == "crun" {
			err = b.crunBundle()
		}
		if err == nil {
			v.argv[0] = path
			cmd := exec.Command(path, v.argv[1:]...)
			cmd.Dir, cmd.Env = b.workspace, b.env
			var text bytes.Buffer
			cmd.Stderr = &text
			if err = cmd.Run(); err != nil {
				line, _, _ := strings.Cut(strings.TrimSpace(text.String()), "\n")
				err = fmt.Errorf("%w: %s", err, line)
			}
		}
		switch {
		case err == nil:
			out = append(out, v)
		case v.name == "bare":
			return nil, err
		case errors.Is(err, exec.ErrNotFound):
			b.skip(v.name, "not installed")
		default:
			b.skip(v.name, err)
		}
	}
	return out, nil
}

// crunBundle makes a bundle of the host's root, read-only.
func (b *bench) crunBundle() error {
	dir := filepath.Join(b.dir, "bundle")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("crun", "spec")
	if os.Getuid() != 0 {
		cmd.Args = append(cmd.Args, "--rootless")
	}
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("crun spec: %w: %s", err, out)
	}
	path := filepath.Join(dir, "config.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for old, now := range map[string]string{`"terminal": true`: `"terminal": false`, `"sh"`: `"` + noop + `"`, `"path": "rootfs"`: `"path": "/"`} {
		data = bytes.Replace(data, []byte(old), []byte(now), 1)
	}
	return os.WriteFile(path, data, 0o644)
}

// starts measures the start and end of a whole process.
func (b *bench) starts() error {
	vs, err := b.usable()
	if err != nil {
		return err
	}
	const group = "start and end of /bin/true, whole process"
	work, faults := make([][]float64, len(vs)), make([][]float64, len(vs))
	times, err := rounds(b.n, b.budget(60*time.Second), len(vs), func(i int) error {
		usage, err := b.spawn(vs[i].argv)
		if err == nil {
			work[i] = append(work[i], float64(usage.Utime.Nano()+usage.Stime.Nano())/1e6)
			faults[i] = append(faults[i], float64(usage.Minflt))
		} else {
			b.skip("one start of "+vs[i].name, err)
		}
		return err
	})
	if err != nil {
		return err
	}
	plain := -1
	for i, v := range vs {
		b.add(row(group, v.name, "ms", append([]float64(nil), times[i]...)))
		if v.name == "bwrap" {
			plain = i
		}
	}
	if plain < 0 {
		b.skip("ratios", "there is no bwrap to compare with")
		return nil
	}
	for i, v := range vs {
		if i != plain {
			r := row(group+": × bwrap", v.name, "x", ratios(times[i], times[plain]))
			r.Bar = v.bar
			b.add(r)
		}
	}
	// What it costs the processors hardly depends on what else they do.
	for i, v := range vs {
		b.add(row("processor time of the same", v.name, "ms", append([]float64(nil), work[i]...)))
	}
	for i, v := range vs {
		if i != plain {
			b.add(row("processor time of the same: × bwrap", v.name, "x", ratios(work[i], work[plain])))
		}
	}
	for i, v := range vs { // dear in some virtual machines
		b.add(row("page faults of the same", v.name, "faults", faults[i]))
	}
	return nil
}

// rounds lets n variants take turns, in a new order each round, and gives the times in
// milliseconds by variant and round. The first rounds only warm up. On a machine that
// is too busy there are fewer, which the table shows.
func rounds(count int, budget time.Duration, n int, do func(i int) error) ([][]float64, error) {
	const warm, least = 3, 10
	times := make([][]float64, n)
	started := time.Now()
	for round := -warm; round < count; round++ {
		if round >= least && time.Since(started) > budget {
			break
		}
		for _, i := range rand.Perm(n) {
			began := time.Now()
			err := do(i)
			for try := 1; err != nil && try < tries; try++ {
				began = time.Now()
				err = do(i)
			}
			if err != nil {
				return nil, err
			}
			if round >= 0 {
				times[i] = append(times[i], float64(time.Since(began).Nanoseconds())/1e6)
			}
		}
	}
	return times, nil
}

// tries is how often a start is tried: what other programs on the machine do, such as
// taking away a socket that was to be hidden, can make one fail.
const tries = 3

// budget is the time that a part may take.
func (b *bench) budget(d time.Duration) time.Duration {
	if b.quick {
		return d / 20
	}
	return d
}

// spawn starts a process and waits for its end, with as little of our own as can be. It
// gives what the process used, and all that it waited for.
func (b *bench) spawn(argv []string) (usage syscall.Rusage, err error) {
	pid, err := b.fork(argv)
	if err != nil {
		return usage, err
	}
	var status syscall.WaitStatus
	if usage, err = wait(pid, &status); err == nil && status.ExitStatus() != 0 {
		err = fmt.Errorf("%q: exit code %d", argv, status.ExitStatus())
	}
	return usage, err
}

func (b *bench) fork(argv []string) (pid int, err error) {
	null, err := devNull()
	if err != nil {
		return 0, err
	}
	return syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Dir: b.workspace, Env: b.env, Files: []uintptr{null, null, null}})
}

func wait(pid int, status *syscall.WaitStatus) (syscall.Rusage, error) {
	var usage syscall.Rusage
	for {
		if _, err := syscall.Wait4(pid, status, 0, &usage); err != syscall.EINTR {
			return usage, err
		}
	}
}

// null is /dev/null, open once.
var null *os.File

func devNull() (uintptr, error) {
	if null == nil {
		f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			return 0, err
		}
		null = f
	}
	return null.Fd(), nil
}
