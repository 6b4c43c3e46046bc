package conformance

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/conformance/results"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// WorkerArgs are the arguments with which the program becomes a worker. It is
// started by Verify alone: as root, cases of an ordinary user are run by a process
// of that user, which has never had more rights than that.
var WorkerArgs = []string{"verify", "--worker"}

// order is what a worker is told on its input.
type order struct {
	Dir, Bin, Program string
	Words             []string
	Jobs              int
	Soak              time.Duration
	Cases             []*Case
	Tasks             []task
	What              errand
	Who               Identity // of a driver; otherwise an ordinary user
	Leash             bool     // the input stays open; its end means: stop
}

type task struct {
	Case          int
	Backend, Mode string
}

// done is a line of a worker's output.
type done struct {
	Task int
	Run  results.Run
}

// byWorker runs the tasks of the ordinary user.
func (v *verifying) byWorker(ctx context.Context) error {
	tasks := v.tasks(AsUser)
	if len(tasks) == 0 {
		return nil
	}
	u, err := account(v.h, v.o.Account)
	if err != nil {
		return err
	}
	dir := filepath.Join(v.base, string(AsUser))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := os.Chown(dir, u.UID, u.GID); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, v.program, WorkerArgs...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + cmp.Or(os.Getenv("PATH"), "/usr/bin:/bin"), "HOME=" + dir, "USER=" + u.Name, "SHELL=/bin/sh", "LANG=C.UTF-8", WorkerEnv + "=1"}
	as(cmd, u.UID, u.GID)
	var msg bounded
	cmd.Stderr = &msg
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := startLeashed(cmd, v.order(dir, tasks)); err != nil {
		return fault.Wrap(fault.LaunchFailed, "start the worker as", u.Name, err)
	}
	n, rerr := v.listen(out, tasks)
	err = cmp.Or(cmd.Wait(), rerr)
	if err == nil && n != len(tasks) {
		err = fmt.Errorf("%d of %d tasks were done", n, len(tasks))
	}
	if err != nil && ctx.Err() == nil {
		return fault.Wrap(fault.LaunchFailed, "run the worker as", u.Name, fmt.Errorf("%w: %s", err, msg.String())).WithHint("name another ordinary user with --user")
	}
	return nil
}

// WorkerEnv is set for a worker, which lets a test binary know what it is.
const WorkerEnv = "QSANDBOX_VERIFY_WORKER"

func (v *verifying) order(dir string, tasks []*item) order {
	o := order{Dir: dir, Bin: v.bin, Program: v.program, Words: v.words, Jobs: v.o.Jobs, Soak: v.o.Soak, Leash: true}
	at := map[*Case]int{}
	for _, it := range tasks {
		if _, ok := at[it.c]; !ok {
			at[it.c] = len(o.Cases)
			o.Cases = append(o.Cases, it.c)
		}
		o.Tasks = append(o.Tasks, task{at[it.c], it.backend, it.mode})
	}
	return o
}

// listen takes the worker's lines.
func (v *verifying) listen(r io.Reader, tasks []*item) (int, error) {
	d := json.NewDecoder(bufio.NewReader(r))
	n := 0
	for {
		var one done
		switch err := d.Decode(&one); {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		case one.Task < 0 || one.Task >= len(tasks):
			return n, fmt.Errorf("task %d is none of ours", one.Task)
		}
		n++
		v.keep(tasks[one.Task], one.Run)
	}
}

// Work is the worker: it reads an order, runs it, and writes a line for each task.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	var o order
	d := json.NewDecoder(in)
	if err := d.Decode(&o); err != nil {
		return fault.Wrap(fault.UsageInvalid, "read order", "", err).WithHint("qsandbox verify starts this by itself")
	}
	if o.Leash {
		var cancel context.CancelFunc
		ctx, cancel = leashed(ctx, in)
		defer cancel()
	}
	g, err := newGround(o.Dir, o.Bin, o.Program)
	if err != nil {
		return err
	}
	defer g.close()
	t := &trier{g: g, box: boxOf(o.Words), who: cmp.Or(o.Who, AsUser), controls: map[string]func() shownBare{}, soak: o.Soak}
	if o.What == driven {
		return t.aloneWith(ctx, o, out)
	}
	if o.What != onHost {
		return t.inside(ctx, o, out)
	}
	if o.Words == nil {
		d, err := qsandbox.Doctor(ctx)
		if err != nil {
			return err
		}
		t.cannot = unusable(d)
	}
	lines := make(chan done)
	go func() {
		defer close(lines)
		last := func(i int) bool { k := o.Tasks[i].Case; return k >= 0 && k < len(o.Cases) && o.Cases[k].soaks() }
		work(o.Jobs, len(o.Tasks), last, func(i int) {
			k := o.Tasks[i]
			if ctx.Err() != nil || k.Case < 0 || k.Case >= len(o.Cases) {
				return
			}
			run := t.try(ctx, o.Cases[k.Case], k.Backend, k.Mode)
			if ctx.Err() == nil || last(i) { // as in verifying.here
				lines <- done{i, run}
			}
		})
	}()
	enc := json.NewEncoder(out)
	for one := range lines {
		if err = cmp.Or(err, enc.Encode(one)); err != nil {
			continue // let the others finish
		}
	}
	return err
}

// account finds the ordinary user for cases that root has run.
func account(h host.Host, name string) (host.User, error) {
	names := []string{name}
	if name == "" {
		names = []string{os.Getenv("SUDO_USER"), "nobody"}
	}
	for _, n := range names {
		if n == "" || n == "root" {
			continue
		}
		if u, err := h.UserByID(n); err == nil && u.UID != 0 {
			return u, nil
		}
	}
	return host.User{}, fault.New(fault.UsageInvalid, "find an ordinary user", strconv.Quote(name), "name one with --user")
}
