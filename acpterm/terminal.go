package acpterm

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Output is the answer to terminal/output.
type Output struct {
	Text      string      `json:"output"`    // valid UTF-8, the newest part
	Truncated bool        `json:"truncated"` // something in front of it is missing
	Exit      *ExitStatus `json:"exitStatus,omitempty"`
}

// ExitStatus is how a command ended, and the answer to terminal/wait_for_exit.
type ExitStatus struct {
	Code   *uint32 `json:"exitCode"` // nil when a signal ended it, or it is not known
	Signal *string `json:"signal"`   // "SIGKILL"; nil when it ended by itself
}

// terminal is one command.
type terminal struct {
	id, session string
	run         *qsandbox.Session
	kept        *tail
	out, err    *stream
	once        sync.Once
	done        chan struct{} // closed at the end; exit and fail are set then
	exit        ExitStatus
	fail        error // the sandbox failed; not what the command did

	released, settled bool // under Terminals.mu
}

// start starts the command of a request.
func (t *Terminals) start(r CreateRequest) (*terminal, error) {
	limit := t.opt.MaxOutput
	if r.Limit != nil && *r.Limit < uint64(limit) {
		limit = int(*r.Limit)
	}
	kept := &tail{max: limit}
	term := &terminal{id: newID(), session: r.Session, kept: kept, out: &stream{to: kept}, err: &stream{to: kept}, done: make(chan struct{})}
	if r.Cwd == "" && t.opt.Dir != nil {
		r.Cwd = t.opt.Dir(r.Session)
	}
	// SECURITY: of the agent's request only these pass, and none of them grants a
	// right: cwd must lie in the workspace (FS-05), hooks in env need the policy's
	// word (VAR-02), and the environment is the sandboxed command's alone.
	req := qsandbox.Request{
		Layers: t.opt.Layers, User: t.opt.User, Events: t.opt.Events, Memory: t.opt.Memory,
		Command: append([]string{r.Command}, r.Args...), Cwd: r.Cwd, Env: r.env(),
		Stdout: term.out, Stderr: term.err,
	}
	var err error
	if term.run, err = qsandbox.Start(t.ctx, req); err != nil && t.opt.Ended != nil {
		t.opt.Ended(r.Session, nil, err)
	}
	return term, err
}

// hint explains what most often is behind a program that is not there.
func hint(r CreateRequest, err error) error {
	var e *fault.Error
	if len(r.Args) == 0 && strings.ContainsAny(r.Command, " |&;") && errors.As(err, &e) && e.Code == fault.CommandNotFound {
		return e.WithHint(`no shell reads "command": give the program there and its arguments in "args", or run sh with -c`)
	}
	return err
}

// finish waits for the end and settles it.
func (x *terminal) finish(ended func(string, *report.Report, error)) {
	rep, err := x.run.Wait()
	x.out.flush()
	x.err.flush()
	x.fail = err
	if err == nil && rep.Exit != nil {
		x.exit = statusOf(rep.Exit)
	}
	if ended != nil {
		ended(x.session, rep, err)
	}
}

// statusOf puts an end into the protocol's words: an exit code is never negative,
// and not given when a signal ended the command.
func statusOf(e *report.Exit) ExitStatus {
	if e.Signal != "" {
		return ExitStatus{Signal: &e.Signal}
	}
	if e.Code < 0 {
		return ExitStatus{}
	}
	code := uint32(e.Code)
	return ExitStatus{Code: &code}
}

func (x *terminal) output() Output {
	var exit *ExitStatus
	select {
	case <-x.done:
		exit = &x.exit
	default:
	}
	text, cut := x.kept.text() // after the look at done: an ended command's output is whole
	return Output{Text: text, Truncated: cut, Exit: exit}
}

// wait waits for the end; a sandbox that failed under the command is an error.
func (x *terminal) wait(ctx context.Context) (ExitStatus, error) {
	exit, err := x.over(ctx)
	if err != nil {
		return exit, err
	}
	if x.fail != nil {
		return exit, wrap(x.fail)
	}
	return exit, nil
}

// over waits until the command and all that it started are gone.
func (x *terminal) over(ctx context.Context) (ExitStatus, error) {
	select {
	case <-x.done:
		return x.exit, nil
	default:
	}
	select {
	case <-x.done:
		return x.exit, nil
	case <-ctx.Done():
		return ExitStatus{}, wrap(cmp.Or(ctx.Err(), context.Canceled))
	}
}

func (x *terminal) stop() { x.once.Do(x.run.Stop) }
