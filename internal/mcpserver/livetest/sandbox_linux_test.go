package livetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// TestCommands is the tool as agents use it, with every backend of this system.
func TestCommands(t *testing.T) {
	t.Parallel()
	backends(t, atOnce, func(t *testing.T, b policy.Backend) {
		c := newClient(t, b)
		c.want("echo hello && pwd", "hello\n"+c.place.WS+"\n")
		c.want("[[ a == a ]] && echo bash", "bash\n")
		c.want("cd sub; pwd", c.place.WS+"/sub\n")
		c.want("pwd", c.place.WS+"\n") // a cd does not last
		t.Run("ends", func(t *testing.T) { ends(t, c) })
		t.Run("input", func(t *testing.T) { input(t, c) })
		t.Run("bytes", func(t *testing.T) { oddBytes(t, c) })
		t.Run("writes", func(t *testing.T) { writes(t, c) })
		t.Run("environment", func(t *testing.T) { environment(t, c) })
		t.Run("request changes nothing", func(t *testing.T) { requestChangesNothing(t, c) })
		t.Run("jobs", func(t *testing.T) { jobs(t, c) })
		if len(c.stray) > 0 {
			t.Errorf("nobody asked for %q", c.stray)
		}
	})
}

func ends(t *testing.T, c *client) {
	a := c.bash("printf part; exit 7")
	if out := a.Result.Out; !a.Result.IsError || *out.Exit != 7 || out.Stdout != "part" || out.Cause != "exited" {
		t.Errorf("%+v", a)
	}
	a = c.bash("printf part; kill -KILL $$")
	if out := a.Result.Out; !a.Result.IsError || *out.Exit != 137 || out.Signal != "SIGKILL" || out.Stdout != "part" {
		t.Errorf("%+v", a)
	}
	began, m := time.Now(), mark()
	a = c.bash("echo before; sleep "+m, "timeout", 700)
	if out := a.Result.Out; !a.Result.IsError || *out.Exit != 124 || !out.TimedOut || out.Stdout != "before\n" || !strings.Contains(a.text(), "before") {
		t.Errorf("%+v", a)
	}
	if d := time.Since(began); d > 6*time.Second {
		t.Errorf("it took %v", d)
	}
	gone(t, m, 2*time.Second)
	// What stays in the background and holds stdout does not hold the call.
	a = c.bash("sleep " + m + " & echo done")
	if out := a.Result.Out; *out.Exit != 0 || out.Stdout != "done\n" {
		t.Errorf("%+v", a)
	}
	gone(t, m, 2*time.Second)
}

// input: the server's own input is the protocol, and no command reads it.
func input(t *testing.T, c *client) {
	_, first := c.send("tools/call", arguments("cat | wc -c; cat <&0 | wc -c"))
	_, second := c.send("tools/call", arguments("echo two"))
	if out := c.wait(first).Result.Out; strings.Fields(out.Stdout)[0] != "0" {
		t.Errorf("%+v", out)
	}
	if out := c.wait(second).Result.Out; out.Stdout != "two\n" {
		t.Errorf("%+v", out)
	}
	c.want("ls /proc/self/fd | wc -l", "4\n") // 0, 1, 2 and that of ls itself
}

func oddBytes(t *testing.T, c *client) {
	a := c.bash(`head -c 4096 /dev/urandom; printf 'a\000b\377'`)
	if out := a.Result.Out; *out.Exit != 0 || !strings.HasSuffix(out.Stdout, "a\uFFFDb\uFFFD") {
		t.Errorf("%+v", a)
	}
	c.want("printf '%s' 'quote \" back \\ é 世 \U00010348'", "quote \" back \\ é 世 \U00010348")
	a = c.bash("seq 1 200000")
	if out := a.Result.Out; !out.Trunc || !strings.HasPrefix(out.Stdout, "1\n2\n") || !strings.HasSuffix(out.Stdout, "199999\n200000\n") || !strings.Contains(a.text(), "output was cut") {
		t.Errorf("%d bytes, %v", len(out.Stdout), out.Trunc)
	}
}

// writes: only the workspace; the same command outside the sandbox is the control.
func writes(t *testing.T, c *client) {
	c.want("echo x > made && cat made", "x\n")
	target := filepath.Join(c.place.Out, "made")
	command := "echo x > " + target
	a := c.bash(command)
	if out := a.Result.Out; !a.Result.IsError || *out.Exit == 0 || len(out.Denials) == 0 || out.Denials[0].Subject != target || out.Denials[0].Remedy == "" || !strings.Contains(a.text(), "denied by the sandbox") {
		t.Errorf("%+v", a)
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("it was written")
	}
	c.place.Host(t, command) // control
	a = c.bash("cat " + filepath.Join(os.Getenv("HOME"), ".ssh", "id_rsa") + " " + filepath.Join(os.Getenv("HOME"), ".ssh", "id_ed25519"))
	if strings.Contains(a.Result.Out.Stdout, "PRIVATE") || *a.Result.Out.Exit == 0 {
		t.Errorf("%+v", a)
	}
	// Protected names are looked at after each call.
	a = c.bash("mkdir -p .git/hooks && git init -q . 2>/dev/null; echo evil > .mcp.json; echo ok")
	if len(a.Result.Out.Denials) == 0 || !strings.Contains(a.text(), ".mcp.json") {
		t.Errorf("%+v", a)
	}
}

