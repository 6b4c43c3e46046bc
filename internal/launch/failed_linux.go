package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/inside"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
)

// failed turns a failed step into an error that names it.
func (l *launcher) failed(m inside.Message) error {
	if m.Program == inside.Setup && l.first != nil {
		return stepError(l.plan, l.first, m)
	}
	return stepError(l.plan, l.image, m)
}

func stepError(p *plan.Plan, image *inside.Image, m inside.Message) error {
	label := image.Describe(m.Step)
	errno := syscall.Errno(m.Errno)
	if m.Program == inside.Command && label == execLabel {
		switch errno {
		case unix.ENOENT:
			return fault.Wrap(fault.CommandNotFound, "execute", p.Exe, errno).WithHint("it is not visible inside, or its interpreter is not")
		default:
			return fault.Wrap(fault.CommandNotExecutable, "execute", p.Exe, errno)
		}
	}
	e := fault.Wrap(fault.LaunchFailed, label, "", errno)
	e.Backend = p.Backend
	if errno == unix.ESTALE || errno == unix.ELOOP {
		e.Hint = "what stands there changed while the sandbox was being built"
	}
	return e
}

// diagnose explains why no answer came: the outer program's own words, if any.
func (l *launcher) diagnose(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return l.wrap("start the sandbox", context.Cause(ctx))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return l.wrap("start the sandbox", fmt.Errorf("no answer within %v", startLimit))
	}
	if l.plan.Outer != nil {
		killTree(l.outer) // not the parent first, see endOuter
	}
	_ = unix.Kill(l.outer, unix.SIGKILL)
	text := l.words()
	if text == "" {
		text = "it ended before it was ready"
	}
	return l.wrap("start the sandbox", errors.New(text))
}

// words reads what the set-up wrote to stderr.
func (l *launcher) words() string {
	l.stderr.SetReadDeadline(time.Now().Add(time.Second))
	out, _ := io.ReadAll(io.LimitReader(l.stderr, 4096))
	return strings.TrimSpace(strings.ToValidUTF8(string(out), "?"))
}

func (l *launcher) wrap(op string, err error) error {
	e := fault.Wrap(fault.LaunchFailed, op, "", err)
	e.Backend = l.plan.Backend
	return e
}
