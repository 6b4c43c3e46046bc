//go:build darwin || linux

package qsandbox

import (
	"bytes"
	"context"
	"os/exec"
	"sync"

	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/backend/all"
	"github.com/qiming-sandbox/qsandbox/internal/launch"
)

// backends is the list with the means to probe.
var backends = sync.OnceValue(func() []backend.Backend {
	return all.List(backend.Trial{Try: launch.Try, Firm: launch.Firm, Program: program})
})

// program runs a program of the system with an empty environment.
func program(ctx context.Context, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}
