package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/report"
)

// fakeRun plays a command, so that the protocol can be tested on every system:
//
//	out TEXT | err TEXT | exit N | signal NAME N | wait | big N | deny | broken | panic
//
// joined by " ; ". TEXT is a Go string without its quotes.
func fakeRun(ctx context.Context, req qsandbox.Request) (*report.Report, error) {
	rep := &report.Report{ID: "run", Backend: "fake", Mode: "compat", Exit: &report.Exit{Cause: report.Exited}}
	var timeout time.Duration
	for _, l := range req.Layers {
		if l.Limits.Timeout != nil {
			timeout = *l.Limits.Timeout
		}
	}
	if req.Started != nil {
		req.Started(nil)
	}
	for _, step := range strings.Split(req.Command[len(req.Command)-1], " ; ") {
		verb, arg, _ := strings.Cut(step, " ")
		switch verb {
		case "out", "err":
			s, err := strconv.Unquote(`"` + arg + `"`)
			if err != nil {
				panic(err)
			}
			w := req.Stdout
			if verb == "err" {
				w = req.Stderr
			}
			io.WriteString(w, s)
		case "big":
			n, _ := strconv.Atoi(arg)
			for chunk := bytes.Repeat([]byte("0123456789abcde\n"), 4096); n > 0; n -= len(chunk) {
				req.Stdout.Write(chunk[:min(n, len(chunk))])
			}
		case "exit":
			rep.Exit.Code, _ = strconv.Atoi(arg)
		case "signal":
			name, n, _ := strings.Cut(arg, " ")
			code, _ := strconv.Atoi(n)
			rep.Exit.Signal, rep.Exit.Code, rep.Exit.Cause = name, 128+code, report.Signaled
		case "wait":
			if timeout == 0 {
				timeout = time.Hour
			}
			select {
			case <-ctx.Done():
				rep.Exit.Cause = report.Cancelled
			case <-time.After(timeout):
				rep.Exit.Cause = report.TimedOut
			}
			rep.Exit.Signal, rep.Exit.Code = "SIGTERM", 143
			return rep, nil
		case "deny":
			rep.Exit.Code = 1
			rep.Denials = []report.Denial{{Operation: "write", Subject: "/etc/\x1b[31mx\u202e", Rule: "/ is read-only", Remedy: "add --writable"}}
		case "broken":
			rep.Exit = nil
			return rep, fault.New(fault.SandboxUnavailable, "choose backend", "auto", "install bubblewrap")
		case "panic":
			panic("as asked")
		}
	}
	return rep, nil
}

// peer is the other end of a server.
type peer struct {
	t     *testing.T
	to    io.WriteCloser
	from  *bufio.Reader
	raw   *io.PipeReader
	ended chan error
}

func fakeServer(t *testing.T) *Server {
	t.Helper()
	s, err := New(context.Background(), Options{Version: "1.2.3", run: fakeRun, sh: []string{"bash", "-c"}, Log: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	s.facts.workspace, s.facts.cwd, s.facts.backend, s.facts.mode = "/ws", "/ws", "fake", "compat"
	return s
}

// connect starts a server with a peer. The test ends when the server has.
func connect(t *testing.T, ctx context.Context, s *Server) *peer {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	p := &peer{t: t, to: to, raw: from, from: bufio.NewReaderSize(from, 1<<20), ended: make(chan error, 1)}
	go func() {
		err := s.Serve(ctx, in, out)
		in.CloseWithError(errors.New("the server has gone"))
		out.Close()
		p.ended <- err
	}()
	t.Cleanup(func() { to.Close(); from.Close() })
	return p
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.to, line+"\n"); err != nil {
		p.t.Fatalf("send %.80q: %v", line, err)
	}
}

// receive gives the next message.
func (p *peer) receive() map[string]any {
	p.t.Helper()
	line := p.line()
	var v map[string]any
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		p.t.Fatalf("%v in %.200q", err, line)
	}
	return v
}

// line gives the next line, which must come soon.
func (p *peer) line() string {
	p.t.Helper()
	type read struct {
		s   string
		err error
	}
	ch := make(chan read, 1)
	go func() { s, err := p.from.ReadString('\n'); ch <- read{s, err} }()
	select {
	case r := <-ch:
		if r.err != nil {
			p.t.Fatalf("receive: %v", r.err)
		}
		return strings.TrimRight(r.s, "\n")
	case <-time.After(20 * time.Second):
		p.t.Fatal("no answer")
		return ""
	}
}

// begin does the handshake of the older versions.
func (p *peer) begin() {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"0"}}}`)
	p.receive()
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// bash calls the tool.
func (p *peer) bash(id int, command string, more string) {
	p.t.Helper()
	arg, _ := json.Marshal(command)
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"Bash","arguments":{"command":%s%s}}}`, id, arg, more))
}

// structured gives the structured content of an answer.
func structured(t *testing.T, answer map[string]any) map[string]any {
	t.Helper()
	result, _ := answer["result"].(map[string]any)
	out, ok := result["structuredContent"].(map[string]any)
	if !ok {
		t.Fatalf("no structured content in %v", answer)
	}
	return out
}

// finish ends the input and waits for the server.
func (p *peer) finish() error {
	p.t.Helper()
	p.to.Close()
	go io.Copy(io.Discard, p.from)
	return p.wait()
}

func (p *peer) wait() error {
	p.t.Helper()
	select {
	case err := <-p.ended:
		return err
	case <-time.After(20 * time.Second):
		p.t.Fatal("the server does not end")
		return nil
	}
}
