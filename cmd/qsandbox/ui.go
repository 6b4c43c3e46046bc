package main

import (
	"os"

	"golang.org/x/term"
)

// errorLine is how every error of ours is shown.
func errorLine(err error) string { return paint(os.Stderr, red, "qsandbox: ") + err.Error() }

// warnLine is how every remark of ours is shown.
func warnLine(text string) string { return paint(os.Stderr, yellow, "qsandbox: ") + text }

const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// paint colours text on a terminal only, and never when NO_COLOR is set.
func paint(f *os.File, colour, text string) string {
	if os.Getenv("NO_COLOR") != "" || !term.IsTerminal(int(f.Fd())) {
		return text
	}
	return colour + text + reset
}
