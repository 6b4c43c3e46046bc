package acpterm

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/report"
)

// cwd lies in the workspace and grants nothing (FS-05, TRM-02).
func TestCwd(t *testing.T) {
	dirs := map[string]string{}
	h := newHost(t, Options{Dir: func(s string) string { return dirs[s] }})
	dirs["deep"] = h.place.WS + "/sub/deep"
	for _, c := range []struct{ session, cwd, want string }{
		{"s", "", h.place.WS}, {"s", h.place.WS, h.place.WS}, {"s", h.place.WS + "/sub", h.place.WS + "/sub"}, {"deep", "", h.place.WS + "/sub/deep"},
	} {
		id := h.sh(c.session, "pwd; echo x > made", m{"cwd": c.cwd})
		h.on(MethodWait, c.session, id)
		if o := h.output(c.session, id); o.Output != c.want+"\n" {
			t.Errorf("cwd %q: %+v", c.cwd, o)
		}
		h.on(MethodRelease, c.session, id)
	}
	if err := os.Symlink(h.place.Out, h.place.WS+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, cwd := range []string{"/", "/etc", h.place.Out, h.place.WS + "/..", h.place.WS + "/link", h.place.WS + "/none", h.place.WS + "/own.txt", "sub", "."} {
		out, err := h.call(MethodCreate, m{"sessionId": "s", "command": "/bin/true", "cwd": cwd})
		if err == nil || err.Code != CodeParams {
			t.Errorf("cwd %q: %s, %v", cwd, out, err)
		}
	}
	if h.Len() != 0 {
		t.Errorf("%d slots are taken by refused requests", h.Len())
	}
}

// No shell parses the command (TRM-06), and the error says what to do.
func TestNoShell(t *testing.T) {
	h := newHost(t, Options{})
	id := h.mustCreate(m{"sessionId": "s", "command": "printf", "args": []string{"%s|", "$HOME", "a b", "; touch pwned", ""}})
	h.on(MethodWait, "s", id)
	if o := h.output("s", id); o.Output != "$HOME|a b|; touch pwned||" {
		t.Errorf("%+v", o)
	}
	for _, command := range []string{"echo hi; touch pwned", "no-such-program-here"} {
		_, err := h.call(MethodCreate, m{"sessionId": "s", "command": command})
		if err == nil || err.FaultCode() != "COMMAND_NOT_FOUND" || strings.Contains(command, " ") != strings.Contains(err.Message, "no shell") {
			t.Errorf("%q: %v", command, err)
		}
	}
	if _, err := os.Stat(h.place.WS + "/pwned"); err == nil {
		t.Error("a shell parsed it")
	}
}

// ENV-01: nothing of the host's environment but the safe list; what the request
// gives passes to the command, hooks not; nobody but the command gets it.
func TestEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "leak_test")
	notices := map[string]bool{}
	var mu sync.Mutex
	h := newHost(t, Options{Ended: func(_ string, rep *report.Report, _ error) {
		mu.Lock()
		defer mu.Unlock()
		for _, n := range rep.Notices {
			notices[n.Kind] = true
		}
	}})
	if os.Getenv("ANTHROPIC_API_KEY") != "leak_test" {
		t.Fatal("the control fails: the host has no such key")
	}
	env := func(list ...EnvVar) string {
		var pairs []m
		for _, v := range list {
			pairs = append(pairs, m{"name": v.Name, "value": v.Value})
		}
		id := h.sh("s", "env", m{"env": pairs})
		h.on(MethodWait, "s", id)
		defer h.on(MethodRelease, "s", id)
		return h.output("s", id).Output
	}
	if out := env(); strings.Contains(out, "leak_test") || strings.Contains(out, backendtest.Secret) || !strings.Contains(out, "PATH=") {
		t.Errorf("ENV-01: %s", out)
	}
	if out := env(EnvVar{"ANTHROPIC_API_KEY", "given"}, EnvVar{"TWICE", "1"}, EnvVar{"TWICE", "2"}); !strings.Contains(out, "ANTHROPIC_API_KEY=given\n") || !strings.Contains(out, "TWICE=2\n") {
		t.Errorf("given explicitly: %s", out)
	}
	marker := h.place.Out + "/marker"
	evil := "#!/bin/sh\necho x > " + marker + "\nexec \"$@\"\n"
	h.place.Write(t, h.place.WS+"/bin/bwrap", evil)
	h.place.Write(t, h.place.WS+"/bin/env", evil)
	_ = os.Chmod(h.place.WS+"/bin/bwrap", 0o755)
	out := env(EnvVar{"LD_PRELOAD", h.place.WS + "/evil.so"}, EnvVar{"BASH_ENV", h.place.WS + "/rc"}, EnvVar{"PATH", h.place.WS + "/bin:/usr/bin:/bin"}, EnvVar{"QSANDBOX_TEST_ROLE", "x"})
	if strings.Contains(out, "LD_PRELOAD") || strings.Contains(out, "BASH_ENV") || !strings.Contains(out, "PATH="+h.place.WS+"/bin") {
		t.Errorf("hooks: %s", out)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the request's environment reached a program outside the sandbox")
	}
	mu.Lock()
	defer mu.Unlock()
	if !notices["env:dropped"] {
		t.Errorf("nobody was told of dropped hooks: %v", notices)
	}
}

// What a terminal may do is the policy's alone.
func TestTerminalsAreConfined(t *testing.T) {
	h := newHost(t, Options{})
	id := h.sh("s", `echo in > in.txt; echo out > "$0" ; cat /proc/net/route | wc -l`, nil)
	h.on(MethodWait, "s", id)
	id2 := h.mustCreate(m{"sessionId": "s", "command": "sh", "args": []string{"-c", `echo x > "$0"`, h.place.Out + "/made"}})
	if got := h.on(MethodWait, "s", id2); strings.Contains(got, `"exitCode":0,`) {
		t.Errorf("a write outside: %s", got)
	}
	if _, err := os.Stat(h.place.Out + "/made"); err == nil {
		t.Error("a terminal wrote outside the workspace")
	}
	if _, err := os.Stat(h.place.WS + "/in.txt"); err != nil {
		t.Error("a terminal could not write in the workspace")
	}
	h.place.Host(t, `echo x > "$OUT/made"`) // the control
}
