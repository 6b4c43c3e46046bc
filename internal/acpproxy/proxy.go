package acpproxy

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/acpterm"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Options say what is run, and between whom.
type Options struct {
	Agent     qsandbox.Request // the agent; its streams are set here
	Terminals acpterm.Options  // its terminals; Dir is set here
	Server    *ToolServer      // given to an agent of protocol version 2; nil: none

	In     io.Reader    // from the client
	Out    io.Writer    // to the client
	Stderr io.Writer    // what the agent writes there
	Remark func(string) // one line for people, not escaped; called from many goroutines
}

// patience is how long an agent may take to end by itself when the client is gone,
// and a client to take what the agent said last.
var patience = 5 * time.Second // shorter in tests

// errGone is why writing to somebody ends.
var errGone = errors.New("the other side is gone")

// proxy is one connection.
type proxy struct {
	opt    Options
	terms  *acpterm.Terminals
	talk   *talk
	cancel context.CancelCauseFunc
	over   chan struct{} // closed when the agent has ended

	client *outlet     // to the client
	agent  *outlet     // to the agent
	calls  calls       // terminal requests that are being answered
	other  atomic.Bool // the agent speaks a version without terminal requests
	told   remarks
}

// Run starts the agent and passes lines until it has ended. When the client goes
// away, the agent's input ends; an agent that does not end then is ended. At the
// return every terminal is gone. The report is the agent's; it is never nil.
func Run(ctx context.Context, o Options) (*report.Report, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	read, write := io.Pipe()
	p := newProxy(o, write, cancel)
	lines := &splitter{max: maxLine, line: p.fromAgent, tooLong: p.overlong}
	req := o.Agent
	req.Stdin, req.Stdout, req.Stderr = input{read}, lines, o.Stderr

	go p.fromClient(write)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(patience, p.abandon) })
	rep, err := qsandbox.Run(ctx, req)
	stop()
	close(p.over)
	lines.end()
	_ = read.CloseWithError(errGone) // what is being written to the agent is given up
	p.agent.abandon(errGone)
	p.calls.close()
	p.terms.Close()
	p.calls.wait()
	p.client.finish(patience)
	return rep, err
}

// abandon gives both sides up: when we are told to end, nobody who does not read keeps us.
func (p *proxy) abandon() {
	p.client.abandon(errGone)
	p.agent.abandon(errGone)
}

// input is the agent's input. When the agent reads no more, for it has ended, those
// who write to it must hear of it.
type input struct{ *io.PipeReader }

// WriteTo is what io.Copy calls.
func (i input) WriteTo(w io.Writer) (int64, error) {
	n, err := io.Copy(w, struct{ io.Reader }{i.PipeReader})
	_ = i.CloseWithError(errGone)
	return n, err
}

func newProxy(o Options, agent io.Writer, cancel context.CancelCauseFunc) *proxy {
	p := &proxy{
		opt: o, talk: newTalk(), cancel: cancel, over: make(chan struct{}),
		client: newOutlet(o.Out), agent: newOutlet(agent), told: remarks{say: o.Remark},
	}
	o.Terminals.Dir = p.talk.dir
	p.terms = acpterm.New(o.Terminals)
	p.calls.open()
	return p
}

// fromClient passes the client's lines on to the agent until the client is gone.
func (p *proxy) fromClient(in *io.PipeWriter) {
	if p.passClient() != nil {
		return // the agent is gone
	}
	p.agent.finish(patience)
	_ = in.Close()
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-p.over:
	case <-t.C:
		p.cancel(errGone)
	}
}

// passClient gives nil when the client has ended its side.
func (p *proxy) passClient() error {
	r := newLines(p.opt.In, peekLine)
	for {
		c := r.next()
		if c.first && c.last {
			c.data = p.talk.outbound(c.data, p)
		}
		if c.first {
			if err := p.agent.lock(); err != nil {
				return err
			}
		}
		if len(c.data) > 0 {
			if err := p.agent.put(c.data); err != nil {
				return err
			}
		}
		if c.last {
			p.agent.unlock()
		}
		if c.end {
			return nil
		}
	}
}

// remarks says things to people: each once, and not without end.
type remarks struct {
	say  func(string)
	mu   sync.Mutex
	said map[string]bool
}

// most is how many different remarks one agent can cause.
const most = 50

func (r *remarks) once(text string) {
	if r.say == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said == nil {
		r.said = map[string]bool{}
	}
	if r.said[text] || len(r.said) >= most {
		return
	}
	r.said[text] = true
	r.say(text)
}
