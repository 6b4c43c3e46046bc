package main

import (
	"github.com/spf13/cobra"
)

// The words that flags take. A test keeps them the same as package policy's.
var (
	backendWords = []string{"auto", "linux-bwrap", "linux-native", "macos-seatbelt", "windows-sandbox", "docker", "none"}
	modeWords    = []string{"strict", "compat", "permissive"}
	networkWords = []string{"off", "on", "allow"}
)

// completeWords lets the shell complete a flag's value.
func completeWords(cmd *cobra.Command, flag string, words []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// completePaths lets the shell complete a policy file, and directories.
func completePaths(cmd *cobra.Command, file string, dirs ...string) {
	if file != "" {
		_ = cmd.MarkFlagFilename(file, "json", "jsonc")
	}
	for _, d := range dirs {
		_ = cmd.MarkFlagDirname(d)
	}
}

// anyFile completes arguments with the shell's own file names.
func anyFile(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}