// environment is ENV-02: the client's secrets do not reach a command.
func environment(t *testing.T, c *client) {
	a := c.bash("env; set; cat /proc/*/environ | tr '\\0' '\\n'")
	for _, secret := range []string{"leak_test", backendtest.Secret} {
		if strings.Contains(a.Result.Out.Stdout+a.Result.Out.Stderr, secret) {
			t.Errorf("%s is seen", secret)
		}
	}
	if !strings.Contains(a.Result.Out.Stdout, "HOME="+os.Getenv("HOME")) || !strings.Contains(a.Result.Out.Stdout, "TMPDIR=/tmp") || !strings.Contains(a.Result.Out.Stdout, "npm_config_cache=") {
		t.Errorf("%+v", a.Result.Out.Stdout)
	}
	// The control: a server that is told to pass it on does.
	d := newClient(t, policy.LinuxNative, "--env", "ANTHROPIC_API_KEY")
	d.want("echo $ANTHROPIC_API_KEY", "leak_test\n")
}

// requestChangesNothing: workspace, directory and policy are the host's.
func requestChangesNothing(t *testing.T, c *client) {
	for _, name := range []string{"cwd", "workspace", "policy", "env", "network", "dangerouslyDisableSandbox"} {
		a := c.bash("touch ran", name, "/")
		if out := a.Result.Out; out.Error == nil || out.Error.Code != "USAGE_INVALID" || !strings.Contains(a.text(), name) {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if _, err := os.Stat(filepath.Join(c.place.WS, "ran")); err == nil {
		t.Error("it was run")
	}
	// A policy that a command writes into the workspace has no effect on the server,
	// and is moved away.
	a := c.bash(`echo '{"version":1,"network":{"mode":"on"}}' > .qsandbox.json; echo written`)
	if len(a.Result.Out.Denials) == 0 {
		t.Errorf("%+v", a)
	}
}

func jobs(t *testing.T, c *client) {
	m := mark()
	a := c.bash("echo up; read x < /dev/null; sleep "+m+" & wait", "run_in_background", true)
	job := a.Result.Out.Job
	if job == "" || !a.Result.Out.Running {
		t.Fatalf("%+v", a)
	}
	output := func(wait int) answer {
		return c.call("tools/call", map[string]any{"name": "BashOutput", "arguments": map[string]any{"job": job, "wait": wait}})
	}
	if out := output(20_000).Result.Out; out.Stdout != "up\n" || !out.Running {
		t.Errorf("%+v", out)
	}
	there(t, m)
	c.want("echo meanwhile", "meanwhile\n")
	a = c.call("tools/call", map[string]any{"name": "BashStop", "arguments": map[string]any{"job": job}})
	if out := a.Result.Out; out.Running || out.Exit == nil || out.Cause != "cancelled" {
		t.Errorf("%+v", a)
	}
	gone(t, m, time.Second)
}

// TestCancelEndsTheTree: TERM before KILL, daemons too; no late answer; the next call
// works at once.
func TestCancelEndsTheTree(t *testing.T) {
	t.Parallel()
	backends(t, atOnce, func(t *testing.T, b policy.Backend) {
		c, m := newClient(t, b), mark()
		n, _ := c.send("tools/call", arguments("trap 'echo term > asked' TERM; (setsid sh -c 'trap \"\" TERM; sleep "+m+"' &) ; echo a; sleep "+m+" & wait; wait"))
		there(t, m)
		time.Sleep(300 * time.Millisecond)
		began := time.Now()
		c.notify("notifications/cancelled", map[string]any{"requestId": n, "reason": "the user pressed escape"})
		c.want("echo next", "next\n")
		if d := time.Since(began); d > 3*time.Second {
			t.Errorf("the next call took %v", d)
		}
		gone(t, m, 4*time.Second)
		if _, err := os.Stat(filepath.Join(c.place.WS, "asked")); err != nil {
			t.Error("it was not asked to end before it was ended")
		}
		if len(c.stray) > 0 {
			t.Errorf("a late answer: %q", c.stray)
		}
	})
}

// TestMemory: a command that writes without end costs the server little.
func TestMemory(t *testing.T) {
	t.Parallel()
	backends(t, atOnce, func(t *testing.T, b policy.Backend) {
		c := newClient(t, b)
		a := c.bash("timeout 2 yes; echo code $? >&2; exit 9", "timeout_ms", 20_000)
		if out := a.Result.Out; !out.Trunc || *out.Exit != 9 || out.Stderr != "code 124\n" || len(out.Stdout) > 150_000 {
			t.Errorf("%+v", a)
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			f := strings.Fields(line)
			if f[0] != "VmHWM:" && f[0] != "VmRSS:" {
				continue
			}
			kib, _ := strconv.Atoi(f[1])
			t.Logf("%s %d KiB", f[0], kib)
			if kib > 100<<10 {
				t.Errorf("the server needed %d KiB", kib)
			}
		}
	})
}
