package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// driven is the errand of a process that runs one driver and nothing else.
const driven errand = "driven"

// beyond is the time for what a driver does before and after its length, and for all
// that has none.
const beyond = 10 * time.Minute

// apart has a process of its own run a driver: what is measured is that process.
func (t *trier) apart(ctx context.Context, c *Case, backend, mode string, run results.Run) results.Run {
	one, err := t.sendDriver(ctx, c, backend, mode)
	if err != nil {
		run.Status, run.Notes = results.Fail, "the driver: "+err.Error()
		return run
	}
	one.As, one.Steps = run.As, append(run.Steps, one.Steps...)
	return one
}

func (t *trier) sendDriver(ctx context.Context, c *Case, backend, mode string) (results.Run, error) {
	dir, err := os.MkdirTemp(t.g.dir, "driver-")
	if err != nil {
		return results.Run{}, err
	}
	defer func() { _ = removeAll(dir) }()
	o := order{Dir: filepath.Join(dir, "ground"), Bin: t.g.bin, Program: t.g.probe, Jobs: 1, Soak: t.soak, Cases: []*Case{c}, Tasks: []task{{0, backend, mode}}, What: driven, Who: t.who, Leash: true}
	length := beyond
	if c.soaks() {
		length += t.soak
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.g.probe, WorkerArgs...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), WorkerEnv+"=1")
	var out bytes.Buffer
	var msg bounded
	cmd.Stdout, cmd.Stderr = &out, &msg
	if err := startLeashed(cmd, o); err != nil {
		return results.Run{}, err
	}
	if err := cmd.Wait(); err != nil {
		return results.Run{}, fmt.Errorf("%w: %s", err, strings.TrimSpace(msg.String()))
	}
	var one done
	if err := json.Unmarshal(out.Bytes(), &one); err != nil {
		return results.Run{}, fmt.Errorf("its answer: %w", err)
	}
	return one.Run, nil
}

// farewell is the time for a worker that was told to stop.
const farewell = 90 * time.Second

// startLeashed starts a worker with its order. Its input stays open as long as this
// process lives: at its end the worker stops.
func startLeashed(cmd *exec.Cmd, o order) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	// A soak that is interrupted ends like one whose time is over, and says so.
	cmd.WaitDelay = farewell
	cmd.Cancel = func() error {
		_ = in.Close()
		return os.ErrProcessDone // its own end counts, which is a success
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _, _ = in.Write(append(data, '\n')) }() // Wait closes it
	return nil
}

// leashed gives a context that ends when the rest of an input does.
func leashed(ctx context.Context, rest io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, bufio.NewReader(rest))
		cancel()
	}()
	return ctx, cancel
}

// aloneWith makes a worker the process of one driver.
func (t *trier) aloneWith(ctx context.Context, o order, out io.Writer) error {
	if len(o.Cases) != 1 || len(o.Tasks) != 1 {
		return fmt.Errorf("a driver has one case, not %d", len(o.Cases))
	}
	t.alone = true
	tmp := filepath.Join(o.Dir, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return err
	}
	os.Setenv("TMPDIR", tmp)
	return json.NewEncoder(out).Encode(done{Run: t.try(ctx, o.Cases[0], o.Tasks[0].Backend, o.Tasks[0].Mode)})
}
