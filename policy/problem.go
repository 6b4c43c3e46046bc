package policy

import (
	"errors"
	"fmt"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// problem is what is wrong with one value, before it is known where the value came from.
type problem struct {
	at   int // byte offset in the source, or -1
	msg  string
	hint string
}

func badf(format string, args ...any) *problem {
	return &problem{at: -1, msg: fmt.Sprintf(format, args...)}
}

// hinted adds what a person can do about it.
func (p *problem) hinted(hint string) *problem { p.hint = hint; return p }

// located adds the offset, unless a more exact one is there already.
func (p *problem) located(at int) *problem {
	if p.at < 0 {
		p.at = at
	}
	return p
}

// fault makes the error that callers see.
func (p *problem) fault(op, subject string) error {
	return fault.Wrap(fault.PolicyInvalid, op, subject, errors.New(p.msg)).WithHint(p.hint)
}
