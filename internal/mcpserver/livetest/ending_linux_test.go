package livetest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// needSandbox skips where nothing can be started by default.
func needSandbox(t *testing.T) {
	t.Helper()
	backendtest.NeedBackend(t, policy.LinuxNative)
}

// daemons is a command that leaves what is hard to end: daemons with sessions of their
// own that ignore TERM, and itself ignores it.
func daemons(m string) string {
	return `trap "" TERM HUP INT; for i in 1 2 3; do (setsid sh -c 'trap "" TERM HUP INT; sleep ` + m + `' > /dev/null 2>&1 &); done; (sleep ` + m + ` &); sleep ` + m
}

// endings are the ways in which a server ends, with its exit code; -1: by the signal.
var endings = []struct {
	name  string
	end   func(c *client)
	code  int
	limit time.Duration
}{
	{"end of input", func(c *client) { c.stdin.Close() }, 0, 12 * time.Second},
	{"SIGTERM", func(c *client) { c.signal(syscall.SIGTERM) }, 128 + 15, 10 * time.Second},
	{"SIGINT", func(c *client) { c.signal(syscall.SIGINT) }, 128 + 2, 10 * time.Second},
	{"SIGHUP", func(c *client) { c.signal(syscall.SIGHUP) }, 128 + 1, 10 * time.Second},
	{"SIGKILL", func(c *client) { c.signal(syscall.SIGKILL) }, -1, 5 * time.Second},
}

// TestEndings: whatever ends the server, nothing that it started is left (PROC-02).
func TestEndings(t *testing.T) {
	t.Parallel()
	backends(t, atOnce, func(t *testing.T, b policy.Backend) {
		for _, e := range endings {
			if b == policy.LinuxBwrap && e.code == 128+1 && !backendtest.Long() {
				continue // as SIGTERM
			}
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				c, m := newClient(t, b), mark()
				for i := range 3 {
					c.send("tools/call", arguments(daemons(m), "run_in_background", i == 0))
				}
				for len(alive(t, m)) < 3*5 {
					time.Sleep(20 * time.Millisecond)
				}
				e.end(c)
				st := c.end(e.limit)
				gone(t, m, 3*time.Second)
				if got := st.ExitCode(); got != e.code {
					t.Errorf("exit code %d, want %d", got, e.code)
				}
			})
		}
	})
}

// TestClientThatDies: the client is killed, and with it both ends of the streams.
func TestClientThatDies(t *testing.T) {
	t.Parallel()
	backends(t, atOnce, func(t *testing.T, b policy.Backend) {
		p, m := backendtest.NewPlace(t), mark()
		script := fmt.Sprintf(`(printf '%%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}' `+
			`'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Bash","arguments":{"command":"(setsid sleep %s &); sleep %s"}}}'; exec sleep 20) | %s mcp --workspace %s --backend %s | sleep 20 & `+
			`pipe=$!; sleep 1.5; kill -KILL $(jobs -p) 2>/dev/null; kill -KILL 0`, m, m, program(t), p.WS, b)
		c := hostCommand(script, p)
		c.Run()
		gone(t, m, 8*time.Second)
	})
}

// TestKilledAtRandom kills servers at any moment of their work: nothing survives, also
// of a server that is killed while it starts a command.
func TestKilledAtRandom(t *testing.T) {
	rounds := 12
	if backendtest.Long() {
		rounds = 200
	}
	backends(t, alone, func(t *testing.T, b policy.Backend) {
		r := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
		m := mark()
		mounts := count(t, "/proc/self/mounts")
		for i := range rounds {
			c := newClient(t, b)
			for j := range 6 {
				c.send("tools/call", arguments(daemons(m), "run_in_background", j%2 == 0))
			}
			time.Sleep(time.Duration(r.IntN(150)) * time.Millisecond)
			c.signal(syscall.SIGKILL)
			c.end(5 * time.Second)
			if i%4 == 3 {
				gone(t, m, 5*time.Second)
			}
			// The next start looks after what the killed one left in its state.
			c2 := startIn(t, c.place, b)
			c2.want("echo next", "next\n")
			c2.stdin.Close()
			c2.end(10 * time.Second)
			if left := must(filepath.Glob(filepath.Join(c.place.Root, "state/qsandbox/journal/*"))); len(left) > 0 {
				t.Errorf("journal: %q", left)
			}
		}
		gone(t, m, 5*time.Second)
		if now := count(t, "/proc/self/mounts"); now != mounts {
			t.Errorf("%d mounts, then %d", mounts, now)
		}
	})
}

