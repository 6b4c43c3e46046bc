package main

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// runFlags are what only run takes; the others are shared.
type runFlags struct {
	policyFlags
	commandFlags
	stdin  bool
	tty    bool
	report string
	json   bool

	verbose bool
}

func newRun() *cobra.Command { return newRunFor(&runFlags{}) }

// newRunFor is the command with its flags in f.
func newRunFor(f *runFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run [flags] [--] COMMAND [ARG ...]",
		Short: "Run a command in the sandbox",
		Long: `Run runs one command in the sandbox and passes its output and exit code on.
No shell parses the command. Its input is empty, unless a file or a pipe is
given to qsandbox, or --stdin or --tty.`,
		Example: `  qsandbox run -- go test ./...
  qsandbox run --workspace ~/project --network on -- npm install
  qsandbox run --policy policy.json --report report.json -- make -j4
  qsandbox run --timeout 90s --env CI=1 -- sh -c 'make && make check'
  qsandbox run --tty -- bash`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badUsage(cmd, "run", "", "no command was given")
			}
			return run(f, cmd.Flags(), args)
		},
		ValidArgsFunction: anyFile,
	}
	cmd.Flags().SetInterspersed(false)
	f.policyFlags.register(cmd)
	f.commandFlags.register(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.stdin, "stdin", false, "pass standard input on, also from a terminal")
	fl.BoolVarP(&f.tty, "tty", "t", false, "give the command a terminal of its own")
	fl.StringVar(&f.report, "report", "", "write the report as JSON to `FILE`")
	fl.BoolVar(&f.json, "json", false, "print one JSON object with report and output instead of streaming")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "show everything that was probably denied, also when stderr is no terminal")
	return cmd
}

func run(f *runFlags, fl changes, args []string) error {
	file, err := openOutside(f.report)
	if err != nil {
		return fault.Wrap(fault.UsageInvalid, "open report", f.report, err).WithHint("name a regular file in a directory that is there; nothing was run")
	}
	defer file.close()
	var got capture
	rep, err := f.perform(fl, args, &got)
	if werr := writeReport(file, f, rep); werr != nil && err == nil {
		err = werr
	}
	if f.json {
		if werr := got.print(rep, err); err == nil {
			err = werr
		}
	} else {
		told(rep, func() { remarks(rep, f.verbose) })
	}
	switch {
	case err != nil && f.json:
		return printed{err}
	case err != nil:
		return err
	case exitOf(rep.Exit) != 0:
		return exitError(exitOf(rep.Exit))
	}
	return nil
}

// perform runs the command. There is a report in any case.
func (f *runFlags) perform(fl changes, args []string, got *capture) (*report.Report, error) {
	req, err := f.request(fl, &f.policyFlags, args)
	if err != nil {
		return qsandbox.Refused(req, err), err
	}
	req.Stdout, req.Stderr = os.Stdout, os.Stderr
	if f.json {
		req.Stdout, req.Stderr = &got.out, &got.err
		req.Layers = append([]policy.Layer{kept()}, req.Layers...)
	}
	return runSignals(context.Background(), f, req)
}

// mostKept is what --json keeps of each stream where limits.output says nothing: the
// limits of the sandbox do not count for what we hold for the command.
const mostKept = policy.Size(64 << 20)

// kept is the lowest layer of a run with --json.
func kept() policy.Layer {
	l, most := policy.Layer{Origin: policy.Origin{Kind: policy.OriginBuiltIn}}, mostKept
	l.Limits.Output = &most
	return l
}

// signalled is the cause of a context that a signal to the launcher ended.
type signalled struct{ sig syscall.Signal }

func (s signalled) Error() string          { return "signal " + s.sig.String() }
func (s signalled) Signal() syscall.Signal { return s.sig }

// runSignals runs a request; a signal to the launcher ends the tree, the
// command first, and the launcher then ends with 128+n.
func runSignals(parent context.Context, f *runFlags, req qsandbox.Request) (*report.Report, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	sigs := make(chan os.Signal, 8)
	signal.Notify(sigs, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(sigs)
	term, err := openTerminal(f, &req)
	if err != nil {
		return qsandbox.Refused(req, err), err
	}
	defer term.restore()
	if req.Terminal == nil {
		req.Stdin = input(f.stdin)
	}
	req.Started = term.follow
	req.Events = alarm
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

// writeReport writes the report where --report says.
func writeReport(file *outside, f *runFlags, rep *report.Report) error {
	if file == nil {
		return nil
	}
	data, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		return err
	}
	workspace := rep.Workspace
	if workspace == "" { // refused before that was known
		workspace, _ = filepath.EvalSymlinks(cmp.Or(f.workspace, "."))
	}
	if err := file.write(append(data, '\n'), workspace); err != nil {
		return fault.Wrap(fault.UsageInvalid, "write report", f.report, err).WithHint("the command has run; its report is lost")
	}
	return nil
}
