package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/report"
)

// heap gives what is in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestLongLine: a line of 100 MiB costs its sender an error, and the server little.
func TestLongLine(t *testing.T) {
	p := connect(t, context.Background(), fakeServer(t))
	p.begin()
	before := heap()
	io.WriteString(p.to, `{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"Bash","arguments":{"command":"`)
	chunk := strings.Repeat("x", 1<<20)
	var most uint64
	for i := range 100 {
		io.WriteString(p.to, chunk)
		if i%20 == 19 {
			most = max(most, heap())
		}
	}
	p.send(`"}}}`)
	answer := p.receive()
	if e, _ := answer["error"].(map[string]any); answer["id"] != "long" || e["code"] != float64(codeInvalidRequest) {
		t.Errorf("answer %v", answer)
	}
	if most > before+32<<20 {
		t.Errorf("the heap grew from %d to %d", before, most)
	}
	// One that is cut inside another key has no id that is certain.
	p.send(`{"jsonrpc":"2.0","params":"` + strings.Repeat("y", maxLine) + `","id":7}`)
	if answer := p.receive(); answer["id"] != nil {
		t.Errorf("answer %v", answer)
	}
	p.bash(1, "out alive", "")
	if got := structured(t, p.receive())["stdout"]; got != "alive" {
		t.Errorf("then %v", got)
	}
	if err := p.finish(); err != nil {
		t.Error(err)
	}
}

// TestGarbage: bytes of every kind, and the server answers the next question.
func TestGarbage(t *testing.T) {
	p := connect(t, context.Background(), fakeServer(t))
	go func() {
		r := rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			b := make([]byte, r.IntN(200))
			for i := range b {
				b[i] = byte(r.UintN(256))
			}
			p.to.Write(append(b, '\n'))
		}
		io.WriteString(p.to, `{"jsonrpc":"2.0","id":"sane","method":"ping"}`+"\n")
	}()
	for n := 0; ; n++ {
		answer := p.receive()
		if answer["id"] == "sane" {
			if n < 1000 {
				t.Errorf("only %d lines of garbage were answered", n)
			}
			break
		}
		if e, _ := answer["error"].(map[string]any); answer["id"] != nil || e == nil {
			t.Fatalf("answer %v", answer)
		}
	}
	if err := p.finish(); err != nil {
		t.Error(err)
	}
}

// TestPeerThatNeverReads: the server does not hold answers without end, ends what runs
// and then itself.
func TestPeerThatNeverReads(t *testing.T) {
	var running atomic.Int64
	s := fakeServer(t)
	s.opt.run = func(ctx context.Context, req qsandbox.Request) (*report.Report, error) {
		running.Add(1)
		defer running.Add(-1)
		return fakeRun(ctx, req)
	}
	p := connect(t, context.Background(), s)
	p.begin()
	p.bash(0, "wait", "")
	before := heap()
	var most uint64
	for i := range 3 * maxUnread {
		if _, err := fmt.Fprintf(p.to, `{"jsonrpc":"2.0","id":"%s%d","method":"ping"}`+"\n", strings.Repeat("i", 500), i); err != nil {
			break // it has given up
		}
		if i%1000 == 0 {
			most = max(most, heap())
		}
	}
	if err := p.wait(); !errors.Is(err, errUnread) {
		t.Errorf("ended with %v", err)
	}
	if running.Load() != 0 {
		t.Error("a command is still running")
	}
	if most > before+64<<20 {
		t.Errorf("the heap grew from %d to %d", before, most)
	}
}

// TestBigAnswersUnread: answers that nobody reads hold back further commands.
func TestBigAnswersUnread(t *testing.T) {
	p := connect(t, context.Background(), fakeServer(t))
	p.begin()
	before := heap()
	for i := range maxCalls + 10 {
		p.bash(i, "big 3000000", "")
	}
	time.Sleep(300 * time.Millisecond)
	if now := heap(); now > before+100<<20 {
		t.Errorf("the heap grew from %d to %d", before, now)
	}
	// Then it reads after all, and everything is there.
	seen, refused := map[float64]bool{}, 0
	for range maxCalls + 10 {
		answer := p.receive()
		n, _ := answer["id"].(float64)
		if seen[n] {
			t.Errorf("%v answered twice", n)
		}
		seen[n] = true
		if e, ok := answer["error"].(map[string]any); ok {
			refused++
			if e["code"] != float64(codeBusy) {
				t.Errorf("error %v", e)
			}
			continue
		}
		if out := structured(t, answer); out["truncated"] != true {
			t.Errorf("%v: %v", n, out["truncated"])
		}
	}
	if refused == 0 || refused > 10 {
		t.Errorf("%d were refused", refused)
	}
	if err := p.finish(); err != nil {
		t.Error(err)
	}
}

