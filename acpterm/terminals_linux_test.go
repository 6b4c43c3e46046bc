package acpterm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// host is a program that answers terminal requests, in a place of its own.
type host struct {
	*Terminals
	t     *testing.T
	place *backendtest.Place
}

func layers(ws string, more ...policy.Layer) []policy.Layer {
	grace := 300 * time.Millisecond
	l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &ws}
	l.Limits.Grace = &grace
	return append(more, l)
}

func newHost(t *testing.T, o Options) *host {
	t.Helper()
	needSandbox(t)
	p := backendtest.NewPlace(t)
	o.Layers = layers(p.WS, o.Layers...)
	h := &host{New(o), t, p}
	t.Cleanup(h.Close)
	return h
}

func needSandbox(t *testing.T) {
	t.Helper()
	if (backendtest.Setup{Backend: policy.Auto, Mode: policy.Compat}).Unusable() != "" {
		backendtest.NeedBackend(t, policy.LinuxNative)
	}
}

// call sends a request as it comes over the wire, and gives the answer's JSON.
func (h *host) call(method string, params any) (string, *Error) {
	h.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	result, err := h.Call(ctx, method, raw)
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			h.t.Fatalf("%s: an error of another type: %v", method, err)
		}
		return "", e
	}
	out, err := json.Marshal(result)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(out), nil
}

type m = map[string]any

// sh creates a terminal for a script.
func (h *host) sh(session, script string, more m) string {
	h.t.Helper()
	params := m{"sessionId": session, "command": "sh", "args": []string{"-c", script}}
	for k, v := range more {
		params[k] = v
	}
	out, err := h.call(MethodCreate, params)
	if err != nil {
		h.t.Fatalf("create: %v", err)
	}
	var r struct{ TerminalID string }
	if json.Unmarshal([]byte(out), &r) != nil || r.TerminalID == "" {
		h.t.Fatalf("create answered %s", out)
	}
	return r.TerminalID
}

func (h *host) on(method, session, id string) string {
	h.t.Helper()
	out, err := h.call(method, m{"sessionId": session, "terminalId": id})
	if err != nil {
		h.t.Fatalf("%s: %v", method, err)
	}
	return out
}

func (h *host) mustCreate(params m) string {
	h.t.Helper()
	out, err := h.call(MethodCreate, params)
	if err != nil {
		h.t.Fatal(err)
	}
	var r struct{ TerminalID string }
	_ = json.Unmarshal([]byte(out), &r)
	return r.TerminalID
}

// shown is an answer to terminal/output.
type shown struct {
	Output     string
	Truncated  bool
	ExitStatus *struct {
		ExitCode *int
		Signal   *string
	}
}

func (h *host) output(session, id string) (o shown) {
	h.t.Helper()
	if err := json.Unmarshal([]byte(h.on(MethodOutput, session, id)), &o); err != nil {
		h.t.Fatal(err)
	}
	return o
}

// The life of a terminal, word for word as the protocol has it (TRM-01).
func TestCreateWaitOutputRelease(t *testing.T) {
	h := newHost(t, Options{})
	id := h.sh("s", "echo A; echo B >&2; exit 3", nil)
	if got := h.on(MethodWait, "s", id); got != `{"exitCode":3,"signal":null}` {
		t.Errorf("wait_for_exit: %s", got)
	}
	o := h.output("s", id)
	if (o.Output != "A\nB\n" && o.Output != "B\nA\n") || o.Truncated || *o.ExitStatus.ExitCode != 3 || o.ExitStatus.Signal != nil {
		t.Errorf("output: %+v", o)
	}
	if got := h.on(MethodKill, "s", id); got != `{}` {
		t.Errorf("kill after the end: %s", got)
	}
	if got := h.on(MethodRelease, "s", id); got != `{}` {
		t.Errorf("release: %s", got)
	}
	for _, method := range []string{MethodOutput, MethodWait, MethodKill, MethodRelease} {
		if _, err := h.call(method, m{"sessionId": "s", "terminalId": id}); err == nil || err.Code != -32002 {
			t.Errorf("%s after release: %v", method, err)
		}
	}
	if h.Len() != 0 {
		t.Errorf("%d slots are taken", h.Len())
	}
}

