package conformance

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"
)

// exits is how many different exit codes runs get: below those that shells and
// sandboxes give by themselves.
const exits = 64

// Outputs are of one line; that of every eighth run is of more than any pipe holds.
const (
	manyLines = 20000
	much      = 8
)

// runs has many commands run at once, each with an output and a code of its own, while
// sessions are open. Nothing crosses, and all of it ends in time (CONC-03).
func (d *driver) runs() error {
	undo := d.bound()
	defer undo()
	began, n := time.Now(), d.count()
	held := make([]*opened, 0, 3)
	defer func() {
		for _, s := range held {
			s.stop()
			s.input.Close()
		}
	}()
	if _, ok := d.t.box.(opener); ok {
		for i := range cap(held) {
			s, err := d.open(fmt.Sprint("beside", i), sessionScript)
			if err != nil {
				return err
			}
			held = append(held, s)
		}
	}
	beside := len(held)
	failures := d.each(n+beside, func(i int) error {
		if i >= n {
			return d.keepAsking(held[i-n])
		}
		return d.oneRun(fmt.Sprint("run", i), i)
	})
	for len(held) > 0 {
		failures = firstOf([]error{failures, d.release(held[0], byItself)})
		held = held[1:]
	}
	d.tell("%d runs at once and %d sessions beside them, in %v", n, beside, time.Since(began).Round(time.Millisecond))
	return failures
}

// keepAsking talks with a session while others run.
func (d *driver) keepAsking(s *opened) error {
	for i := range 20 {
		if err := d.ask(s, fmt.Sprint("beside", i)); err != nil {
			return err
		}
	}
	return nil
}

// oneRun runs a command with an output, an input and a code that no other has.
func (d *driver) oneRun(own string, i int) error {
	lines, code, say := 1, i%exits, `echo "$1 $2"`
	if i%much == much-1 {
		lines, say = manyLines, fmt.Sprintf(`yes "$1 $2" | head -n %d`, manyLines)
	}
	unit := own + " " + d.p.u + "\n"
	k := d.call(own, fmt.Sprintf(`read -r given; test "$given" = "in-$1" || exit 99; %s; exit %d`, say, code))
	k.argv = append(k.argv, d.p.u)
	c := *d.c
	c.Stdin = "in-" + own + "\n"
	want := &repeated{unit: []byte(unit)}
	k.c, k.out = &c, want
	in := d.t.box.run(d.ctx, k)
	if err := d.sound(in); err != nil {
		return fmt.Errorf("%s: %w", own, err)
	}
	switch {
	case d.ctx.Err() != nil:
		return fmt.Errorf("%s: %w", own, context.Cause(d.ctx))
	case in.late:
		return fmt.Errorf("%s did not end within %v", own, d.c.limit())
	case in.code != code || in.signal != "":
		return fmt.Errorf("%s ended with code %d signal %q, wanted code %d", own, in.code, in.signal, code)
	}
	if err := want.check(lines); err != nil {
		return fmt.Errorf("%s: %w", own, err)
	}
	return nil
}

// repeated takes an output that is one line again and again, and keeps none of it.
type repeated struct {
	mu    sync.Mutex
	unit  []byte
	n     int
	wrong string // the first part that is another's
}

func (r *repeated) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rest := p; len(rest) > 0 && r.wrong == ""; {
		want := r.unit[r.n%len(r.unit):]
		part := rest[:min(len(rest), len(want))]
		if !bytes.Equal(part, want[:len(part)]) {
			r.wrong = string(bytes.ToValidUTF8(rest[:min(len(rest), 80)], []byte("?")))
		}
		r.n += len(part)
		rest = rest[len(part):]
	}
	return len(p), nil
}

func (r *repeated) check(lines int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wrong != "" {
		return fmt.Errorf("something else is in its output: %q", r.wrong)
	}
	if want := lines * len(r.unit); r.n != want {
		return fmt.Errorf("%d bytes of output, wanted %d", r.n, want)
	}
	return nil
}
