package main

import (
	"os"

	"golang.org/x/term"
)

// errorLine is how every error of ours is shown.
func errorLine(err error) string {
	return paint(os.Stderr, red, "qsandbox: ") + printable(err.Error())
}

// warnLine is how every remark of ours is shown.
func warnLine(text string) string { return paint(os.Stderr, yellow, "qsandbox: ") + printable(text) }

const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	bold   = "\x1b[1m"
	reset  = "\x1b[0m"
)

// paint colours text on a terminal only, and never when NO_COLOR is set.
func paint(f *os.File, colour, text string) string {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return text
	}
	return colour + text + reset
}

// heading is how a part of a longer text begins.
func heading(text string) string { return paint(os.Stdout, bold, text) + "\n" }

// paintOut colours a word on stdout.
func paintOut(colour, text string) string { return paint(os.Stdout, colour, text) }
