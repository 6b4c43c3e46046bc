package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/mcpserver"
)

// mcpFlags are those of run that make sense for many commands.
type mcpFlags struct {
	policyFlags
	commandFlags
}

func newMCP() *cobra.Command {
	f := &mcpFlags{}
	cmd := &cobra.Command{
		Use:   "mcp [flags]",
		Short: "Serve a sandboxed Bash tool to an agent (MCP over stdio)",
		Long: `Mcp is a server of the Model Context Protocol on standard input and output. An
agent's client starts it, and calls its tool Bash; each command runs in a sandbox
of its own. The policy, the workspace and the directory are those of this command
line: no request changes them.

It ends with its input. Nothing that it started is left then.

The agent's own shell must be switched off, or it protects nothing: see
qsandbox mcp config.`,
		Example: `  qsandbox mcp --workspace ~/project
  qsandbox mcp --workspace ~/project --policy ~/policies/agent.json --timeout 10m
  qsandbox mcp config claude-code --workspace ~/project`,
		Args:              mcpArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return serveMCP(cmd, f) },
	}
	f.policyFlags.register(cmd)
	f.commandFlags.register(cmd)
	cmd.AddCommand(newMCPConfig())
	return cmd
}

// mcpArguments: what is no flag can only be meant for a subcommand.
func mcpArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args)
	}
	return nil
}

func serveMCP(cmd *cobra.Command, f *mcpFlags) error {
	req, err := f.request(cmd.Flags(), &f.policyFlags, nil)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(context.Background())
	defer stop()
	srv, err := mcpserver.New(ctx, mcpserver.Options{
		Layers: req.Layers, Cwd: req.Cwd, Env: req.Env, User: req.User, Version: readBuild().Version, Log: remark,
	})
	if err != nil {
		return err
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		remark("this is a server for an agent's client, which starts it; see qsandbox mcp config. It ends with Ctrl-D")
	}
	err = srv.Serve(ctx, os.Stdin, os.Stdout)
	var sig signalled
	switch {
	case errors.As(context.Cause(ctx), &sig):
		return exitError(128 + int(sig.sig))
	case err == nil, errors.Is(err, io.EOF), brokenPipe(err): // the client has gone
		return nil
	}
	return fault.Wrap(fault.LaunchFailed, "serve", "", err).WithHint("everything that it started has been ended")
}

// untilSignal gives a context that a signal to this program ends, with the signal as
// its cause. A write to a client that has gone is an error, not the end of the
// program before it has cleaned up.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	sigs := make(chan os.Signal, 8)
	signal.Notify(sigs, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	go func() {
		for s := range sigs {
			if sig, ok := s.(syscall.Signal); ok && sig != syscall.SIGPIPE {
				cancel(signalled{sig})
			}
		}
	}()
	return ctx, func() { signal.Stop(sigs); close(sigs); cancel(nil) }
}
