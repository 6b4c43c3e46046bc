package mcpserver

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"
)

// session is one connection: what runs for it ends with it.
type session struct {
	srv         *Server
	ctx         context.Context // of everything that runs
	cancel      context.CancelFunc
	out         *outbox
	initialized bool // read and written by the loop alone

	work    sync.WaitGroup // calls whose answer is not queued yet, and jobs
	slots   chan struct{}  // held by a command that runs
	answers chan struct{}  // held by an answer from its making until it is written
	jobs    jobs

	mu      sync.Mutex
	calls   map[string]*call // by the key of their id
	pending int              // calls whose answer is not written yet
}

// Serve talks to one peer until its input ends, ctx ends, or it cannot be written to.
// When it returns, nothing that it started is left (PROC-02).
//
// At the end of the input the commands that run get a moment to end by themselves,
// so that requests can come from a file; then they are ended. When ctx ends they
// are ended at once. The error is that of the streams, or ctx's cause.
func (s *Server) Serve(parent context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	c := &session{
		srv: s, ctx: ctx, cancel: cancel, out: newOutbox(out), calls: map[string]*call{},
		slots: make(chan struct{}, maxRunning), answers: make(chan struct{}, maxAnswers),
	}
	frames, stop := make(chan frame), make(chan struct{})
	go readFrames(in, maxLine, frames, stop)
	defer close(stop)
	err := c.loop(frames)
	c.end()
	if werr := c.out.close(writeLinger); err == nil || err == io.EOF {
		err = werr
	}
	return err
}

// loop answers until there is nobody to answer to. It never waits for a command, nor
// for the peer to read.
func (c *session) loop(frames <-chan frame) error {
	for {
		select {
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		case <-c.out.broken:
			return nil // close has the reason
		case f := <-frames:
			if f.err != nil {
				return f.err
			}
			c.handle(f)
		}
	}
}

// end ends everything that runs.
func (c *session) end() {
	c.jobs.stop()
	done := make(chan struct{})
	go func() { c.work.Wait(); close(done) }()
	t := time.NewTimer(linger)
	defer t.Stop()
	select {
	case <-done:
	case <-c.ctx.Done():
	case <-c.out.broken:
	case <-t.C:
	}
	c.cancel()
	<-done
}

// handle answers one line. A fault in this package costs one answer, not the server.
func (c *session) handle(f frame) {
	if f.long {
		c.refuse(safeID(f.data), &rpcError{Code: codeInvalidRequest, Message: fmt.Sprintf("read message: longer than %d bytes", maxLine)})
		return
	}
	m, bad := parse(f.data)
	defer c.survive(m.id)
	switch {
	case bad != nil:
		c.refuse(m.id, bad)
	case m.method == "":
	case m.id.none():
		c.notified(m)
	default:
		c.requested(m)
	}
}

// survive turns a panic into an error of the protocol.
func (c *session) survive(to id) {
	if v := recover(); v != nil {
		c.srv.opt.Log(fmt.Sprintf("fault in the server: %v\n%s", v, debug.Stack()))
		if !to.none() {
			c.refuse(to, &rpcError{Code: codeInternal, Message: "fault in the server; its log has the details"})
		}
	}
}

func (c *session) requested(m message) {
	if c.inUse(m.id) { // an answer by this id would be taken for that of the other
		c.refuse(nullID, invalid("id "+quote(string(m.id.raw))+" belongs to a request that is still running"))
		return
	}
	e, bad := eraOf(m)
	if bad != nil {
		c.refuse(m.id, bad)
		return
	}
	var result map[string]any
	switch {
	case m.method == "initialize" && e == legacy:
		result, bad = c.initialize(m)
	case m.method == "ping" && e == legacy:
		result = map[string]any{}
	case m.method == "server/discover" && e == stateless:
		result = c.discover()
	case m.method != "tools/list" && m.method != "tools/call":
		bad = &rpcError{Code: codeNoMethod, Message: "method not found: " + quote(m.method)}
	case e == legacy && !c.initialized:
		bad = invalid(quote(m.method) + " before initialize: send initialize first, or name the version in _meta " + quote(metaVersion))
	case m.method == "tools/call":
		if bad = c.begin(m, e); bad == nil {
			return // the call answers
		}
	default:
		result, bad = c.list(m)
	}
	if bad != nil {
		c.refuse(m.id, bad)
		return
	}
	c.out.put(response{"2.0", m.id.raw, c.srv.finished(result, e)})
}

// notified takes a notification. All but a cancellation say nothing that matters here.
func (c *session) notified(m message) {
	if m.method != "notifications/cancelled" {
		return
	}
	if of, ok := readID(m.params["requestId"]); ok {
		c.cancelled(of)
	}
}

func (c *session) refuse(to id, bad *rpcError) { c.out.put(failure{"2.0", to.raw, bad}) }

// response and failure are the two kinds of answers (JSON-RPC 2.0, section 5).
type response struct {
	Version string `json:"jsonrpc"`
	ID      any    `json:"id"`
	Result  any    `json:"result"`
}

type failure struct {
	Version string    `json:"jsonrpc"`
	ID      any       `json:"id"`
	Error   *rpcError `json:"error"`
}

// notification is what is sent without being asked.
type notification struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}
