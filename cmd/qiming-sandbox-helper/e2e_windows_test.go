package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/internal/helpercmd"
)

// wine tells whether this is no real Windows.
func wine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}

// rig is a workspace and records of a test's own.
type rig struct {
	t        *testing.T
	ws, home string
	env      []string
	sub      string // mode
	json     string
}

// newRig skips where a run cannot succeed: a real Windows must be asked for by
// QSANDBOX_WINDOWS=1, and under Wine the test build's override is needed.
func newRig(t *testing.T) *rig {
	t.Helper()
	if !wine() && os.Getenv("QSANDBOX_WINDOWS") != "1" {
		t.Skip("set QSANDBOX_WINDOWS=1 to change access-control lists of this Windows")
	}
	if wine() && os.Getenv("QSANDBOX_TEST_EMULATED") != "1" {
		t.Skip("under Wine run scripts/wine")
	}
	base := t.TempDir()
	long, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, ws: filepath.Join(long, "w s é"), home: filepath.Join(long, "home"), env: os.Environ(), sub: "workspace-write"}
	if err := os.MkdirAll(r.ws, 0o755); err != nil {
		t.Fatal(err)
	}
	r.policy("compat", r.ws)
	t.Cleanup(func() { r.acl("revoke", "--all") })
	return r
}

func (r *rig) policy(mode string, roots ...string) *rig {
	b, _ := json.Marshal(map[string]any{"type": "workspace-write", "writable_roots": append([]string{}, roots...), "sandbox_mode": mode})
	r.json = string(b)
	return r
}

// cmd is the helper as a process, with a role as its command.
func (r *rig) cmd(sub string, options []string, command ...string) *exec.Cmd {
	args := []string{"role:helper", sub, "--mode", r.sub, "--cwd", r.ws, "--home", r.home}
	if r.json != "" {
		args = append(args, "--policy-json", r.json)
	}
	args = append(append(args, options...), "--")
	if len(command) > 0 && strings.HasPrefix(command[0], "role:") {
		args = append(args, os.Args[0])
	}
	c := exec.Command(os.Args[0], append(args, command...)...)
	c.Env = r.env
	return c
}

// run runs and reads the JSON object.
func (r *rig) run(options []string, command ...string) helpercmd.Result {
	r.t.Helper()
	c := r.cmd("run", options, command...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	res, perr := helpercmd.ParseResult(out)
	if perr != nil {
		r.t.Fatalf("%v: %q %q %v", command, out, errs.String(), err)
	}
	if code := c.ProcessState.ExitCode(); code != res.ExitCode {
		r.t.Errorf("%v: the helper ended with %d, its answer says %d", command, code, res.ExitCode)
	}
	return res
}

func (r *rig) acl(args ...string) aclAnswer {
	args = append([]string{"role:helper", "acl"}, args...)
	if r.home != "" {
		args = append(args, "--home", r.home)
	}
	c := exec.Command(os.Args[0], args...)
	c.Env = r.env
	out, err := c.Output()
	var a aclAnswer
	if jerr := json.Unmarshal(out, &a); jerr != nil {
		r.t.Errorf("acl %v: %q %v", args, out, err)
	}
	return a
}

func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	ev, _ := windows.WaitForSingleObject(h, 0)
	return ev == uint32(windows.WAIT_TIMEOUT)
}

