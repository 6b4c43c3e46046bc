package mcpserver

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Bounds of the jobs of one connection.
const (
	maxJobs = 16 // that run
	maxKept = 48 // and those that have ended and may still be read
)

// job is a command in the background. It belongs to its connection.
type job struct {
	name    string
	command string
	*recording
	cancel  context.CancelFunc
	started chan struct{} // closed when the command runs
	done    chan struct{} // closed when it has ended; rep and err are then settled
	rep     *report.Report
	err     error
}

func (j *job) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// jobs are the jobs of a connection, oldest first.
type jobs struct {
	mu      sync.Mutex
	list    []*job
	count   int // ever started
	stopped bool
}

// add makes room by forgetting the oldest that has ended.
func (js *jobs) add(j *job) error {
	js.mu.Lock()
	defer js.mu.Unlock()
	running, oldest := 0, -1
	for i, other := range js.list {
		if !other.over() {
			running++
		} else if oldest < 0 {
			oldest = i
		}
	}
	if js.stopped || running >= maxJobs {
		return fault.New(fault.LimitExceeded, "start job", "", fmt.Sprintf("%d jobs run at once at most; stop one with BashStop first", maxJobs))
	}
	if len(js.list) >= maxKept && oldest >= 0 {
		js.list = append(js.list[:oldest], js.list[oldest+1:]...)
	}
	js.count++
	j.name = fmt.Sprintf("job-%d", js.count)
	js.list = append(js.list, j)
	return nil
}

func (js *jobs) find(name string) (*job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.list {
		if j.name == name {
			return j, nil
		}
	}
	return nil, fault.New(fault.UsageInvalid, "find job", name, "there is no such job; BashOutput without arguments lists them")
}

// stop ends all of them, for good.
func (js *jobs) stop() {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.stopped = true
	for _, j := range js.list {
		j.cancel()
	}
}

// startJob starts a command and answers when it runs, or could not be started.
func (c *session) startJob(k *call, args bashArgs) *outcome {
	ctx, cancel := context.WithCancel(c.ctx)
	j := &job{command: args.command, recording: newRecording(), cancel: cancel, started: make(chan struct{}), done: make(chan struct{})}
	if err := c.jobs.add(j); err != nil {
		cancel()
		return failed(err)
	}
	req := c.srv.request(args, j.recording)
	req.Started = func(*qsandbox.Session) { close(j.started) }
	c.work.Go(func() { c.runJob(ctx, j, req) })
	select {
	case <-j.started:
	case <-j.done:
	case <-k.ctx.Done():
		cancel() // cancelled before it ran: it does not run
		<-j.done
		return dropped()
	}
	if j.over() && j.err != nil {
		return j.recording.outcome(j.rep, j.err, ended)
	}
	return &outcome{Job: j.name, Running: true, Denials: []denial{}, Notices: []notice{},
		status: "started as " + j.name + `: BashOutput {"job": "` + j.name + `"} reads it, BashStop ends it`}
}

func (c *session) runJob(ctx context.Context, j *job, req qsandbox.Request) {
	defer close(j.done)
	defer j.cancel()
	defer func() {
		if v := recover(); v != nil {
			c.srv.opt.Log(fmt.Sprintf("fault in a job: %v\n%s", v, debug.Stack()))
			j.err = fault.New(fault.Internal, "run job", j.name, "fault in the server; its log has the details")
		}
	}()
	j.rep, j.err = c.srv.opt.run(ctx, req)
}

// bashOutput reads a job, or lists all.
func (c *session) bashOutput(k *call) *outcome {
	r := k.reader("BashOutput")
	name := r.text("job")
	wait, _ := r.millis("wait", maxWait)
	if err := r.end(); err != nil {
		return failed(err)
	}
	if name == "" {
		return c.jobs.table()
	}
	j, err := c.jobs.find(name)
	if err != nil {
		return failed(err)
	}
	j.await(k.ctx, wait)
	if !k.hold(c.answers) {
		return dropped()
	}
	return j.outcome()
}

// await waits until a job has something to say.
func (j *job) await(ctx context.Context, wait time.Duration) {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !j.stdout.fresh() && !j.stderr.fresh() {
		select {
		case <-j.done:
			return
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// bashStop ends a job and waits for its end.
func (c *session) bashStop(k *call) *outcome {
	r := k.reader("BashStop")
	name := r.text("job")
	if name == "" {
		r.fail("job", "a job is needed")
	}
	if err := r.end(); err != nil {
		return failed(err)
	}
	j, err := c.jobs.find(name)
	if err != nil {
		return failed(err)
	}
	j.cancel()
	select {
	case <-j.done:
	case <-k.ctx.Done():
	}
	if !k.hold(c.answers) {
		return dropped()
	}
	o := j.outcome()
	o.stopped = true
	return o
}

// outcome gives what is new of a job.
func (j *job) outcome() *outcome {
	var o *outcome
	if j.over() {
		o = j.recording.outcome(j.rep, j.err, ended)
	} else {
		o = j.recording.outcome(nil, nil, running)
		o.Running = true
		o.status = j.name + " is running"
	}
	o.Job = j.name
	return o
}

// table lists the jobs.
func (js *jobs) table() *outcome {
	js.mu.Lock()
	defer js.mu.Unlock()
	o := &outcome{Denials: []denial{}, Notices: []notice{}, Jobs: []jobLine{}}
	var lines []string
	for _, j := range js.list {
		state := "running"
		if j.over() {
			state = "ended"
		}
		command := inline(j.command)
		if r := []rune(command); len(r) > 100 {
			command = string(r[:100]) + "…"
		}
		o.Jobs = append(o.Jobs, jobLine{j.name, state, command})
		lines = append(lines, j.name+" "+state+": "+command)
	}
	if o.status = strings.Join(lines, "\n"); len(lines) == 0 {
		o.status = "there are no jobs"
	}
	return o
}
