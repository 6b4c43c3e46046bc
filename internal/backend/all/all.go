// Package all is the explicit list of backends, one line each.
package all

import (
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/backend/bwrap"
	"github.com/qiming-sandbox/qsandbox/internal/backend/native"
	"github.com/qiming-sandbox/qsandbox/internal/backend/none"
	"github.com/qiming-sandbox/qsandbox/internal/backend/seatbelt"
	"github.com/qiming-sandbox/qsandbox/internal/backend/winhelper"
)

// List gives every backend. trial is how their probes start things.
func List(trial backend.Trial) []backend.Backend {
	return []backend.Backend{
		bwrap.Backend{Trial: trial},
		native.Backend{Trial: trial},
		seatbelt.Backend{Trial: trial},
		winhelper.Backend{Trial: trial},
		none.Backend{},
	}
}
