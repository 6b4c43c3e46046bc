package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
)

// call is one tools/call on its way.
type call struct {
	id      id
	era     era
	tool    tool
	args    object
	token   json.RawMessage // for progress; nil: none is wanted
	ctx     context.Context
	cancel  context.CancelFunc
	watched watching        // for progress
	held    []chan struct{} // places to give back when the answer is written
}

// begin starts a call. It does not wait: the answer comes when it comes.
func (c *session) begin(m message, e era) *rpcError {
	k := &call{id: m.id, era: e}
	name, ok := asString(m.params["name"])
	if !ok {
		return badParams(m, "name must be a string")
	}
	if k.tool, ok = toolNamed(name); !ok {
		return badParams(m, "there is no tool "+quote(name))
	}
	if raw := m.params["arguments"]; raw != nil {
		if k.args, ok = asObject(raw); !ok {
			return badParams(m, "arguments must be an object")
		}
	}
	if meta, ok := asObject(m.params["_meta"]); ok {
		if t, ok := readID(meta["progressToken"]); ok { // a string or a number, as ids are
			k.token = t.raw
		}
	}
	k.ctx, k.cancel = context.WithCancel(c.ctx)
	if bad := c.enter(k); bad != nil {
		k.cancel()
		return bad
	}
	go c.serve(k)
	return nil
}

// enter counts a call.
func (c *session) enter(k *call) *rpcError {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending >= maxCalls {
		return &rpcError{Code: codeBusy, Message: fmt.Sprintf("call tool: %d calls are running or waiting; wait for answers first", maxCalls)}
	}
	c.calls[k.id.key] = k
	c.pending++
	c.work.Add(1)
	return nil
}

// inUse tells whether an id belongs to a call that is running.
func (c *session) inUse(i id) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[i.key] != nil
}

// serve carries a call out and answers it. A cancelled one is not answered
// (specification, basic/patterns/cancellation).
func (c *session) serve(k *call) {
	answer := c.carryOut(k)
	c.mu.Lock()
	delete(c.calls, k.id.key)
	// At the end of the connection all are cancelled, and answered if that can be.
	silent := k.ctx.Err() != nil && c.ctx.Err() == nil
	c.mu.Unlock()
	k.cancel()
	var written <-chan struct{}
	if !silent {
		written = c.out.post(answer)
	}
	c.work.Done()
	if written != nil {
		select {
		case <-written:
		case <-c.out.broken:
		}
	}
	for _, place := range k.held {
		<-place
	}
	c.mu.Lock()
	c.pending--
	c.mu.Unlock()
}

// carryOut gives the answer of a call, whatever happens in the tool.
func (c *session) carryOut(k *call) (answer any) {
	defer func() {
		if v := recover(); v != nil {
			c.srv.opt.Log(fmt.Sprintf("fault in a call: %v\n%s", v, debug.Stack()))
			answer = failure{"2.0", k.id.raw, &rpcError{Code: codeInternal, Message: "fault in the server; its log has the details"}}
		}
	}()
	return response{"2.0", k.id.raw, c.srv.finished(k.tool.do(c, k).result(), k.era)}
}

// cancelled ends a call of the peer. One that has ended already is none of it.
func (c *session) cancelled(of id) {
	c.mu.Lock()
	k := c.calls[of.key]
	c.mu.Unlock()
	if k != nil {
		k.cancel()
	}
}

// hold waits for a place and keeps it until the call's answer is written; false when
// the call is cancelled.
func (k *call) hold(places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		k.held = append(k.held, places)
		return true
	case <-k.ctx.Done():
		return false
	}
}
