package main

import (
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newCompletion() *cobra.Command {
	shells := map[string]func(root *cobra.Command, w io.Writer) error{
		"bash":       func(r *cobra.Command, w io.Writer) error { return r.GenBashCompletionV2(w, true) },
		"zsh":        func(r *cobra.Command, w io.Writer) error { return r.GenZshCompletion(w) },
		"fish":       func(r *cobra.Command, w io.Writer) error { return r.GenFishCompletion(w, true) },
		"powershell": func(r *cobra.Command, w io.Writer) error { return r.GenPowerShellCompletionWithDesc(w) },
	}
	names := slices.Sorted(maps.Keys(shells))
	return &cobra.Command{
		Use:   "completion " + strings.Join(names, "|"),
		Short: "Print the script that lets a shell complete qsandbox commands",
		Example: `  source <(qsandbox completion bash)
  qsandbox completion zsh > "${fpath[1]}/_qsandbox"
  qsandbox completion fish > ~/.config/fish/completions/qsandbox.fish
  qsandbox completion powershell | Out-String | Invoke-Expression`,
		Args:              arguments(1, 1, "the name of a shell: "+strings.Join(names, ", ")),
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := shells[args[0]]
			if !ok {
				return badUsage(cmd, "complete for shell", args[0], "the shells are "+strings.Join(names, ", "))
			}
			return write(cmd.Root(), os.Stdout)
		},
	}
}
