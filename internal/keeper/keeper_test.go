//go:build darwin || linux

package keeper

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary plays the keeper, and a launcher that can be killed.
func TestMain(m *testing.M) {
	switch {
	case os.Args[0] == Name:
		Main()
	case os.Getenv("KEEPER_LAUNCHER") != "":
		p, err := Start(context.Background(), job("sh", "-c", os.Getenv("KEEPER_LAUNCHER")), Options{})
		if err != nil {
			os.Exit(3)
		}
		_, _ = io.Copy(os.Stdout, p.Stdout)
		p.Wait()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func job(name string, args ...string) Job {
	path, err := exec.LookPath(name)
	if err != nil {
		path = name
	}
	return Job{Path: []byte(path), Argv: Bytes(append([]string{name}, args...)), Env: Bytes([]string{"PATH=/usr/bin:/bin", "ONLY=this"}), Dir: []byte("/")}
}

func run(t *testing.T, j Job, opt Options) (Result, string, string) {
	t.Helper()
	p, err := Start(context.Background(), j, opt)
	if err != nil {
		t.Fatal(err)
	}
	out, errs := make(chan string, 1), make(chan string, 1)
	go func() { b, _ := io.ReadAll(p.Stdout); out <- string(b) }()
	go func() { b, _ := io.ReadAll(p.Stderr); errs <- string(b) }()
	r := p.Wait()
	return r, <-out, <-errs
}

func TestStreamsExitAndEnvironment(t *testing.T) { // PROC-01, VAR-01
	r, out, errs := run(t, job("sh", "-c", "pwd; env | grep -v -E '^(PWD|SHLVL|_|OLDPWD)='; echo to-stderr >&2; cat; exit 7"), Options{})
	if r.Status.ExitStatus() != 7 || errs != "to-stderr\n" || out != "/\nPATH=/usr/bin:/bin\nONLY=this\n" && out != "/\nONLY=this\nPATH=/usr/bin:/bin\n" {
		t.Errorf("%d %q %q", r.Status.ExitStatus(), out, errs)
	}
	if r, _, _ := run(t, job("sh", "-c", "kill -TERM $$"), Options{}); r.Status.Signal() != syscall.SIGTERM {
		t.Errorf("signal %v", r.Status)
	}
}

func TestNoDescriptorIsInherited(t *testing.T) {
	_, out, errs := run(t, job("ls", "/dev/fd/"), Options{})
	if got := strings.Fields(out); len(got) != 4 { // 0 to 2, and the directory itself
		t.Errorf("%q %q", out, errs)
	}
}

func TestInputIsPassedAndEnds(t *testing.T) {
	p, err := Start(context.Background(), job("cat"), Options{Stdin: true})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.Stdin.WriteString("in\xff")
	p.Stdin.Close()
	out, _ := io.ReadAll(p.Stdout)
	if r := p.Wait(); string(out) != "in\xff" || r.Status.ExitStatus() != 0 {
		t.Errorf("%q %v", out, r)
	}
}

func TestStartFailsWithTheErrno(t *testing.T) {
	for path, want := range map[string]error{"/no/such": syscall.ENOENT, "/etc/passwd": syscall.EACCES} {
		_, err := Start(context.Background(), job(path), Options{})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	j := job("true")
	j.Dir = []byte("/no/such/dir")
	if _, err := Start(context.Background(), j, Options{}); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("a directory that is not there: %v", err)
	}
}

// TestWrapper: a wrapper that never executes the command is a failure of the
// start, with its words; one that does is not.
func TestWrapper(t *testing.T) {
	dir := t.TempDir()
	script := func(name, body string) Job {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		j := job(path)
		j.Wrapper = name
		return j
	}
	_, err := Start(context.Background(), script("wrapbad", "echo no profile here >&2; exit 65"), Options{})
	var f *Failure
	if !errors.As(err, &f) || !strings.Contains(err.Error(), "no profile here") {
		t.Errorf("%v", err)
	}
	if r, out, _ := run(t, script("wrapgood", "exec echo ran"), Options{}); out != "ran\n" || r.Status.ExitStatus() != 0 {
		t.Errorf("%q %v", out, r)
	}
	if r, _, _ := run(t, script("wrapquick", "exec false"), Options{}); r.Status.ExitStatus() != 1 {
		t.Errorf("a command that ends at once: %v", r)
	}
}

// alive tells whether a process runs (and is no zombie).
func alive(t *testing.T, pid int) bool {
	t.Helper()
	list, err := processes()
	if err != nil || len(list) == 0 {
		t.Fatalf("the list of processes: %d of them, %v", len(list), err) // it would show that all are gone
	}
	for _, p := range list {
		if p.pid == pid && !p.gone {
			return true
		}
	}
	return false
}

func eventuallyGone(t *testing.T, what string, pids ...int) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		left := false
		for _, p := range pids {
			left = left || alive(t, p)
		}
		if !left {
			return
		}
	}
	for _, p := range pids {
		_ = syscall.Kill(p, syscall.SIGKILL)
	}
	t.Errorf("%s: %v live on", what, pids)
}

