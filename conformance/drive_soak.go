package conformance

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/qiming-sandbox/qsandbox/conformance/trend"
)

// leakReadings is about how many readings a leak case takes.
const leakReadings = 30

// leak makes and releases sessions, one after the other (LEAK-01).
func (d *driver) leak() error {
	n, began := d.count(), time.Now()
	every := max(1, n/leakReadings)
	for i := range n {
		if err := d.stop.Err(); err != nil {
			return err
		}
		if err := d.round(i); err != nil {
			return err
		}
		if i%every == 0 {
			if err := d.m.sample(); err != nil {
				return err
			}
		}
	}
	d.tell("%d sessions made and released in %v", n, time.Since(began).Round(time.Millisecond))
	if d.c.Full > n {
		d.tell("with --soak it is %d", d.c.Full)
	}
	return nil
}

// Readings of a soak: this far apart, but some in any; and at most so many.
const (
	usualApart   = 75 * time.Millisecond
	someReadings = 24
	mostReadings = 720
)

// length is how long a soak lasts.
func (d *driver) length() time.Duration {
	if d.t.soak > 0 {
		return d.t.soak
	}
	return shortSoak
}

// soak does something until the time is over, with a pause, and takes readings.
func (d *driver) soak(pause time.Duration, do func(i int) error) (n int, err error) {
	apart := max(min(usualApart, d.length()/someReadings), d.length()/mostReadings)
	end, next := time.Now().Add(d.length()), time.Now()
	for ; time.Now().Before(end) || len(d.m.times) < trend.Least; n++ { // a slow machine has its readings too
		if d.stop.Err() != nil {
			d.tell("INTERRUPTED after %v of %v", (d.length() - time.Until(end)).Round(time.Second), d.length())
			break
		}
		if err := do(n); err != nil {
			return n, err
		}
		if now := time.Now(); !now.Before(next) {
			if err := d.m.sample(); err != nil {
				return n, err
			}
			next = next.Add(apart)
			if next.Before(now) {
				next = now.Add(apart)
			}
		}
		select {
		case <-d.stop.Done():
		case <-time.After(pause):
		}
	}
	return n, d.m.sample()
}

// soakSession has one session answer for long (SOAK-01).
func (d *driver) soakSession() error {
	began := time.Now()
	s, err := d.open("soak", sessionScript)
	if err != nil {
		return err
	}
	n, err := d.soak(min(max(d.length()/3000, time.Millisecond), time.Second), func(i int) error {
		return d.ask(s, fmt.Sprint("question", i))
	})
	if err != nil {
		_ = d.release(s, stopped)
		return fmt.Errorf("after %d answers: %w", n, err)
	}
	d.tell("%d answers in %v", n, time.Since(began).Round(time.Second))
	return d.release(s, byItself)
}

// leastSuccess is the share of runs that must work.
const leastSuccess = 0.999

// soakRuns runs a command again and again (SOAK-02). As many as 20,000 in all.
func (d *driver) soakRuns() error {
	var failures []error
	n, err := d.soak(d.length()/20000, func(i int) error {
		if err := d.oneRun(fmt.Sprint("soak", i), i); err != nil {
			failures = append(failures, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.tell("%s", successText(n, len(failures)))
	if n == 0 || float64(n-len(failures)) < leastSuccess*float64(n) {
		return errors.Join(fmt.Errorf("%d of %d runs failed", len(failures), n), firstOf(failures))
	}
	return nil
}

// successText says what the count of runs shows, and what not. Without a failure among
// n the share of failures is below 3/n with 95 % (J. A. Hanley, A. Lippman-Hand, "If
// nothing goes wrong, is everything all right?", JAMA 249, 1983).
func successText(n, failed int) string {
	const enough = 3000 // 3 / (1 - leastSuccess)
	s := fmt.Sprintf("%d of %d runs worked", n-failed, n)
	if n > 0 && failed == 0 && n < enough {
		s += fmt.Sprintf(", which shows %.2f %% or better (95 %% sure), not 99.9 %%: that takes %d", math.Floor(1e4*(1-min(1, 3/float64(n))))/100, enough)
	}
	return s
}
