// Package launch is step 3 of 5: a plan becomes a running process.
//
// Start builds everything that must exist before the command, and gives a
// Process. It either starts the command under its plan or fails; there is no
// way from here to an unwrapped command.
package launch

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/qiming-sandbox/qsandbox/internal/inside"
)

// Options are what a launch needs beside the plan.
type Options struct {
	Rows, Cols  uint16               // terminal size; 0 leaves the kernel's default
	Meanwhile   func() error         // called once the sandbox is being built (see Overlaps); the command starts only when it gave nil
	Listener    func(*os.File) error // takes the notification descriptor of a supervised plan, before the command starts
	SecondStart bool                 // take the portable way, a second start of our own binary and the Go init, also where the fast one exists (tests)
}

// EverySecondStart makes all starts of this program as Options.SecondStart says. Only
// tests set it, before anything is started: what has the fast way can so be tried on the
// portable one with the whole contract suite.
var EverySecondStart bool

// Process is a plan that runs. Exactly one goroutine may call Wait; the other
// methods may be called from any.
type Process struct {
	Stdin  io.WriteCloser // nil unless the plan asks for a pipe or a terminal
	Stdout *os.File       // nil with a terminal
	Stderr *os.File       // nil with a terminal
	TTY    *os.File       // the terminal's master side, or nil

	PID int // of the init, on the host

	//lint:ignore U1000 some systems have no launcher yet
	sys sysProcess
}

// Result is how the command ended.
type Result struct {
	Code   int  // exit code
	Signal int  // the signal that ended it, or 0
	Lost   bool // the init itself was killed: the tree was ended from outside
	Memory bool // the kernel ended it for its memory limit
	Usage  inside.Usage
	PIDs   []int // of what ran, where the kernel's log names processes (macOS)
}

// Firm tells whether a failed start means that this machine cannot do it at all.
// Shortage (processes, memory, descriptors, space, time) says nothing about that:
// a sandbox that eats the process limit must not unlock the next one (POL-05).
func Firm(err error) bool {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return false
	}
	switch errno {
	case syscall.EPERM, syscall.EACCES, syscall.ENOSYS, syscall.EINVAL, syscall.ENOENT, syscall.EOPNOTSUPP:
		return true
	}
	return false
}