func gone(t *testing.T, pid int) {
	t.Helper()
	if pid <= 0 {
		t.Fatal("the grandchild told no number")
	}
	for end := time.Now().Add(8 * time.Second); alive(pid); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

func TestRunAnswers(t *testing.T) {
	r := newRig(t)
	if got := r.run(nil, "role:say", "to out", "to err"); got.Stdout != "to out" || got.Stderr != "to err" || got.ExitCode != 0 || got.TimedOut {
		t.Errorf("%+v", got)
	}
	for _, code := range []int{1, 77, 255, 3221225477} {
		if got := r.run(nil, "role:exit", strconv.Itoa(code)); uint32(got.ExitCode) != uint32(code) {
			t.Errorf("exit %d: %d", code, got.ExitCode)
		}
	}
	odd := []string{"", " ", `a"b`, `c:\dir\`, `\\`, `a\"`, "é 中", "%PATH%", "-x", "--", "a&b|c"}
	var back []string
	if err := json.Unmarshal([]byte(r.run(nil, append([]string{"role:args"}, odd...)...).Stdout), &back); err != nil || !slices.Equal(back, odd) {
		t.Errorf("arguments %q, %v", back, err)
	}
	if got := r.run(nil, "role:cwd"); !strings.EqualFold(got.Stdout, r.ws) {
		t.Errorf("starts in %q", got.Stdout)
	}
	if got := r.run(nil, "role:cat"); got.Stdout != "" || got.ExitCode != 0 {
		t.Errorf("run has an input: %+v", got)
	}
	if got := r.run(nil, "role:touch", "made"); got.ExitCode != 0 {
		t.Errorf("%+v", got)
	}
	if got := r.run([]string{"--output", "100"}, "role:big", "3000000"); len(got.Stdout) != 100 || !got.Truncated {
		t.Errorf("limited output: %d %v", len(got.Stdout), got.Truncated)
	}
	if got := r.run(nil, "role:big", "3000000"); len(got.Stdout) != 3000000 || got.Truncated {
		t.Errorf("long output: %d", len(got.Stdout))
	}
	if got := r.run(nil, "role:pipe"); got.Stdout != "through a pipe" {
		t.Errorf("a child's pipe: %+v", got)
	}
}

func TestServePassesOn(t *testing.T) {
	for _, flag := range [][]string{nil, {"--write-restricted"}, {"--no-write-restricted"}} {
		r := newRig(t)
		c := r.cmd("serve", flag, "role:cat")
		in := strings.Repeat("input\r\n", 400_000)
		c.Stdin = strings.NewReader(in)
		out, err := c.Output()
		if err != nil || string(out) != in {
			t.Errorf("%v: %d bytes of %d, %v", flag, len(out), len(in), err)
		}
		c = r.cmd("serve", flag, "role:exit", "42")
		if c.Run(); c.ProcessState.ExitCode() != 42 {
			t.Errorf("exit code %d", c.ProcessState.ExitCode())
		}
		if out, err := r.cmd("serve", flag, "role:pipe").Output(); string(out) != "through a pipe" {
			t.Errorf("%v: WN-05: %q %v", flag, out, err)
		}
	}
}

// TestEnvironmentIsSafe: ENV-03, the other way round: the helper has the list itself.
func TestEnvironmentIsSafe(t *testing.T) {
	r := newRig(t)
	r.env = append(r.env, "ANTHROPIC_API_KEY=leak_test", "NAMED=1", "NODE_OPTIONS=--require x")
	for _, sub := range []string{"run", "serve"} {
		out, err := r.cmd(sub, []string{"--pass-env", "NAMED"}, "role:env").Output()
		if err != nil {
			t.Fatal(err)
		}
		text := string(out)
		for _, want := range []string{"NAMED=1", "QSANDBOX_NETWORK=off", "HTTPS_PROXY=http://127.0.0.1:9", "PAGER=more.com"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s", sub, want)
			}
		}
		for _, never := range []string{"leak_test", "NODE_OPTIONS"} {
			if strings.Contains(text, never) {
				t.Errorf("%s: %s passes", sub, never)
			}
		}
		if control, _ := exec.Command(os.Args[0], "role:env").Output(); len(control) == 0 {
			t.Error("control: no environment without the sandbox either")
		}
	}
}

func TestTimeLimitEndsTheTree(t *testing.T) {
	r := newRig(t)
	began := time.Now()
	got := r.run([]string{"--timeout", "1500ms"}, "role:parent", "wait")
	if !got.TimedOut || got.ExitCode != helpercmd.ExitTimeout || time.Since(began) > 20*time.Second {
		t.Errorf("%+v after %s", got, time.Since(began))
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(got.Stdout))
	gone(t, pid)
}

// TestGrandchildHoldsNothing: the command has ended, its child still has the pipes.
func TestGrandchildHoldsNothing(t *testing.T) {
	r := newRig(t)
	began := time.Now()
	got := r.run(nil, "role:parent", "leave")
	if got.ExitCode != 0 || time.Since(began) > 20*time.Second {
		t.Errorf("%+v after %s", got, time.Since(began))
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(got.Stdout))
	gone(t, pid)
}

// TestKilledHelperTakesAllWithIt: the job ends with its last handle.
func TestKilledHelperTakesAllWithIt(t *testing.T) {
	r := newRig(t)
	c := r.cmd("serve", nil, "role:parent", "wait")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	n, _ := out.Read(buf)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if !alive(pid) {
		t.Error("control: the grandchild is not there while the helper is")
	}
	c.Process.Kill()
	c.Wait()
	gone(t, pid)
}

func TestNoOtherHandle(t *testing.T) {
	r := newRig(t)
	sa := &windows.SecurityAttributes{Length: 24, InheritHandle: 1}
	ev, err := windows.CreateEvent(sa, 1, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(ev)
	n := strconv.FormatUint(uint64(ev), 10)
	control := exec.Command(os.Args[0], "role:handle", n)
	control.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(ev)}}
	if out, err := control.Output(); string(out) != "open" {
		t.Fatalf("control: %q %v", out, err)
	}
	c := r.cmd("serve", nil, "role:handle", n)
	c.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(ev)}}
	if out, err := c.Output(); string(out) != "not mine" {
		t.Errorf("inside: %q %v", out, err)
	}
}

// TestTokenThatDidNotTakeIsRefused: without the override nothing runs under Wine, where
// tokens are not restricted.
func TestTokenThatDidNotTakeIsRefused(t *testing.T) {
	r := newRig(t)
	if !wine() {
		t.Skip("a real Windows restricts tokens")
	}
	r.env = append(slices.Clone(r.env), "QSANDBOX_TEST_EMULATED=0")
	got := r.run(nil, "role:touch", "made")
	if got.ExitCode != 125 || got.Error == nil || got.Error.Code != "SANDBOX_UNAVAILABLE" || !strings.Contains(got.Error.Message, "restricting identifier") {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(r.ws, "made")); err == nil {
		t.Error("the command ran")
	}
}

// TestManyAtOnce: CONC-03, answers are not mixed up.
func TestManyAtOnce(t *testing.T) {
	r := newRig(t)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			want := fmt.Sprintf("number %d", i)
			sub := []string{"run", "serve"}[i%2]
			out, err := r.cmd(sub, nil, "role:say", want, "").Output()
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %q %v", want, out, err)
			}
		})
	}
	all.Wait()
}

func TestReportFile(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(filepath.Dir(r.ws), "report.json")
	if out, err := r.cmd("serve", []string{"--report", file}, "role:exit", "0").CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), "NET-01") || !strings.Contains(string(data), "advisory") {
		t.Errorf("%s %v", data, err)
	}
	if out, err := r.cmd("serve", []string{"--report", file}, "role:touch", "made").CombinedOutput(); err == nil {
		t.Errorf("an old report is written over: %s", out)
	}
}
