package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// execute runs one command line and gives its exit code.
func execute(args []string) int {
	if f, fl, command, ok := plainRun(args); ok {
		return end(run(f, fl, command), f.json, func() *cobra.Command {
			cmd, _, _ := newRoot(args).Find(args)
			return cmd
		})
	}
	root := newRoot(args)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	return end(err, wantsJSON(cmd), func() *cobra.Command { return cmd })
}

// end says what went wrong, and gives the exit code.
func end(err error, json bool, cmd func() *cobra.Command) int {
	var code exitError
	if err == nil || errors.As(err, &code) {
		return exitCode(err)
	}
	err = usage(cmd(), err)
	fmt.Fprintln(os.Stderr, errorLine(err))
	if !errors.As(err, new(printed)) && json {
		_ = printJSON(failed(err)) // the line on stderr has said it
	}
	return exitCode(err)
}

// commands are the subcommands, by name.
var commands = []struct {
	name string
	make func() *cobra.Command
}{
	{"run", newRun}, {"plan", newPlan}, {"explain", newExplain}, {"doctor", newDoctor},
	{"mcp", newMCP}, {"acp", newACP}, {"policy", newPolicy}, {"events", newEvents}, {"metrics", newMetrics},
	{"verify", newVerify}, {"report", newReport}, {"probe", newProbe}, {"version", newVersion}, {"completion", newCompletion},
}

// newRoot makes the command that args name, and all of them when they name none:
// to make every command costs a run more than to parse its flags.
func newRoot(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "qsandbox",
		Short: "Run commands of AI agents in a sandbox that proves itself",
		Long: `qsandbox runs a command so that it can do its work and nothing else: it writes
only to the workspace, cannot read credentials, reaches only the network that it
was given, ends when told, and leaves nothing behind.

Exit codes: the command's own code, or 128+n when signal n ended it. Ours are 124
for a limit, 125 when the sandbox or the input is at fault, 126 for a command that
cannot be executed, 127 for one that is not found.`,
		Example: `  qsandbox run -- go test ./...
  qsandbox explain write ~/.bashrc
  qsandbox doctor`,
		Args:              cobra.ArbitraryArgs,
		RunE:              runRoot,
		SilenceUsage:      true,
		SilenceErrors:     true,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	root.Flags().Bool("version", false, "print the version")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	for _, c := range commands {
		if len(args) > 0 && c.name == args[0] && c.name != "completion" { // which writes about all of them
			root.AddCommand(c.make())
			return root
		}
	}
	for _, c := range commands {
		root.AddCommand(c.make())
	}
	return root
}

func runRoot(cmd *cobra.Command, args []string) error {
	if v, _ := cmd.Flags().GetBool("version"); v {
		return show(readBuild().line() + "\n")
	}
	return unknownCommand(cmd, args)
}

// newHelp is cobra's help command, with an error for what there is no help about.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about any command",
		Example: "  qsandbox help run",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmp.Or(about, cmd.Root()), append(rest, args...))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
