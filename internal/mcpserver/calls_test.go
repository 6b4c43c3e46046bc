package mcpserver

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/report"
)

// TestCancel: a cancelled call is ended and not answered; others go on.
func TestCancel(t *testing.T) {
	s := fakeServer(t)
	ended := make(chan string, 100)
	var begun atomic.Int64
	s.opt.run = func(ctx context.Context, req qsandbox.Request) (*report.Report, error) {
		begun.Add(1)
		rep, err := fakeRun(ctx, req)
		ended <- string(rep.Exit.Cause)
		return rep, err
	}
	p := connect(t, context.Background(), s)
	p.begin()
	p.bash(1, "wait", "")
	p.bash(2, "wait", `,"timeout":300`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.0,"reason":"enough"}}`) // the same number
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`)                   // another id
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	if got := <-ended; got != string(report.Cancelled) {
		t.Errorf("first ended: %s", got)
	}
	if answer := p.receive(); answer["id"] != float64(2) || structured(t, answer)["timed_out"] != true {
		t.Errorf("answer %v", answer)
	}
	// A call that waits for its turn is cancelled too.
	for i := range maxRunning {
		p.bash(100+i, "wait", "")
	}
	for begun.Load() < 2+maxRunning {
		time.Sleep(time.Millisecond)
	}
	p.bash(200, "out never", "")
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":200}}`)
	for i := range maxRunning {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, 100+i))
	}
	p.bash(1, "out again", "") // the id is free again
	if answer := p.receive(); answer["id"] != float64(1) {
		t.Errorf("answer %v", answer)
	}
	if err := p.finish(); err != nil {
		t.Error(err)
	}
}

// TestIDInUse: a second request with the id of a running one gets no answer by that id,
// and the first one does.
func TestIDInUse(t *testing.T) {
	p := connect(t, context.Background(), fakeServer(t))
	p.begin()
	p.bash(1, "out first ; wait", `,"timeout":300`)
	p.bash(1, "out second", "")
	if answer := p.receive(); answer["id"] != nil || answer["error"] == nil {
		t.Errorf("answer %v", answer)
	}
	if answer := p.receive(); answer["id"] != float64(1) || structured(t, answer)["stdout"] != "first" {
		t.Errorf("answer %v", answer)
	}
	if err := p.finish(); err != nil {
		t.Error(err)
	}
}

// TestManyCalls: 200 calls, 16 at a time; no answer is mixed up (CONC-03).
func TestManyCalls(t *testing.T) {
	p := connect(t, context.Background(), fakeServer(t))
	p.begin()
	turns := make(chan struct{}, 16)
	var sent sync.WaitGroup
	sent.Go(func() {
		for i := range 200 {
			turns <- struct{}{}
			p.bash(i, fmt.Sprintf("out n%d ; wait ; out x", i), `,"timeout":5`)
		}
	})
	seen := map[float64]bool{}
	for range 200 {
		answer := p.receive()
		<-turns
		n := answer["id"].(float64)
		if got := structured(t, answer)["stdout"]; seen[n] || got != fmt.Sprintf("n%v", n) {
			t.Errorf("%v: %v", n, got)
		}
		seen[n] = true
	}
	sent.Wait()
	if err := p.finish(); err != nil {
		t.Error(err)
	}
}

// TestProgress: who asked for it hears that a call goes on, and nothing after its answer.
func TestProgress(t *testing.T) {
	p := connect(t, context.Background(), fakeServer(t))
	p.begin()
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Bash","arguments":{"command":"out half\\x1b[31mway\\n ; wait","timeout":2500},"_meta":{"progressToken":"tok"}}}`)
	last, n := -1.0, 0
	for {
		m := p.receive()
		if m["id"] == float64(1) {
			break
		}
		params := m["params"].(map[string]any)
		if m["method"] != "notifications/progress" || params["progressToken"] != "tok" || params["progress"].(float64) <= last || params["total"] != 2.5 {
			t.Errorf("%v", m)
		}
		if params["message"] != "13 bytes of output; halfway" {
			t.Errorf("message %q", params["message"])
		}
		last, n = params["progress"].(float64), n+1
	}
	if n != 2 {
		t.Errorf("%d notifications", n)
	}
	if err := p.finish(); err != nil {
		t.Error(err)
	}
}

// TestJobLimits: one job too many is refused; one that has ended makes room.
func TestJobLimits(t *testing.T) {
	p := connect(t, context.Background(), fakeServer(t))
	p.begin()
	for i := range maxJobs {
		p.bash(i, "wait", `,"run_in_background":true`)
		structured(t, p.receive())
	}
	p.bash(50, "wait", `,"run_in_background":true`)
	out := structured(t, p.receive())
	if e, _ := out["error"].(map[string]any); e["code"] != "LIMIT_EXCEEDED" {
		t.Errorf("%v", out)
	}
	p.send(`{"jsonrpc":"2.0","id":51,"method":"tools/call","params":{"name":"BashStop","arguments":{"job":"job-3"}}}`)
	p.receive()
	for i := range maxKept { // those that end at once; the oldest are forgotten
		p.bash(100+i, "out x", `,"run_in_background":true`)
		name := structured(t, p.receive())["job"]
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"BashOutput","arguments":{"job":%q,"wait":5000}}}`, 300+i, name))
		p.receive()
	}
	p.send(`{"jsonrpc":"2.0","id":400,"method":"tools/call","params":{"name":"BashOutput"}}`)
	if jobs := structured(t, p.receive())["jobs"].([]any); len(jobs) > maxKept {
		t.Errorf("%d jobs are kept", len(jobs))
	}
	if err := p.finish(); err != nil {
		t.Error(err)
	}
}
