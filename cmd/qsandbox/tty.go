package main

import (
	"os"

	"golang.org/x/term"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
)

// terminal is the caller's terminal while a command has one of its own.
type terminal struct {
	state *term.State
	fd    int
	stop  func()
}

// openTerminal switches the caller's terminal to raw mode, so that every key
// goes to the command's own terminal (PROC-04).
func openTerminal(f *runFlags, req *qsandbox.Request) (*terminal, error) {
	t := &terminal{fd: int(os.Stdin.Fd())}
	if !f.tty {
		return t, nil
	}
	if f.json {
		return t, fault.New(fault.UsageInvalid, "open a terminal", "", "--tty and --json exclude each other")
	}
	req.Stdin = os.Stdin
	req.Terminal = &qsandbox.Terminal{Rows: 24, Cols: 80}
	if !term.IsTerminal(t.fd) {
		return t, nil // a script drives the terminal through pipes
	}
	if cols, rows, err := term.GetSize(sizeFD(t.fd)); err == nil && cols > 0 && rows > 0 {
		req.Terminal = &qsandbox.Terminal{Rows: uint16(rows), Cols: uint16(cols)}
	}
	state, err := term.MakeRaw(t.fd)
	if err != nil {
		return t, fault.Wrap(fault.UsageInvalid, "open a terminal", "", err)
	}
	t.state = state
	return t, nil
}

// follow passes changes of size on while the command runs.
func (t *terminal) follow(s *qsandbox.Session) {
	if t.state == nil {
		return
	}
	t.stop = onResize(func() {
		if cols, rows, err := term.GetSize(sizeFD(t.fd)); err == nil {
			_ = s.Resize(qsandbox.Terminal{Rows: uint16(rows), Cols: uint16(cols)})
		}
	})
}

// restore gives the terminal back as it was.
func (t *terminal) restore() {
	if t.stop != nil {
		t.stop()
	}
	if t.state != nil {
		_ = term.Restore(t.fd, t.state)
	}
}
