package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox/conformance/probe"
)

// newProbe is hidden: conformance cases call it, inside and outside, for system
// calls that no program makes which is installed everywhere. See docs/conformance.md.
func newProbe() *cobra.Command {
	return &cobra.Command{
		Use:                "probe NAME [ARG ...]",
		Short:              "Make one harmless system call for a conformance case",
		Example:            "  qsandbox probe list\n  qsandbox probe socket-packet",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if code := probe.Main(args, os.Stdout, os.Stderr); code != 0 {
				return exitError(code)
			}
			return nil
		},
	}
}