// TestPeerThatVanishes: when nothing can be written any more, everything ends at once.
func TestPeerThatVanishes(t *testing.T) {
	p := connect(t, context.Background(), fakeServer(t))
	p.begin()
	p.bash(1, "wait", "")
	p.bash(2, "wait", `,"run_in_background":true`)
	p.receive()
	p.raw.CloseWithError(io.ErrClosedPipe)
	p.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`) // finds out
	if err := p.wait(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("ended with %v", err)
	}
}

// TestEndOfInput: what is about to end may, the rest is ended, and both are answered.
func TestEndOfInput(t *testing.T) {
	p := connect(t, context.Background(), fakeServer(t))
	p.begin()
	p.bash(1, "wait", `,"timeout":200`)
	p.bash(2, "out begun ; wait", "")
	p.bash(3, "wait", `,"run_in_background":true`)
	p.receive()
	began := time.Now()
	p.to.Close()
	for range 2 {
		answer := p.receive()
		out := structured(t, answer)
		if want := map[float64]string{1: "timeout", 2: "cancelled"}[answer["id"].(float64)]; out["cause"] != want {
			t.Errorf("%v: %v", answer["id"], out)
		}
	}
	if err := p.wait(); err != nil {
		t.Error(err)
	}
	if d := time.Since(began); d < linger/2 || d > linger+3*time.Second {
		t.Errorf("it took %v", d)
	}
}

// TestLastLineWithoutEnd: requests may come from a file.
func TestLastLineWithoutEnd(t *testing.T) {
	var out strings.Builder
	if err := fakeServer(t).Serve(context.Background(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), &out); err != nil {
		t.Error(err)
	}
	if out.String() != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
		t.Errorf("%q", out.String())
	}
}

// TestDropped: a call that never got its place is answered as cancelled, not as a fault
// of the server.
func TestDropped(t *testing.T) {
	for name, do := range map[string]func(*session, *call) *outcome{
		"bash":       (*session).bash,
		"BashOutput": (*session).bashOutput,
	} {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		c := &session{srv: fakeServer(t), ctx: ctx, slots: make(chan struct{}), answers: make(chan struct{})}
		j := &job{name: "job-1", recording: newRecording(), done: make(chan struct{})}
		close(j.done)
		c.jobs.list = []*job{j}
		k := &call{ctx: ctx, args: object{"command": []byte(`"out x"`)}}
		if name == "BashOutput" {
			k.args = object{"job": []byte(`"job-1"`)}
		}
		o := do(c, k)
		if o.Cause != "cancelled" || o.Error != nil || !o.bad() || o.ExitCode != nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// TestSignal: when the context ends, commands end at once, with its cause.
func TestSignal(t *testing.T) {
	cause := errors.New("signal")
	ctx, cancel := context.WithCancelCause(context.Background())
	p := connect(t, ctx, fakeServer(t))
	p.begin()
	p.bash(1, "wait", "")
	p.bash(2, "wait", `,"run_in_background":true`)
	p.receive()
	began := time.Now()
	cancel(cause)
	if out := structured(t, p.receive()); out["cause"] != "cancelled" {
		t.Error(out)
	}
	if err := p.wait(); !errors.Is(err, cause) {
		t.Errorf("ended with %v", err)
	}
	if d := time.Since(began); d > time.Second {
		t.Errorf("it took %v", d)
	}
}

// TestAnswerIsBounded: the worst output, twice in the answer, is well below 10 MiB.
func TestAnswerIsBounded(t *testing.T) {
	r := newRecording()
	for range 50 {
		r.stdout.Write([]byte(strings.Repeat("\x01", 10_000)))
		r.stderr.Write([]byte(strings.Repeat("\xff\x00", 5_000)))
	}
	rep := &report.Report{Exit: &report.Exit{}}
	long := strings.Repeat("\x02", 10_000)
	for range 10_000 {
		rep.Denials = append(rep.Denials, report.Denial{Subject: long, Certain: true})
		rep.Notices = append(rep.Notices, report.Notice{Kind: "degraded", Text: long})
	}
	answer := encode(response{"2.0", json.RawMessage("1"), fakeServer(t).finished(r.outcome(rep, nil, ended).result(), stateless)})
	if !json.Valid(answer) || len(answer) > 5<<20 {
		t.Errorf("%d bytes, valid %v", len(answer), json.Valid(answer))
	}
}

// TestNothingIsLeft: connections leave no goroutine.
func TestNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		p := connect(t, context.Background(), fakeServer(t))
		p.begin()
		p.bash(1, "out x", "")
		p.bash(2, "wait", `,"timeout":10`)
		p.bash(3, "wait", `,"run_in_background":true`)
		for range 3 {
			p.receive()
		}
		if err := p.finish(); err != nil {
			t.Error(err)
		}
	}
	for range 50 {
		if runtime.NumGoroutine() <= before+1 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines, then %d:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
}
