package livetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// client is an MCP client of the test's own, with a real server in another process.
type client struct {
	t     testing.TB
	cmd   *exec.Cmd
	place *backendtest.Place
	stdin io.WriteCloser
	ended chan struct{}

	mu    sync.Mutex
	next  int
	waits map[int]chan answer
	stray []string // lines that nobody waited for
}

// answer is what the tests look at.
type answer struct {
	Result struct {
		Content []struct{ Text string }
		IsError bool
		Out     result `json:"structuredContent"`
	}
	Error *struct {
		Code    int
		Message string
	}
}

type result struct {
	Job      string
	Running  bool
	Exit     *int `json:"exit_code"`
	Signal   string
	Cause    string
	TimedOut bool `json:"timed_out"`
	Stdout   string
	Stderr   string
	Trunc    bool `json:"truncated"`
	Denials  []struct{ Operation, Subject, Rule, Remedy string }
	Error    *struct{ Code, Message string }
}

// text joins what the model sees.
func (a answer) text() string {
	var s []string
	for _, c := range a.Result.Content {
		s = append(s, c.Text)
	}
	return strings.Join(s, "\n")
}

// newClient starts a server and shakes hands.
func newClient(t testing.TB, b policy.Backend, flags ...string) *client {
	t.Helper()
	c := startClient(t, b, flags...)
	c.call("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "0"}})
	c.notify("notifications/initialized", map[string]any{})
	return c
}

// startIn starts a server in a place that another one was in.
func startIn(t testing.TB, p *backendtest.Place, b policy.Backend) *client {
	t.Helper()
	c := startAt(t, p, b)
	c.call("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}})
	return c
}

// hostCommand runs a script of the host in a group of its own.
func hostCommand(script string, p *backendtest.Place) *exec.Cmd {
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = p.WS
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(p.Root, "state"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func startClient(t testing.TB, b policy.Backend, flags ...string) *client {
	t.Helper()
	return startAt(t, backendtest.NewPlace(t), b, flags...)
}

func startAt(t testing.TB, p *backendtest.Place, b policy.Backend, flags ...string) *client {
	t.Helper()
	c := &client{t: t, place: p, waits: map[int]chan answer{}, ended: make(chan struct{})}
	c.cmd = exec.Command(program(t), append([]string{"mcp", "--workspace", c.place.WS, "--backend", b.String()}, flags...)...)
	c.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(c.place.Root, "state"), "ANTHROPIC_API_KEY=leak_test")
	c.cmd.Stderr = os.Stderr
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.read(out)
	t.Cleanup(func() {
		c.stdin.Close()
		c.cmd.Process.Kill()
		<-c.ended
		c.cmd.Wait()
	})
	return c
}

// read gives each answer to the one who waits for it.
func (c *client) read(out io.Reader) {
	defer close(c.ended)
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		var head struct{ ID *int }
		var a answer
		json.Unmarshal([]byte(line), &head)
		bad := json.Unmarshal([]byte(line), &a)
		c.mu.Lock()
		if head.ID != nil && bad == nil && c.waits[*head.ID] != nil {
			c.waits[*head.ID] <- a
			delete(c.waits, *head.ID)
		} else {
			c.stray = append(c.stray, line)
		}
		c.mu.Unlock()
	}
}

// send makes a request and gives where its answer will come.
func (c *client) send(method string, params any) (int, chan answer) {
	c.mu.Lock()
	c.next++
	n, ch := c.next, make(chan answer, 1)
	c.waits[n] = ch
	c.mu.Unlock()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": n, "method": method, "params": params})
	if err != nil {
		c.t.Error(err)
	}
	c.stdin.Write(append(line, '\n'))
	return n, ch
}

func (c *client) notify(method string, params any) {
	line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	c.stdin.Write(append(line, '\n'))
}

func (c *client) wait(ch chan answer) answer {
	c.t.Helper()
	select {
	case a := <-ch:
		return a
	case <-time.After(60 * time.Second):
		c.t.Error("no answer in 60 s")
	case <-c.ended:
		select {
		case a := <-ch:
			return a
		default:
			c.t.Error("the server ended without an answer")
		}
	}
	return answer{}
}

func (c *client) call(method string, params any) answer {
	c.t.Helper()
	_, ch := c.send(method, params)
	return c.wait(ch)
}

// arguments of Bash: pairs of name and value after the command.
func arguments(command string, more ...any) map[string]any {
	args := map[string]any{"command": command}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return map[string]any{"name": "Bash", "arguments": args}
}

// bash runs a command to its end.
func (c *client) bash(command string, more ...any) answer {
	c.t.Helper()
	return c.call("tools/call", arguments(command, more...))
}

// want runs a command that must succeed with an output.
func (c *client) want(command, stdout string) {
	c.t.Helper()
	a := c.bash(command)
	if a.Result.IsError || a.Result.Out.Exit == nil || *a.Result.Out.Exit != 0 || a.Result.Out.Stdout != stdout {
		c.t.Errorf("%s: %+v, want output %q", command, a, stdout)
	}
}

// end waits until the server has ended.
func (c *client) end(limit time.Duration) *os.ProcessState {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(limit):
		c.t.Fatalf("the server has not ended after %v", limit)
	}
	c.cmd.Wait()
	return c.cmd.ProcessState
}

// mark makes a number that no other process has in its arguments.
func mark() string { return fmt.Sprintf("41101.%09d", time.Now().UnixNano()%1_000_000_000) }

// alive lists processes with a mark in their arguments.
func alive(t testing.TB, mark string) (out []string) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		data, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(data), mark) {
			out = append(out, filepath.Base(filepath.Dir(f))+": "+strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	return out
}

// gone wants that no process with a mark is left, soon.
func gone(t testing.TB, mark string, limit time.Duration) {
	t.Helper()
	var left []string
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if left = alive(t, mark); len(left) == 0 {
			return
		}
	}
	t.Errorf("left after %v: %q", limit, left)
}

// there wants that a process with a mark runs, soon.
func there(t testing.TB, mark string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if len(alive(t, mark)) > 0 {
			return
		}
	}
	t.Fatalf("no process with %s", mark)
}

func (c *client) signal(sig syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(sig); err != nil {
		c.t.Fatal(err)
	}
}