func count(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

// TestLoad: 200 calls, 16 at a time; some leave daemons. No answer is mixed
// up, and afterwards the server has what it had before (CONC-03, LEAK-01).
func TestLoad(t *testing.T) {
	backends(t, alone, func(t *testing.T, b policy.Backend) {
		c, m := newClient(t, b), mark()
		load := func(n int) {
			var all sync.WaitGroup
			turns := make(chan struct{}, 16)
			for i := range n {
				turns <- struct{}{}
				all.Go(func() {
					defer func() { <-turns }()
					one(c, i, m)
				})
			}
			all.Wait()
		}
		load(20) // what is made once and kept
		before := holds(t, c)
		began := time.Now()
		n := 200
		if b == policy.LinuxBwrap && !backendtest.Long() {
			n = 64 // bubblewrap starts more slowly; 200 are for the long run
		}
		load(n)
		t.Logf("%d calls, 16 at a time, in %v", n, time.Since(began))
		gone(t, m, 3*time.Second)
		var after map[string]int
		for range 50 {
			after = holds(t, c)
			if !more(before, after) {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if more(before, after) {
			t.Errorf("it had %v, and has %v", before, after)
		}
		if len(c.stray) > 0 {
			t.Errorf("nobody asked for %q", c.stray)
		}
	})
}

// one is one call of the load; the kinds differ.
func one(c *client, i int, m string) {
	var a answer
	want, code := fmt.Sprintf("n%d\n", i), 0
	switch i % 8 {
	case 0:
		a = c.bash(fmt.Sprintf("echo n%d; (setsid sleep %s > /dev/null 2>&1 &)", i, m))
	case 1:
		a = c.bash(fmt.Sprintf("echo n%d; sleep %s & exit 5", i, m))
		code = 5
	case 2:
		a = c.bash(fmt.Sprintf("echo n%d; sleep %s", i, m), "timeout", 1500)
		code = 124
	case 3:
		a = c.bash(fmt.Sprintf("echo n%d; kill -KILL $$", i))
		code = 137
	default:
		a = c.bash(fmt.Sprintf("echo n%d", i))
	}
	out := a.Result.Out
	if out.Exit == nil || *out.Exit != code || out.Stdout != want {
		c.t.Errorf("call %d: %+v", i, a)
	}
}

// holds counts what a server has: descriptors, threads, children, and on the machine
// mounts, temporary files and control groups of ours.
func holds(t *testing.T, c *client) map[string]int {
	t.Helper()
	proc := fmt.Sprintf("/proc/%d", c.cmd.Process.Pid)
	children := 0
	for _, f := range must(filepath.Glob(proc + "/task/*/children")) {
		data, _ := os.ReadFile(f)
		children += len(strings.Fields(string(data)))
	}
	return map[string]int{
		"descriptors": len(must(filepath.Glob(proc + "/fd/*"))),
		"threads":     len(must(filepath.Glob(proc+"/task/*"))) / 24, // the runtime keeps what it once needed
		"children":    children,
		"mounts":      count(t, proc+"/mounts"),
		"temporary":   len(must(filepath.Glob("/tmp/*qsandbox*"))),
		"groups":      len(must(filepath.Glob("/sys/fs/cgroup/*/qsandbox-*"))),
		"journal":     len(must(filepath.Glob(filepath.Join(c.place.Root, "state/qsandbox/journal/*")))),
		"workspace":   len(must(filepath.Glob(c.place.WS + "/*"))),
	}
}

func more(before, after map[string]int) bool {
	for k, was := range before {
		slack := 0
		if k == "descriptors" {
			slack = 2
		}
		if after[k] > was+slack {
			return true
		}
	}
	return false
}

// TestPeerThatDoesNotRead: a client that asks without end and never reads is left, with
// everything that runs for it.
func TestPeerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	p, m := backendtest.NewPlace(t), mark()
	cmd := hostCommand("exec "+program(t)+" mcp --workspace "+p.WS, p)
	cmd.Stdout = nil
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe() // nobody reads r
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Bash","arguments":{"command":"sleep `+m+`"}}}`+"\n")
	there(t, m)
	for {
		if _, err := io.WriteString(stdin, strings.Repeat(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`+"\n", 100)); err != nil {
			break
		}
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
		if got := cmd.ProcessState.ExitCode(); got != 125 {
			t.Errorf("exit code %d", got)
		}
	case <-time.After(15 * time.Second):
		cmd.Process.Kill()
		t.Error("the server does not end")
	}
	gone(t, m, 2*time.Second)
}
