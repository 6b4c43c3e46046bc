package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"
)

// maxUnread is how many answers may wait for a peer that does not read. Those of
// tool calls do not count: their number is bounded by the calls that may run.
const maxUnread = 4096

// errUnread says that a peer asks and asks and does not read the answers.
var errUnread = errors.New("the client does not read its answers")

// outbox writes messages, one to a line, in the order in which they were put in. The
// one who puts never waits for the peer.
type outbox struct {
	w      io.Writer
	mu     sync.Mutex
	wake   sync.Cond
	queue  []letter
	unread int
	closed bool
	err    error
	broken chan struct{} // closed when nothing can be written any more
	done   chan struct{} // closed when run has ended
}

type letter struct {
	data    []byte
	counts  bool
	written chan struct{} // closed when it is written; nil: nobody waits
}

func newOutbox(w io.Writer) *outbox {
	o := &outbox{w: w, broken: make(chan struct{}), done: make(chan struct{})}
	o.wake.L = &o.mu
	go o.run()
	return o
}

// encode makes one line. What goes out is built by us of strings that are valid, so
// it cannot fail for any other reason than a fault in this package.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// put queues an answer.
func (o *outbox) put(v any) { o.add(letter{data: encode(v), counts: true}) }

// post queues the answer of a tool call. The channel is closed when it is written;
// when it never can be, broken is closed.
func (o *outbox) post(v any) <-chan struct{} {
	l := letter{data: encode(v), written: make(chan struct{})}
	o.add(l)
	return l.written
}

// offer queues what may be left out: nothing, while something else waits.
func (o *outbox) offer(v any) {
	o.mu.Lock()
	busy := len(o.queue) > 0
	o.mu.Unlock()
	if !busy {
		o.put(v)
	}
}

func (o *outbox) add(l letter) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || o.closed {
		return
	}
	if l.counts {
		if o.unread++; o.unread > maxUnread {
			o.fail(errUnread)
			return
		}
	}
	o.queue = append(o.queue, l)
	o.wake.Signal()
}

// fail is called with the lock held.
func (o *outbox) fail(err error) {
	if o.err == nil {
		o.err, o.queue = err, nil
		close(o.broken)
	}
	o.wake.Signal()
}

func (o *outbox) run() {
	defer close(o.done)
	for {
		o.mu.Lock()
		for len(o.queue) == 0 && !o.closed && o.err == nil {
			o.wake.Wait()
		}
		if len(o.queue) == 0 || o.err != nil {
			o.mu.Unlock()
			return
		}
		l := o.queue[0]
		o.queue = o.queue[1:]
		o.mu.Unlock()
		_, err := o.w.Write(l.data)
		o.mu.Lock()
		if l.counts {
			o.unread--
		}
		if err != nil {
			o.fail(err)
		}
		o.mu.Unlock()
		if l.written != nil {
			close(l.written)
		}
	}
}

// close lets what is queued be written, for a while: a peer that does not read must
// not keep the server alive.
func (o *outbox) close(patience time.Duration) error {
	o.mu.Lock()
	o.closed = true
	o.wake.Signal()
	o.mu.Unlock()
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-o.done:
		o.mu.Lock()
		defer o.mu.Unlock()
	case <-t.C:
		o.mu.Lock()
		defer o.mu.Unlock()
		o.fail(errUnread)
	}
	return o.err
}
