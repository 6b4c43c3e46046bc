package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/mcpconfig"
)

// mcpConfigFlags are those of mcp, which are put into the entry, and --json.
type mcpConfigFlags struct {
	mcpFlags
	json bool
}

func newMCPConfig() *cobra.Command {
	f := &mcpConfigFlags{}
	names := clientNames()
	cmd := &cobra.Command{
		Use:   "config [flags] " + strings.Join(names, "|"),
		Short: "Print how a client is told of the server, and how its own shell is switched off",
		Long: `Config prints what to put into a client's settings so that it starts qsandbox mcp
with the flags given here, and what switches the client's own shell off: beside a
shell that is not confined, a sandboxed one protects nothing. Where a client has
no switch, a warning says so. No file is changed.`,
		Example: `  qsandbox mcp config claude-code
  qsandbox mcp config claude-desktop --workspace ~/project --timeout 10m
  qsandbox mcp config codex --json | jq -r '.steps[].text'`,
		Args:              arguments(1, 1, "the name of a client: "+strings.Join(names, ", ")),
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(cmd *cobra.Command, args []string) error { return mcpConfig(cmd, f, args[0]) },
	}
	f.policyFlags.register(cmd)
	f.commandFlags.register(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func clientNames() []string {
	var out []string
	for _, c := range mcpconfig.Clients() {
		out = append(out, c.Name)
	}
	return out
}

func mcpConfig(cmd *cobra.Command, f *mcpConfigFlags, name string) error {
	clients := mcpconfig.Clients()
	i := slices.IndexFunc(clients, func(c mcpconfig.Client) bool { return c.Name == name })
	if i < 0 {
		return badUsage(cmd, "configure client", name, "the clients are "+strings.Join(clientNames(), ", "))
	}
	if _, err := f.request(cmd.Flags(), &f.policyFlags, nil); err != nil {
		return err // a policy that the server would refuse
	}
	s, err := f.server(cmd.Flags())
	if err != nil {
		return err
	}
	set := clients[i].For(s)
	if f.json {
		return printJSON(set)
	}
	return show(setupText(set))
}

// server is what the client has to start: this very program, by its full path, with
// the flags that were given here.
func (f *mcpConfigFlags) server(fl *pflag.FlagSet) (mcpconfig.Server, error) {
	exe, err := os.Executable()
	if err != nil {
		return mcpconfig.Server{}, fault.Wrap(fault.Internal, "find this program", "", err)
	}
	here, err := os.Getwd()
	if err != nil {
		return mcpconfig.Server{}, fault.Wrap(fault.UsageInvalid, "find the current directory", "", err)
	}
	s := mcpconfig.Server{Command: exe, Args: []string{"mcp"}, Here: here}
	fl.Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "json":
		case "workspace":
			s.Workspace = anywhere(f.workspace)
		case "policy":
			s.Args = append(s.Args, "--policy", anywhere(f.policy))
		case "writable":
			for _, p := range f.writable {
				s.Args = append(s.Args, "--writable", anywhere(p))
			}
		case "env":
			for _, e := range f.env {
				s.Args = append(s.Args, "--env", e)
			}
		default:
			s.Args = append(s.Args, "--"+flag.Name, flag.Value.String())
		}
	})
	return s, nil
}

// anywhere makes a path of the command line independent of where the client is. The
// home directory is the same for both.
func anywhere(p string) string {
	if p == "" || strings.HasPrefix(p, "~") {
		return p
	}
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return p
}

// setupText is a setup for people: each piece below a line that says where it goes.
func setupText(set mcpconfig.Setup) string {
	var b strings.Builder
	b.WriteString(heading(set.Title))
	for i, s := range set.Steps {
		b.WriteString("\n" + string(rune('1'+i)) + ". " + s.Purpose + ": " + s.Where + "\n\n")
		for line := range strings.Lines(s.Text) {
			b.WriteString(printable(strings.TrimRight(line, "\n")) + "\n")
		}
	}
	b.WriteString("\n")
	for _, n := range set.Notes {
		if rest, ok := strings.CutPrefix(n, "WARNING: "); ok {
			n = paintOut(yellow, "WARNING: ") + rest
		}
		b.WriteString("- " + n + "\n")
	}
	b.WriteString("- No file was changed. As of the client's documentation: " + set.Source + "\n")
	return b.String()
}
