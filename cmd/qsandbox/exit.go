package main

import (
	"errors"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Exit codes of our own. A command's own code passes through; a signal is 128+n.
const (
	exitTimeout       = 124 // a limit ended the command
	exitSandbox       = 125 // the sandbox failed, or bad input
	exitNotExecutable = 126
	exitNotFound      = 127
)

// exitError carries an exit code through cobra without a message of its own.
type exitError int

func (exitError) Error() string { return "" }

// exitCode maps an error to an exit code.
func exitCode(err error) int {
	var e exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return int(e)
	case errors.Is(err, fault.ErrCommandNotFound):
		return exitNotFound
	case errors.Is(err, fault.ErrCommandNotExecutable):
		return exitNotExecutable
	}
	return exitSandbox
}

// exitOf maps the end of a command to an exit code.
func exitOf(x *report.Exit) int {
	switch x.Cause {
	case report.TimedOut, report.MemoryLimit, report.CPULimit:
		return exitTimeout
	}
	return x.Code
}
