package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox"
)

// explainFlags are what only explain takes.
type explainFlags struct {
	policyFlags
	commandFlags
	json     bool
	exitCode bool
}

// exitDenied is what explain --exit-code ends with for a no.
const exitDenied = 1

func newExplain() *cobra.Command {
	f := &explainFlags{}
	cmd := &cobra.Command{
		Use:   "explain [flags] read|write|exec|connect TARGET [-- COMMAND [ARG ...]]",
		Short: "Say whether the policy allows something, and by which rule",
		Long: `Explain says whether a command in the sandbox may read, write or execute a path, or
connect to a host, host:port, URL or socket, and which rule decided. It starts
nothing. Links are followed: what counts is where a path lands. A relative path is
taken from the current directory; a plain name for exec is looked up in PATH. It is
the policy's answer: the file's own permissions still count.

The exit code is 0 when there is an answer, whatever it is; with --exit-code it is
1 for a no. In strict mode the command's own directory and those of its absolute
arguments are shown to it, so naming the command can change the answer.`,
		Example: `  qsandbox explain write ~/.bashrc
  qsandbox explain read ~/.ssh/id_ed25519
  qsandbox explain exec git
  qsandbox explain connect registry.npmjs.org:443 --policy policy.json
  qsandbox explain --exit-code write src/main.go && echo writable`,
		RunE:              func(cmd *cobra.Command, args []string) error { return runExplain(cmd, f, args) },
		ValidArgsFunction: completeExplain,
	}
	f.policyFlags.register(cmd)
	f.commandFlags.register(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&f.exitCode, "exit-code", false, "exit with 1 when the answer is no")
	return cmd
}

func runExplain(cmd *cobra.Command, f *explainFlags, args []string) error {
	var command []string
	if n := cmd.ArgsLenAtDash(); n >= 0 && n <= len(args) {
		args, command = args[:n], args[n:]
	}
	if err := arguments(2, 2, "an operation (read, write, exec, connect) and a target")(cmd, args); err != nil {
		return err
	}
	req, err := f.request(cmd.Flags(), &f.policyFlags, command)
	if err != nil {
		return err
	}
	layerRemarks(req.Layers)
	op := qsandbox.Operation(args[0])
	v, err := qsandbox.Explain(req, op, fromHere(op, args[1]))
	if err != nil {
		return err
	}
	v.Target = args[1]
	if f.json {
		err = printJSON(v)
	} else {
		err = show(verdictText(v))
	}
	if err != nil {
		return err
	}
	if f.exitCode && !v.Allowed {
		return exitError(exitDenied)
	}
	return nil
}

// fromHere takes a relative path from where the user stands, not from the
// workspace. Hosts, and names to look up in PATH, are left alone.
func fromHere(op qsandbox.Operation, target string) string {
	if op == qsandbox.OpConnect && (strings.Contains(target, "://") || !strings.Contains(target, "/")) || target == "" || strings.HasPrefix(target, "~") ||
		op == qsandbox.OpExec && filepath.Base(target) == target {
		return target
	}
	if wd, err := os.Getwd(); err == nil && !filepath.IsAbs(target) {
		return wd + string(filepath.Separator) + target // not cleaned: a ".." may follow a link
	}
	return target
}

// verdictText is a verdict for people.
func verdictText(v qsandbox.Verdict) string {
	answer := paintOut(green, "allowed")
	if !v.Allowed {
		answer = paintOut(red, "denied")
		if v.Absent {
			answer += ", it is not there inside"
		}
	}
	var t table
	if v.Resolved != v.Target && v.Resolved != "" {
		t.row("resolved", v.Resolved)
	}
	t.row("rule", v.Rule)
	t.row("origin", v.Origin)
	t.row("why", v.Why)
	for _, n := range v.Notes {
		t.row("note", n)
	}
	return string(v.Operation) + " " + printable(v.Target) + ": " + answer + "\n" + t.lines("  ")
}

// completeExplain completes the operation, then lets the shell complete a path.
func completeExplain(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0:
		var ops []string
		for _, op := range qsandbox.Operations() {
			ops = append(ops, string(op))
		}
		return ops, cobra.ShellCompDirectiveNoFileComp
	case len(args) == 1 && args[0] == string(qsandbox.OpConnect):
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}
