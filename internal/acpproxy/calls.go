package acpproxy

import (
	"context"
	"sync"
)

// mostCalls bounds the terminal requests that are being answered at a time.
const mostCalls = 1024

// calls are the terminal requests that are being answered.
type calls struct {
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
	mu   sync.Mutex
	list map[string]context.CancelFunc // by key of the id
}

func (c *calls) open() {
	c.list = map[string]context.CancelFunc{}
	c.ctx, c.stop = context.WithCancel(context.Background())
}

// add enters a request; a reason when it cannot be answered.
func (c *calls) add(key string) (ctx context.Context, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.list[key] != nil:
		return nil, "invalid request: another request with this id is still being answered"
	case len(c.list) >= mostCalls:
		return nil, "invalid request: too many requests are being answered"
	}
	ctx, c.list[key] = context.WithCancel(c.ctx)
	c.wg.Add(1)
	return ctx, ""
}

func (c *calls) done(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list[key]()
	delete(c.list, key)
	c.wg.Done()
}

// cancel ends the waiting for an answer; false when the request is not one of ours.
func (c *calls) cancel(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	stop := c.list[key]
	if stop != nil {
		stop()
	}
	return stop != nil
}

func (c *calls) close() { c.stop() }
func (c *calls) wait()  { c.wg.Wait() }