func TestKillEndsTheTreeAndKeepsTheOutput(t *testing.T) {
	h := newHost(t, Options{})
	id := h.sh("s", `trap '' TERM; echo x; sleep 600 & (setsid sleep 600 &) ; wait; sleep 600`, nil)
	if o := h.waitFor("s", id, "x\n"); o.ExitStatus != nil {
		t.Errorf("an exit status while it runs: %+v", o)
	}
	waited := make(chan string)
	go func() { waited <- h.on(MethodWait, "s", id) }()
	for range 2 {
		if got := h.on(MethodKill, "s", id); got != `{}` {
			t.Errorf("kill: %s", got)
		}
	}
	if got := <-waited; got != `{"exitCode":null,"signal":"SIGKILL"}` {
		t.Errorf("wait_for_exit: %s", got)
	}
	if o := h.output("s", id); o.Output != "x\n" || o.ExitStatus == nil {
		t.Errorf("after kill: %+v", o)
	}
	h.on(MethodRelease, "s", id)
	if left := processes(h.place.Root); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// waitFor asks for the output until it has text.
func (h *host) waitFor(session, id, text string) (o shown) {
	h.t.Helper()
	for range 1000 {
		if o = h.output(session, id); strings.Contains(o.Output, text) {
			return o
		}
		time.Sleep(10 * time.Millisecond)
	}
	h.t.Fatalf("%q never came: %+v", text, o)
	return o
}

// processes gives the processes whose working directory lies in dir.
func processes(dir string) (out []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && strings.HasPrefix(to, dir) {
			name, _ := os.ReadFile(filepath.Dir(l) + "/cmdline")
			out = append(out, fmt.Sprintf("%s %q", l, name))
		}
	}
	return out
}

func TestOutputLimit(t *testing.T) {
	h := newHost(t, Options{MaxOutput: 2000})
	for _, c := range []struct {
		limit any
		bytes int
	}{{1000, 999}, {1001, 999}, {1002, 1002}, {1, 0}, {0, 0}, {uint64(1e12), 1998}, {nil, 1998}} {
		id := h.sh("s", `i=0; while [ $i -lt 1000 ]; do printf '€€€€€€€€€€'; i=$((i+1)); done`, m{"outputByteLimit": c.limit})
		h.on(MethodWait, "s", id)
		o := h.output("s", id)
		if len(o.Output) != c.bytes || strings.Trim(o.Output, "€") != "" || !o.Truncated {
			t.Errorf("limit %v: %d bytes, truncated %v", c.limit, len(o.Output), o.Truncated)
		}
		h.on(MethodRelease, "s", id)
	}
}

// A loud command is polled; neither it nor who waits is held up.
func TestPollingALoudCommand(t *testing.T) {
	h := newHost(t, Options{})
	id := h.sh("s", "seq 1 3000000", m{"outputByteLimit": 1 << 20})
	began := time.Now()
	done := make(chan struct{})
	go func() { h.on(MethodWait, "s", id); close(done) }()
	for polls := 0; ; polls++ {
		select {
		case <-done:
			if d := time.Since(began); d > 10*time.Second {
				t.Errorf("took %v", d)
			}
			o := h.output("s", id)
			if !o.Truncated || len(o.Output) > 1<<20 || !strings.HasSuffix(o.Output, "2999999\n3000000\n") {
				t.Errorf("%d bytes, truncated %v, end %q", len(o.Output), o.Truncated, o.Output[max(0, len(o.Output)-20):])
			}
			return
		case <-time.After(10 * time.Millisecond):
			h.output("s", id)
		}
	}
}

// A terminal is its session's alone, and nobody learns that it is there (TRM-03).
func TestSessionOwnership(t *testing.T) {
	h := newHost(t, Options{})
	id := h.sh("mine", "sleep 600", nil)
	_, none := h.call(MethodOutput, m{"sessionId": "other", "terminalId": id[:len(id)-1] + "_"})
	for _, method := range []string{MethodOutput, MethodWait, MethodKill, MethodRelease} {
		_, err := h.call(method, m{"sessionId": "other", "terminalId": id})
		if err == nil || err.Code != -32002 || strings.ReplaceAll(err.Message, id, "") != strings.ReplaceAll(none.Message, id[:len(id)-1]+"_", "") {
			t.Errorf("%s by another session: %v", method, err)
		}
	}
	if o := h.output("mine", id); o.ExitStatus != nil {
		t.Error("another session ended it")
	}
	h.EndSession("other")
	h.output("mine", id)
	h.EndSession("mine")
	if _, err := h.call(MethodOutput, m{"sessionId": "mine", "terminalId": id}); err == nil {
		t.Error("a terminal outlived its session")
	}
}

// $/cancel_request ends the waiting, not the command.
func TestCancelledWait(t *testing.T) {
	h := newHost(t, Options{})
	id := h.sh("s", "echo up; sleep 600", nil)
	h.waitFor("s", id, "up")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := h.Wait(ctx, "s", id)
	var e *Error
	if !errors.As(err, &e) || e.Code != -32800 {
		t.Errorf("%v", err)
	}
	if o := h.output("s", id); o.ExitStatus != nil {
		t.Error("the command ended")
	}
	done, stop := context.WithCancel(context.Background())
	stop()
	if _, err := h.Create(done, CreateRequest{Session: "s", Command: "sleep", Args: []string{"600"}}); !errors.As(err, &e) || e.Code != -32800 {
		t.Errorf("create: %v", err)
	}
	h.Close()
	if _, err := h.Create(context.Background(), CreateRequest{Session: "s", Command: "true"}); err == nil {
		t.Error("a terminal after Close")
	}
	if left := processes(h.place.Root); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
