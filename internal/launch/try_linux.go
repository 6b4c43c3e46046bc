package launch

import (
	"context"

	"github.com/qiming-sandbox/qsandbox/internal/plan"
)

// Try builds the whole sandbox of a plan up to the init's first word, starts no
// command, and takes everything down again. It is what a probe does (POL-07).
func Try(ctx context.Context, p *plan.Plan) error {
	l := &launcher{plan: p, opt: Options{SecondStart: EverySecondStart}, tryOnly: true, born: -1}
	if err := l.lower(); err != nil {
		return err
	}
	defer l.abandon()
	defer l.closeChildEnds()
	if err := l.open(); err != nil {
		return err
	}
	if err := l.fork(); err != nil {
		return err
	}
	l.closeChildEnds()
	return l.handshake(ctx)
}
