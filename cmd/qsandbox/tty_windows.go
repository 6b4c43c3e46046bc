package main

import (
	"os"
	"time"

	"golang.org/x/term"
)

// sizeFD gives what is asked for the size: of a console only the output has one.
func sizeFD(int) int { return int(os.Stdout.Fd()) }

// onResize calls f at every change of the terminal's size. Windows tells it only among
// what the command reads, so that we look four times a second.
func onResize(f func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		cols, rows, _ := term.GetSize(sizeFD(0))
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if c, r, err := term.GetSize(sizeFD(0)); err == nil && (c != cols || r != rows) {
				cols, rows = c, r
				f()
			}
		}
	}()
	return func() { close(done) }
}
