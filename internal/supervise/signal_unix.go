//go:build unix

package supervise

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func sigName(s syscall.Signal) string { return unix.SignalName(s) }