func numbers(s string) (out []int) {
	for _, f := range strings.Fields(s) {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// family starts a job that ignores TERM, one that is in a session of its own, and
// says their numbers.
const family = `trap '' TERM; (trap '' TERM HUP; sleep 300) & echo $!; setsid sh -c 'echo $$; trap "" TERM; sleep 300' & sleep 0.3; echo $$; `

func needSetsid(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
}

func TestWhatIsLeftIsEnded(t *testing.T) { // PROC-02
	needSetsid(t)
	r, out, _ := run(t, job("sh", "-c", family+"exit 0"), Options{})
	pids := numbers(out)
	if len(pids) != 3 || r.Status.ExitStatus() != 0 {
		t.Fatalf("%q %v", out, r)
	}
	for _, pid := range pids { // also the one in a session of its own
		if !slices.Contains(r.PIDs, pid) {
			t.Errorf("%d is not among those seen: %v", pid, r.PIDs)
		}
	}
	eventuallyGone(t, "after the end", pids...)
}

func TestKillEndsTheTree(t *testing.T) {
	needSetsid(t)
	p, err := Start(context.Background(), job("sh", "-c", family+"wait; sleep 300"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 200)
	var said string
	for len(numbers(said)) < 3 {
		n, err := p.Stdout.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		said += string(buf[:n])
	}
	if err := p.SignalAll(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	time.Sleep(50 * time.Millisecond)
	if !alive(t, p.PID) {
		t.Error("a command that ignores TERM was ended by it")
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	r := p.Wait()
	if r.Lost || r.Status.Signal() != syscall.SIGKILL {
		t.Errorf("%+v", r)
	}
	eventuallyGone(t, "after a kill", numbers(said)...)
	if err := p.Kill(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("after the end: %v", err)
	}
}

// TestDeathOfTheLauncher: with the launcher killed, nothing of the tree lives on.
func TestDeathOfTheLauncher(t *testing.T) {
	needSetsid(t)
	for range 5 {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "KEEPER_LAUNCHER="+family+"wait; sleep 300")
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var said string
		buf := make([]byte, 200)
		for len(numbers(said)) < 3 {
			n, err := pipe.Read(buf)
			if err != nil {
				t.Fatal(err, said)
			}
			said += string(buf[:n])
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		eventuallyGone(t, "after the launcher's death", numbers(said)...)
	}
}

// TestDeathOfTheKeeper: a result, not a hang, and the command's group is ended.
func TestDeathOfTheKeeper(t *testing.T) {
	p, err := Start(context.Background(), job("sleep", "300"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !alive(t, p.PID) {
		t.Fatal("the command does not run")
	}
	_ = syscall.Kill(p.keeper, syscall.SIGKILL)
	if r := p.Wait(); !r.Lost {
		t.Errorf("%+v", r)
	}
	eventuallyGone(t, "after the keeper's death", p.PID)
}

func TestTerminal(t *testing.T) { // PROC-04
	var name string
	j := job("sh", "-c", "tty; stty size; [ -t 0 ] && [ -t 2 ] && echo terminal; exec 3</dev/tty && echo controlling; read x; echo got $x")
	j.TTY = true
	p, err := Start(context.Background(), j, Options{Rows: 30, Cols: 90, Prepare: func(_ *Job, terminal string) error { name = terminal; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.TTY.WriteString("typed\n")
	done := make(chan string, 1)
	go func() { b, _ := io.ReadAll(p.TTY); done <- string(b) }()
	r := p.Wait()
	var out string
	select {
	case out = <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("the terminal does not end")
	}
	for _, want := range []string{name, "30 90", "terminal", "controlling", "got typed"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q misses %q", out, want)
		}
	}
	if r.Status.ExitStatus() != 0 {
		t.Error(r)
	}
}

func TestCancelledStart(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if p, err := Start(ctx, job("sleep", "300"), Options{}); !errors.Is(err, context.Canceled) || p != nil {
		t.Errorf("started although it was cancelled: %v %v", p, err)
	}
}
