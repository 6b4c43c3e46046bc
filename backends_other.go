//go:build !linux && !windows && !darwin

package qsandbox

import (
	"sync"

	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/backend/all"
)

// backends is the list without the means to probe: the backends say "needs
// Linux" here before they would start anything. Their plans can be made all the
// same, since compiling is pure.
var backends = sync.OnceValue(func() []backend.Backend { return all.List(backend.Trial{}) })
