package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// execute runs one command line and gives its exit code.
func execute(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.Execute()
	if err != nil && err.Error() != "" {
		fmt.Fprintln(os.Stderr, errorLine(err))
	}
	return exitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "qsandbox",
		Short:         "Run commands of AI agents in a sandbox that proves itself",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newRun())
	return root
}
