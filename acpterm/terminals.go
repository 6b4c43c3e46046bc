package acpterm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// What holds when Options say nothing.
const (
	DefaultLimit     = 50      // terminals at once (CONC-01)
	DefaultMaxOutput = 1 << 20 // bytes of output kept of one terminal
)

// Options say how terminals run. The zero value is usable: the current directory is
// the workspace, under the built-in policy.
type Options struct {
	Layers    []policy.Layer // over the built-in policy, lowest first, as qsandbox.Layers gives them
	User      string         // as root: run as this user
	Limit     int            // terminals at once, those that ended and were not released included; 0: DefaultLimit
	MaxOutput int            // bytes of output kept, whatever the agent asks for; 0: DefaultMaxOutput

	// Dir gives the directory for a command that names none, "" for the workspace;
	// nil: always the workspace. It must lie in the workspace.
	Dir func(session string) string
	// Ended is told about every command that ended or did not start; nil: nobody.
	// It is called from many goroutines.
	Ended func(session string, rep *report.Report, err error)
	// Events is told what happens; nil: nobody. It is called from many goroutines.
	Events func(qsandbox.Event)
	// Memory is that of the session which the terminals belong to; nil: they are one by
	// themselves.
	Memory *qsandbox.Memory
}

// Terminals are the terminals of one agent. Its methods may be called at the same time.
type Terminals struct {
	opt    Options
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	list   map[string]*terminal // by id; not those that were released
	taken  int                  // slots: started, starting, and released but not over yet
	closed bool
	wg     sync.WaitGroup
}

// New makes the terminals of one agent. Close ends them.
func New(o Options) *Terminals {
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	if o.MaxOutput <= 0 {
		o.MaxOutput = DefaultMaxOutput
	}
	if o.Memory == nil {
		o.Memory = &qsandbox.Memory{}
	}
	t := &Terminals{opt: o, list: map[string]*terminal{}}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// Create starts a command and gives the terminal's id. When ctx ends before the
// command runs, it is ended again. Errors are of type *Error.
func (t *Terminals) Create(ctx context.Context, r CreateRequest) (string, error) {
	if err := r.check(); err != nil {
		return "", err
	}
	if err := t.take(); err != nil {
		return "", err
	}
	term, err := t.start(r)
	if err != nil {
		t.give()
		return "", wrap(hint(r, err))
	}
	if err := t.keep(ctx, term); err != nil {
		return "", err
	}
	return term.id, nil
}

// keep enters a terminal that has started, unless nobody wants it any more.
func (t *Terminals) keep(ctx context.Context, term *terminal) error {
	t.mu.Lock()
	stop := t.closed || ctx.Err() != nil
	if !stop {
		t.list[term.id] = term
	}
	t.mu.Unlock()
	go t.settle(term, stop)
	if stop {
		term.stop()
		return wrap(context.Canceled)
	}
	return nil
}

// settle waits for the end of a command. The slot of a released one is free before
// anybody hears of the end.
func (t *Terminals) settle(term *terminal, unwanted bool) {
	defer t.wg.Done()
	term.finish(t.opt.Ended)
	t.mu.Lock()
	if unwanted || term.released {
		t.taken--
	}
	term.settled = true
	t.mu.Unlock()
	close(term.done)
}

// take reserves a slot before anything is started: many requests at once cannot get
// past the limit.
func (t *Terminals) take() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return wrap(context.Canceled)
	}
	if t.taken >= t.opt.Limit {
		err := fault.New(fault.TerminalLimit, "create terminal", "", fmt.Sprintf("at most %d at once: release those that have ended", t.opt.Limit))
		return &Error{Code: CodeInternal, Message: "Terminal limit reached: " + err.Error(), Fault: err}
	}
	t.taken++
	t.wg.Add(1)
	return nil
}

// give is for a slot that was taken for nothing.
func (t *Terminals) give() {
	t.mu.Lock()
	t.taken--
	t.mu.Unlock()
	t.wg.Done()
}

// find gives a terminal of a session.
func (t *Terminals) find(session, id string) (*terminal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	term := t.list[id]
	if term == nil || term.session != session {
		return nil, unknown(id)
	}
	return term, nil
}

// Output gives what the command has written so far, and its end when that has come.
func (t *Terminals) Output(session, id string) (Output, error) {
	term, err := t.find(session, id)
	if err != nil {
		return Output{}, err
	}
	return term.output(), nil
}

// Wait waits for the end of the command and gives it, or the end of ctx.
func (t *Terminals) Wait(ctx context.Context, session, id string) (ExitStatus, error) {
	term, err := t.find(session, id)
	if err != nil {
		return ExitStatus{}, err
	}
	return term.wait(ctx)
}

// Kill ends the command and everything it started, and waits for that: TERM, then
// KILL after the policy's grace. The output stays. To kill again is no error.
func (t *Terminals) Kill(ctx context.Context, session, id string) error {
	term, err := t.find(session, id)
	if err != nil {
		return err
	}
	term.stop()
	_, err = term.over(ctx)
	return err
}

// Release ends the command like Kill and forgets the terminal: its id is unknown
// from the moment of the call.
func (t *Terminals) Release(ctx context.Context, session, id string) error {
	term, err := t.forget(session, id)
	if err != nil {
		return err
	}
	term.stop()
	_, err = term.over(ctx)
	return err
}

func (t *Terminals) forget(session, id string) (*terminal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	term := t.list[id]
	if term == nil || term.session != session {
		return nil, unknown(id)
	}
	delete(t.list, id)
	term.released = true
	if term.settled {
		t.taken--
	}
	return term, nil
}

// EndSession releases all terminals of a session, without waiting.
func (t *Terminals) EndSession(session string) {
	t.mu.Lock()
	var ids []string
	for id, term := range t.list {
		if term.session == session {
			ids = append(ids, id)
		}
	}
	t.mu.Unlock()
	for _, id := range ids {
		if term, err := t.forget(session, id); err == nil {
			term.stop()
		}
	}
}

// Len gives how many terminals there are, those that ended and were not released
// included.
func (t *Terminals) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taken
}

// Close ends every command, waits until nothing is left, and refuses new ones.
func (t *Terminals) Close() {
	t.mu.Lock()
	t.closed = true
	clear(t.list)
	t.mu.Unlock()
	t.cancel()
	t.wg.Wait()
}

// newID makes an id that is not given twice. That a client uses only its own terminals
// is checked by session, not left to the id; so the runtime's ChaCha8 source does, and
// no start of the command line pays for package crypto's.
func newID() string { return fmt.Sprintf("term_%016x%016x", rand.Uint64(), rand.Uint64()) }
