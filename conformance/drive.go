package conformance

import (
	"context"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// drive runs a case that one command cannot show.
func (t *trier) drive(ctx context.Context, c *Case, backend, mode string, run results.Run) results.Run {
	return skipped(run, "driver "+c.Driver+" is not there")
}
