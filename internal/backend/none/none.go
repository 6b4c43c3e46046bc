// Package none is the absence of a sandbox: by name, or by a declared fallback
// (POL-04, POL-05). Environment, streams and limits are kept all the same.
package none

import (
	"context"

	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
)

// Name is the backend's name.
const Name = "none"

// Backend implements backend.Backend.
type Backend struct{}

// Name gives "none".
func (Backend) Name() string { return Name }

// Probe: it is there always.
func (Backend) Probe(context.Context, host.Host) (backend.Support, error) {
	return backend.Support{Available: true}, nil
}

// Compile gives a plan without isolation. Strict refuses it, as every row is below enforced.
func (Backend) Compile(s *spec.Spec, _ backend.Support) (*plan.Plan, error) {
	p := plan.Base(Name, s)
	p.Isolation.Direct = true
	if s.GOOS == "linux" {
		p.LinuxLimits(s, false)
	}
	p.LinuxRows(s)
	return backend.Finish(p, s)
}
