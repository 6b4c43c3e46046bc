//go:build !linux

package probe

import (
	"fmt"
	"io"
)

// attempts: other systems have no probes yet.
func attempts() []attempt { return nil }

func reach(_ io.Reader, _, msg io.Writer) int {
	fmt.Fprintln(msg, "probe: reach is for Linux only")
	return Usage
}

func terminal(_ []string, _, msg io.Writer) int {
	fmt.Fprintln(msg, "probe: terminals are for Linux only")
	return Usage
}
