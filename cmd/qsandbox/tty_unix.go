//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// sizeFD gives what is asked for the size: the terminal itself.
func sizeFD(input int) int { return input }

// onResize calls f at every change of the terminal's size.
func onResize(f func()) (stop func()) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGWINCH)
	go func() {
		for range ch {
			f()
		}
	}()
	return func() { signal.Stop(ch); close(ch) }
}
