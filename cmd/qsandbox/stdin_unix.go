//go:build unix

package main

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// readable waits until a descriptor has data or has ended (poll(2)).
func readable(f *os.File, limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	for {
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(left/time.Millisecond)+1)
		if err == unix.EINTR {
			continue
		}
		return err != nil || n > 0
	}
}
