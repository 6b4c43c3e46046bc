package mcpserver

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// progressEvery is how often a client that asked for progress hears of a call.
const progressEvery = time.Second

// watching is what progress tells about; nil while the call waits for its turn.
type watching = atomic.Pointer[recording]

// progress tells the client that a call goes on, until stop is called. Clients that
// are told keep waiting where others give up (specification, basic/utilities/progress).
func (c *session) progress(k *call, args bashArgs) (stop func()) {
	if k.token == nil {
		return func() {}
	}
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		began := time.Now()
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-k.ctx.Done():
				return
			case <-tick.C:
				c.out.offer(progressOf(k, args, time.Since(began)))
			}
		}
	})
	return sync.OnceFunc(func() { close(done); ended.Wait() }) // nothing is told after the answer
}

func progressOf(k *call, args bashArgs, since time.Duration) notification {
	p := map[string]any{"progressToken": k.token, "progress": since.Round(time.Millisecond).Seconds()}
	if args.timeout > 0 {
		p["total"] = max(args.timeout, since).Seconds()
	}
	if r := k.watched.Load(); r == nil {
		p["message"] = "waiting: other commands are running"
	} else {
		p["message"] = r.line()
	}
	return notification{"2.0", "notifications/progress", p}
}

// note says that the command is about to run.
func (k *call) note(r *recording) { k.watched.Store(r) }

// line is what has been seen of a command so far.
func (r *recording) line() string {
	s := fmt.Sprintf("%d bytes of output", r.stdout.size()+r.stderr.size())
	last := strings.TrimRight(readable(r.stdout.recent(200)), "\n ")
	if last = last[strings.LastIndexByte(last, '\n')+1:]; last != "" {
		s += "; " + last
	}
	return s
}
