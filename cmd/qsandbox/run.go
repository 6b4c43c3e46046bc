package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/report"
)

// runFlags are what only run takes; policyFlags are shared.
type runFlags struct {
	policyFlags
	cwd    string
	env    []string
	user   string
	stdin  bool
	tty    bool
	report string
	json   bool
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] [--] COMMAND [ARG ...]",
		Short: "Run a command in the sandbox",
		Example: `  qsandbox run -- go test ./...
  qsandbox run --workspace ~/project --network on -- npm install
  qsandbox run --policy policy.json --report report.json -- make -j4
  qsandbox run --tty -- bash`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd, f, args) },
	}
	cmd.Flags().SetInterspersed(false)
	f.register(cmd.Flags())
	fl := cmd.Flags()
	fl.StringVar(&f.cwd, "cwd", "", "start `DIR`, inside the workspace")
	fl.StringArrayVar(&f.env, "env", nil, "set `NAME=VALUE`, or pass NAME on from the caller; may be repeated")
	fl.StringVar(&f.user, "user", "", "as root: run as this `USER`")
	fl.BoolVar(&f.stdin, "stdin", false, "pass standard input on, also from a terminal")
	fl.BoolVarP(&f.tty, "tty", "t", false, "give the command a terminal of its own")
	fl.StringVar(&f.report, "report", "", "write the report as JSON to `FILE`")
	fl.BoolVar(&f.json, "json", false, "print one JSON object with report and output instead of streaming")
	return cmd
}

func run(cmd *cobra.Command, f runFlags, args []string) error {
	layers, err := f.layers(cmd.Flags())
	if err != nil {
		return err
	}
	req := qsandbox.Request{Layers: layers, Command: args, Cwd: f.cwd, User: f.user, Stdout: os.Stdout, Stderr: os.Stderr}
	if req.Env, err = envFlags(f.env); err != nil {
		return err
	}
	var captured *capture
	if f.json {
		captured = &capture{}
		req.Stdout, req.Stderr = &captured.out, &captured.err
	}
	rep, err := runSignals(cmd.Context(), &f, req)
	if werr := writeReport(f.report, rep); werr != nil && err == nil {
		err = werr
	}
	if captured != nil {
		captured.print(rep)
	} else {
		remarks(rep)
	}
	if err != nil {
		return err
	}
	if code := exitOf(rep.Exit); code != 0 {
		return exitError(code)
	}
	return nil
}

// signalled is the cause of a context that a signal to the launcher ended.
type signalled struct{ sig syscall.Signal }

func (s signalled) Error() string          { return "signal " + s.sig.String() }
func (s signalled) Signal() syscall.Signal { return s.sig }

// runSignals runs a request; a signal to the launcher ends the tree, the
// command first, and the launcher then ends with 128+n.
func runSignals(parent context.Context, f *runFlags, req qsandbox.Request) (*report.Report, error) {
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	sigs := make(chan os.Signal, 8)
	signal.Notify(sigs, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(sigs)
	term, err := openTerminal(f, &req)
	if err != nil {
		return nil, err
	}
	defer term.restore()
	if req.Terminal == nil {
		req.Stdin = input(f.stdin)
	}
	req.Started = term.follow
	go func() {
		if sig, ok := (<-sigs).(syscall.Signal); ok {
			cancel(signalled{sig})
		}
	}()
	rep, err := qsandbox.Run(ctx, req)
	if s, ok := context.Cause(ctx).(signalled); ok && rep.Exit != nil {
		rep.Exit.Code = 128 + int(s.sig)
	}
	return rep, err
}

// idlePipe is how long a pipe without --stdin may stay silent before it counts
// as no input. Agents and editors often start programs with an open pipe that
// nobody writes to, and a command that reads would hang for ever.
const idlePipe = 1500 * time.Millisecond

// input decides what the command reads: a file or pipe is passed on, a terminal
// only with --stdin (PROC-01).
func input(always bool) io.Reader {
	if always {
		return os.Stdin
	}
	st, err := os.Stdin.Stat()
	if err != nil || st.Mode()&os.ModeCharDevice != 0 || term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	if st.Mode().IsRegular() {
		return os.Stdin
	}
	return &patient{f: os.Stdin}
}

// remarks shows people what they must know: notices, a cut output, a limit.
func remarks(rep *report.Report) {
	if rep == nil {
		return
	}
	for _, n := range rep.Notices {
		fmt.Fprintln(os.Stderr, warnLine(printable(n.Text)))
	}
	if rep.Exit == nil {
		return
	}
	switch rep.Exit.Cause {
	case report.TimedOut:
		fmt.Fprintln(os.Stderr, warnLine("the time limit ended the command (limits.timeout)"))
	case report.MemoryLimit:
		fmt.Fprintln(os.Stderr, warnLine("the memory limit ended the command (limits.memory)"))
	}
	if rep.Exit.Truncated {
		fmt.Fprintln(os.Stderr, warnLine("output was cut (limits.output)"))
	}
}

func writeReport(path string, rep *report.Report) error {
	if path == "" || rep == nil {
		return nil
	}
	data, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		return err
	}
	if err := writeOutside(path, append(data, '\n')); err != nil {
		return fault.Wrap(fault.UsageInvalid, "write report", path, err)
	}
	return nil
}
