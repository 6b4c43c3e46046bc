package acpproxy

import (
	"io"
	"sync"
	"time"
)

// outlet writes lines to one side. Lines of many goroutines never mix. One that does
// not read makes the writers wait, and only them; abandon frees them.
//
// The writing itself is done by a goroutine of its own, as a write to somebody who
// does not read cannot be taken back.
type outlet struct {
	turn chan struct{} // whoever writes a line holds it
	todo chan []byte
	done chan error // one answer to each todo
	gone chan struct{}
	once sync.Once
	err  error
}

func newOutlet(w io.Writer) *outlet {
	o := &outlet{turn: make(chan struct{}, 1), todo: make(chan []byte), done: make(chan error), gone: make(chan struct{})}
	go o.serve(w)
	return o
}

func (o *outlet) serve(w io.Writer) {
	for {
		select {
		case data := <-o.todo:
			_, err := w.Write(data)
			select {
			case o.done <- err:
			case <-o.gone:
				return
			}
		case <-o.gone:
			return
		}
	}
}

// write writes one line and waits until it is taken.
func (o *outlet) write(line []byte) error { return o.writeMade(func() []byte { return line }) }

// writeMade is write for a line that is made when it is its turn, so that not many
// large ones wait at a time.
func (o *outlet) writeMade(line func() []byte) error {
	if err := o.lock(); err != nil {
		return err
	}
	defer o.unlock()
	return o.put(line())
}

// lock takes the turn, for a line that is written in parts.
func (o *outlet) lock() error {
	select {
	case <-o.gone:
		return o.err
	default:
	}
	select {
	case o.turn <- struct{}{}:
		return nil
	case <-o.gone:
		return o.err
	}
}

func (o *outlet) unlock() { <-o.turn }

// put writes a part; the caller has the turn.
func (o *outlet) put(data []byte) (err error) {
	select {
	case o.todo <- data:
	case <-o.gone:
		return o.err
	}
	select {
	case err = <-o.done:
	case <-o.gone:
		return o.err
	}
	if err != nil {
		o.abandon(err)
	}
	return err
}

// abandon gives up: whoever waits, and whoever comes, gets err.
func (o *outlet) abandon(err error) {
	o.once.Do(func() { o.err = err; close(o.gone) })
}

// finish waits for what is being written, for a while, and ends the outlet.
func (o *outlet) finish(limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case o.turn <- struct{}{}:
	case <-o.gone:
	case <-t.C:
	}
	o.abandon(errGone)
}
