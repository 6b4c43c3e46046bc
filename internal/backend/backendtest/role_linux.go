package backendtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// roleEnv makes the test binary play a launcher that a test can kill.
const roleEnv = "QSANDBOX_TEST_ROLE"

// role is what such a launcher is told.
type role struct {
	Backend   policy.Backend
	Mode      policy.Mode
	Workspace string
	Command   []string

	Cancels int // so many starts, each given up by its caller at a random moment

	// Of a killer:
	Kills   int           // 0: it is a launcher
	Longest time.Duration // from a launcher's start to its end
	Time    time.Duration // no further launcher after it
	Tag     string        // among the command's arguments
}

// Launcher gives a process that runs one command in a sandbox and ends with
// its exit code. The caller starts it, and may kill it.
func (s Setup) Launcher(t testing.TB, p *Place, command ...string) *exec.Cmd {
	t.Helper()
	data, err := json.Marshal(role{Backend: s.Backend, Mode: s.Mode, Workspace: p.WS, Command: command})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleEnv+"="+string(data))
	return cmd
}

func play(text string) int {
	os.Unsetenv(roleEnv)
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	if r.Kills > 0 {
		return kill(r)
	}
	if r.Cancels > 0 {
		return r.cancel()
	}
	return r.run(context.Background())
}

// cancel starts its command again and again, and gives up each time.
func (r role) cancel() int {
	for range r.Cancels {
		ctx, done := context.WithTimeout(context.Background(), time.Duration(rand.Int64N(int64(r.Longest))))
		r.run(ctx)
		done()
	}
	return 0
}

func (r role) run(ctx context.Context) int {
	l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &r.Workspace, Backend: &r.Backend, Mode: &r.Mode}
	rep, err := qsandbox.Run(ctx, qsandbox.Request{Layers: []policy.Layer{l}, Command: r.Command, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	return rep.Exit.Code
}
