//go:build !linux

package cell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// Possible tells whether cells can be made on this system at all.
const Possible = false

// Command gives an error: cells are for Linux.
func Command(context.Context, string, Spec) (*exec.Cmd, error) {
	return nil, errors.New("a throw-away environment can be made on Linux only")
}

// Sure gives an error: this is no cell.
func Sure() error { return errors.New("this is no cell") }

// Main is the first process of a cell.
func Main(_ []string, msg io.Writer) int {
	fmt.Fprintln(msg, "probe: cells are for Linux only")
	return Failed
}
