package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/helpercmd"
	"github.com/qiming-sandbox/qsandbox/report"
)

// streams are the helper's own.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// outcome is how a command ended.
type outcome struct {
	code      int
	timedOut  bool
	truncated bool
	rows      []report.Enforcement
	notices   []report.Notice
	denials   []report.Denial
}

func (o outcome) result() helpercmd.Result {
	return helpercmd.Result{ExitCode: o.code, TimedOut: o.timedOut, Truncated: o.truncated, Enforcement: o.rows, Notices: o.notices, Denials: o.denials}
}

const usage = `usage:
  qiming-sandbox-helper run|serve --mode read-only|workspace-write --cwd DIR
      [--policy-json JSON|PRESET] [--write-restricted|--no-write-restricted] [options] -- COMMAND [ARG ...]
  qiming-sandbox-helper acl list|revoke [--all] [--home DIR]
  qiming-sandbox-helper version [--json]

run captures and prints one JSON object; serve passes input and output on.
options: --home DIR, --audit best-effort|enforce, --deny-write PATH, --protected helper|caller, --pass-env NAME,
  --timeout 90s, --memory BYTES, --processes N, --cpus N, --output BYTES, --report FILE,
  --tty [--size 80x25] [--sizes HANDLE] (serve). docs/windows.md says what each does.
`

// execute carries out one command line and gives the exit code.
func execute(args []string, s streams) int {
	if len(args) == 0 {
		fmt.Fprint(s.err, usage)
		return 125
	}
	switch args[0] {
	case "run":
		return run(args[1:], s)
	case "serve":
		return serve(args[1:], s)
	case "acl":
		return acl(args[1:], s)
	case "version", "--version":
		return version(args[1:], s)
	case "help", "--help", "-h":
		fmt.Fprint(s.out, usage)
		return 0
	}
	return complain(s, fault.New(fault.UsageInvalid, "read the command line", args[0], "there are run, serve, acl, version"))
}

func complain(s streams, err error) int {
	fmt.Fprintln(s.err, helpercmd.HelperName+": "+err.Error())
	return helpercmd.ExitOf(err)
}

// run prints one JSON object, also for an error of ours.
func run(args []string, s streams) int {
	var r helpercmd.Result
	c, err := helpercmd.Parse(helpercmd.Run, args)
	if err == nil {
		var out, errs capture
		var o outcome
		o, err = reported(c, streams{nil, &out, &errs})
		r = o.result()
		r.SetOutput(out.data, errs.data)
	}
	if err != nil {
		failed := helpercmd.Fail(err)
		r.ExitCode, r.Error = failed.ExitCode, failed.Error
		fmt.Fprintln(s.err, helpercmd.HelperName+": "+err.Error())
	}
	data, jerr := json.Marshal(r)
	if jerr != nil {
		return complain(s, jerr)
	}
	if _, err := s.out.Write(append(data, '\n')); err != nil {
		return complain(s, fault.Wrap(fault.Internal, "print the answer", "", err))
	}
	return r.ExitCode
}

// serve passes everything on, and the command's exit code.
func serve(args []string, s streams) int {
	c, err := helpercmd.Parse(helpercmd.Serve, args)
	if err != nil {
		return complain(s, err)
	}
	o, err := reported(c, s)
	for _, d := range o.denials { // nothing is moved away without a word
		fmt.Fprintf(s.err, "%s: %q: %s\n", helpercmd.HelperName, d.Subject, d.Remedy)
	}
	if err != nil {
		return complain(s, err)
	}
	return o.code
}

// reported performs a command and writes --report.
func reported(c helpercmd.Command, s streams) (outcome, error) {
	file, err := openReport(c.Report)
	if err != nil {
		return outcome{}, err
	}
	o, err := perform(context.Background(), c, s)
	if file == nil {
		return o, err
	}
	defer file.Close()
	r := o.result()
	if err != nil {
		failed := helpercmd.Fail(err)
		r.ExitCode, r.Error = failed.ExitCode, failed.Error
	}
	data, _ := json.MarshalIndent(r, "", "  ")
	if _, werr := file.Write(append(data, '\n')); werr != nil && err == nil {
		err = fault.Wrap(fault.UsageInvalid, "write report", c.Report, werr).WithHint("the command has run; its report is lost")
	}
	return o, err
}

// openReport makes the report's file. SECURITY: it must be new, so that no link, pipe
// or file that a command has put there is ever written to (FS-10).
func openReport(name string) (*os.File, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fault.Wrap(fault.UsageInvalid, "make report", name, err).WithHint("name a file that is not there yet; nothing was run")
	}
	return f, nil
}

// capture keeps what a command prints.
type capture struct{ data []byte }

func (c *capture) Write(p []byte) (int, error) {
	c.data = append(c.data, p...)
	return len(p), nil
}
