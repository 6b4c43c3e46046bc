package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/qiming-sandbox/qsandbox/conformance/cell"
	"github.com/qiming-sandbox/qsandbox/conformance/probe"
	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// errand is what a worker is started for.
type errand string

const (
	onHost  errand = ""        // the product's tasks, as another user
	control errand = "control" // in a cell: one case without a sandbox
	foreign errand = "foreign" // in a cell: one case in a sandbox that may be none
)

// cellDir is the ground of a cell, on its own tmpfs.
const cellDir = "/var/lib/qsandbox-cell"

// inside is the worker in a cell: it does the one errand, and writes one line.
//
// SECURITY: attempts without a sandbox are made here and nowhere else. The process
// looks for itself that it is in a cell.
func (t *trier) inside(ctx context.Context, o order, out io.Writer) error {
	if err := cell.Sure(); err != nil {
		return fmt.Errorf("%s is for a throw-away environment only: %w", o.What, err)
	}
	if len(o.Cases) != 1 {
		return errors.New("a cell is for one case")
	}
	t.inCell = true
	c := o.Cases[0]
	run := results.Run{}
	if o.What == control {
		run = t.bare(ctx, c)
	} else {
		run = t.try(ctx, c, "command", "compat")
	}
	return json.NewEncoder(out).Encode(done{Run: run})
}

// shown has a cell show what a case does without the sandbox.
func (t *trier) shown(ctx context.Context, c *Case) shownBare {
	s := cell.Spec{Users: cell.Own, Decoys: true}
	if effectiveUID() == 0 {
		s.Users = cell.Mapped
		harmless := func(script string) bool { return script == "" || probe.Harmless(script) }
		if harmless(c.bareScript()) && harmless(c.Effect) && harmless(c.Setup) && harmless(c.Available) && c.Cleanup == "" {
			s.Users = cell.Real
		}
	}
	run, err := t.send(ctx, c, s, control)
	if err != nil {
		return shownBare{status: results.Invalid, notes: "the attempt was not made without the sandbox: " + err.Error()}
	}
	return shownBare{run.Status, run.Notes, run.Steps}
}

// elsewhere tries a case on another sandbox, which may be none, in a cell.
func (t *trier) elsewhere(ctx context.Context, c *Case, run results.Run) results.Run {
	s := cell.Spec{Users: cell.Own}
	if effectiveUID() == 0 {
		s.Users = cell.Mapped
	}
	in, err := t.send(ctx, c, s, foreign)
	if err != nil {
		run.Status, run.Notes = results.Invalid, "the attempt was not made: "+err.Error()
		return run
	}
	in.As, in.Steps = run.As, append(run.Steps, in.Steps...)
	return in
}

// send starts a cell with an errand.
func (t *trier) send(ctx context.Context, c *Case, s cell.Spec, what errand) (results.Run, error) {
	o := order{Dir: filepath.Join(cellDir, "ground"), Bin: t.g.bin, Program: t.g.probe, Jobs: 1, Cases: []*Case{c}, What: what}
	if w, ok := t.box.(wrapper); ok {
		o.Words = w.words
	}
	data, err := json.Marshal(o)
	if err != nil {
		return results.Run{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 4*c.limit())
	defer cancel()
	s.Dir, s.Show = cellDir, []string{t.g.bin}
	s.Argv = append([]string{t.g.probe}, WorkerArgs...)
	s.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + cellDir, "USER=decoy", "SHELL=/bin/sh", "LANG=C.UTF-8", WorkerEnv + "=1"}
	cmd, err := cell.Command(ctx, t.g.probe, s)
	if err != nil {
		return results.Run{}, err
	}
	var out bytes.Buffer
	var msg bounded
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(data), &out, &msg
	if err := cell.Run(cmd); err != nil {
		return results.Run{}, fmt.Errorf("%w: %s", err, strings.TrimSpace(msg.String()))
	}
	var one done
	if err := json.Unmarshal(out.Bytes(), &one); err != nil {
		return results.Run{}, fmt.Errorf("the cell's answer: %w", err)
	}
	return one.Run, nil
}
