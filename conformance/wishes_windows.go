package conformance

import (
	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// wish is one thing to try inside; the cases that do are for Linux.
type wish struct {
	path, shown      string
	write, dir, sure bool
	dev, ino         uint64
}

func (wish) operation() qsandbox.Operation { return qsandbox.OpRead }

func (*verifying) wishes(policy.Policy, string, *own) []wish { return nil }
