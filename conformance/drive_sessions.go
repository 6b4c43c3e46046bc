package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// bound ends what is done at once when its time is over, so that a deadlock fails.
func (d *driver) bound() (undo func()) {
	before := d.ctx
	late := fmt.Errorf("it did not end within %v", d.c.limit())
	ctx, cancel := context.WithTimeoutCause(before, d.c.limit(), late)
	d.ctx = ctx
	return func() { cancel(); d.ctx = before }
}

// each does something n times at once, and joins what went wrong.
func (d *driver) each(n int, do func(i int) error) error {
	failures := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { failures[i] = do(i) })
	}
	wg.Wait()
	return firstOf(failures)
}

// firstOf gives the first failures and how many there are: fifty say no more than three.
func firstOf(list []error) error {
	var out []error
	n := 0
	for _, err := range list {
		if err == nil {
			continue
		}
		if n++; n <= 3 {
			out = append(out, err)
		}
	}
	if n > 3 {
		out = append(out, fmt.Errorf("and %d more", n-3))
	}
	return errors.Join(out...)
}

// sessions has many alive at once. Each answers what it alone was asked, twice, the
// second time when all are there; then all are released (CONC-01).
func (d *driver) sessions() error {
	n := d.count()
	undo := d.bound()
	defer undo()
	began := time.Now()
	list := make([]*opened, n)
	err := d.each(n, func(i int) (err error) {
		script := sessionScript
		if i%3 == 0 {
			script = withChild
		}
		if list[i], err = d.open(fmt.Sprint("session", i), script); err != nil {
			return err
		}
		return d.ask(list[i], fmt.Sprint("first", i))
	})
	made := time.Since(began)
	alive := 0
	for _, s := range list {
		if s != nil {
			alive++
		}
	}
	asked := d.each(n, func(i int) error {
		if list[i] == nil || err != nil {
			return nil
		}
		return d.ask(list[i], fmt.Sprint("all", i))
	})
	released := d.each(n, func(i int) error {
		if list[i] == nil {
			return nil
		}
		return d.release(list[i], parting(i%2))
	})
	d.tell("%d sessions at once, made in %v, over in %v", alive, made.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	return firstOf([]error{err, asked, released})
}
