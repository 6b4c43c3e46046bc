package qsandbox

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/backend/all"
	"github.com/qiming-sandbox/qsandbox/internal/launch"
)

// backends is the list with the means to ask the helper.
var backends = sync.OnceValue(func() []backend.Backend {
	return all.List(backend.Trial{Try: launch.Try, Firm: launch.Firm, Program: program, Beside: beside})
})

// beside gives the path of a program in our own directory. SECURITY: never from PATH,
// nor from the directory that we are in: either may belong to somebody else.
func beside(name string) string {
	self, err := os.Executable()
	if err != nil {
		return name
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	return filepath.Join(filepath.Dir(self), name)
}

// program runs the helper and gives what it printed, also when it failed.
func program(ctx context.Context, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{} // the system adds SYSTEMROOT, without which nothing starts
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	return out.String(), err
}
