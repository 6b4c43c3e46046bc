//go:build !linux && !windows

package qsandbox

import (
	"sync"

	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/backend/all"
)

// backends is the list without the means to probe: the Linux backends say "needs
// Linux" here before they would start anything. Their plans can be made all the
// same, since compiling is pure.
var backends = sync.OnceValue(func() []backend.Backend { return all.List(backend.Trial{}) })
