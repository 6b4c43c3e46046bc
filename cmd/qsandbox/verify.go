package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox/conformance"
	"github.com/qiming-sandbox/qsandbox/conformance/render"
	"github.com/qiming-sandbox/qsandbox/conformance/results"
	"github.com/qiming-sandbox/qsandbox/fault"
)

// Exit codes of verify.
const (
	gateFails = 1
	couldNot  = 2
)

// verifyFlags are the flags of verify.
type verifyFlags struct {
	run, severity string
	backends      []string
	require       []string
	modes, as     []string
	cases         string
	command       string
	jobs          int
	dir, out      string
	user          string
	soak          time.Duration
	list, json    bool
	quick         bool
	worker        bool
}

func newVerify() *cobra.Command {
	f := &verifyFlags{}
	cmd := &cobra.Command{
		Use:   "verify [flags]",
		Short: "Try on this machine what the sandbox keeps out and lets through",
		Long: `Verify runs the conformance cases on this machine, for each backend and mode,
and writes what it saw: sandbox-report.json, .md, .html and a JUnit .xml. Each
attempt that must be denied is first made without the sandbox, on decoys in a
throw-away place. As root, every case runs as root and as an ordinary user.

Exit codes: 0 all gates hold, 1 a gate fails (also when everything was
skipped), 2 it could not be run.`,
		Example: `  qsandbox verify
  qsandbox verify --quick
  qsandbox verify --run 'LX-NET' --backend linux-native --mode strict
  qsandbox verify --severity critical --out report
  qsandbox verify --command @bwrap
  qsandbox verify --soak 24h --run SOAK`,
		Args:              arguments(0, 0, "no arguments"),
		RunE:              func(cmd *cobra.Command, _ []string) error { return verify(f) },
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	fl := cmd.Flags()
	fl.StringVar(&f.run, "run", "", "only cases whose id or title matches this `REGEXP`")
	fl.StringVar(&f.severity, "severity", "", "only cases at least this bad: critical, major or minor")
	fl.StringSliceVar(&f.backends, "backend", nil, "only these backends, with commas")
	fl.StringSliceVar(&f.require, "require", nil, "fail when nothing could be tried on one of these backends, with commas")
	fl.StringSliceVar(&f.modes, "mode", nil, "only these modes, with commas")
	fl.StringSliceVar(&f.as, "as", nil, "as root: run the cases only as root or only as user (default: both)")
	fl.StringVar(&f.cases, "cases", "", "run the cases below `DIR` instead of those that come with the program; their shell runs outside the sandbox")
	fl.StringVar(&f.command, "command", "", "judge another sandbox, named by a command `TEMPLATE` ("+strings.Join(conformance.TemplateNames(), ", ")+", or one of your own)")
	fl.IntVar(&f.jobs, "jobs", 0, "how many cases at once (default: as many as there are processors)")
	fl.StringVar(&f.dir, "dir", "", "make the throw-away place in `DIR`, outside /tmp")
	fl.StringVar(&f.out, "out", "", "write the reports to `DIR` (default: none, but a summary)")
	fl.StringVar(&f.user, "user", "", "as root: the ordinary `USER` to run cases as (default: SUDO_USER, else nobody)")
	fl.DurationVar(&f.soak, "soak", 0, "the `TIME` that each soak lasts, such as 24h (default: a second); leak cases take their full count then")
	fl.BoolVar(&f.quick, "quick", false, "the quick matrix: every critical case and one of each other kind, in one mode on each backend, as this account alone")
	fl.BoolVar(&f.list, "list", false, "list the cases, and run nothing")
	fl.BoolVar(&f.json, "json", false, "print sandbox-report.json instead of the summary")
	fl.BoolVar(&f.worker, "worker", false, "")
	_ = fl.MarkHidden("worker")
	completeWords(cmd, "backend", backendWords)
	completeWords(cmd, "require", backendWords)
	completeWords(cmd, "mode", modeWords)
	completePaths(cmd, "", "cases", "dir", "out")
	return cmd
}

// verify runs the cases; every failure of ours is exit code 2.
func verify(f *verifyFlags) error {
	err := f.perform()
	var code exitError
	if err == nil || errors.As(err, &code) {
		return err
	}
	fmt.Fprintln(os.Stderr, errorLine(err))
	if f.json {
		_ = printJSON(failed(err))
	}
	return exitError(couldNot)
}

func (f *verifyFlags) perform() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	if f.worker {
		return conformance.Work(ctx, os.Stdin, os.Stdout)
	}
	cases, err := f.selected()
	if err != nil {
		return err
	}
	if f.list {
		return show(listing(cases))
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return fault.Wrap(fault.UsageInvalid, "make directory for reports", f.out, err)
		}
	}
	var as []conformance.Identity
	for _, a := range f.as {
		as = append(as, conformance.Identity(a))
	}
	matrix := results.Matrix("")
	if f.quick {
		matrix = results.Quick
	}
	p := newProgress(os.Stderr)
	rep, err := conformance.Verify(ctx, conformance.Options{
		Cases: cases, Backends: f.backends, Require: f.require, Modes: f.modes, Jobs: f.jobs, As: as, Dir: f.dir, Account: f.user,
		Template: f.command, Version: readBuild().Version, Soak: f.soak, Matrix: matrix, Progress: p.tell,
	})
	p.clear()
	if err != nil {
		return err
	}
	if err := writeReports(f.out, rep); err != nil {
		return err
	}
	if f.json {
		data, err := rep.JSON()
		if err != nil {
			return err
		}
		if err := show(string(render.SafeJSON(data))); err != nil {
			return err
		}
	} else if err := show(verifySummary(rep)); err != nil {
		return err
	}
	if results.GateExit(rep.Gates()) != 0 {
		return exitError(gateFails)
	}
	return nil
}

// selected reads the cases and takes those that were asked for.
func (f *verifyFlags) selected() ([]*conformance.Case, error) {
	cases, err := conformance.Embedded()
	if f.cases != "" {
		cases, err = conformance.Load(f.cases)
	}
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(f.run)
	if err != nil {
		return nil, fault.Wrap(fault.UsageInvalid, "read flag --run", f.run, err)
	}
	worst := conformance.Minor
	if f.severity != "" {
		if worst, err = conformance.ParseSeverity(f.severity); err != nil {
			return nil, err
		}
	}
	if f.quick {
		cases = conformance.QuickCases(cases)
	}
	if f.quick && f.soak != 0 {
		return nil, fault.New(fault.UsageInvalid, "read flag --quick", "", "it has no soaks: leave --soak out")
	}
	if f.soak < 0 {
		return nil, fault.New(fault.UsageInvalid, "read flag --soak", f.soak.String(), "use a time such as 90s or 24h")
	}
	for _, l := range []struct {
		flag        string
		have, known []string
	}{{"--backend", f.backends, append([]string{"policy", "command"}, backendWords...)}, {"--require", f.require, append([]string{"policy", "command"}, backendWords...)}, {"--mode", f.modes, modeWords}, {"--as", f.as, []string{"root", "user"}}} {
		for _, w := range l.have {
			if !slices.Contains(l.known, w) {
				return nil, fault.New(fault.UsageInvalid, "read flag "+l.flag, w, "use "+strings.Join(l.known, ", "))
			}
		}
	}
	cases = slices.DeleteFunc(cases, func(c *conformance.Case) bool {
		return c.Severity > worst || !re.MatchString(c.ID) && !re.MatchString(c.Title)
	})
	if len(cases) == 0 {
		return nil, fault.New(fault.UsageInvalid, "select cases", f.run, "no case is left; qsandbox verify --list names them")
	}
	return cases, nil
}

func listing(cases []*conformance.Case) string {
	var t table
	for _, c := range cases {
		t.row(c.ID, c.Severity.String(), strings.Join(c.Platforms, ","), c.Title)
	}
	return t.lines("")
}

// writeReports writes the four forms of a report.
func writeReports(dir string, rep *results.Report) error {
	if dir == "" {
		return nil
	}
	data, err := rep.JSON()
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		"sandbox-report.json": render.SafeJSON(data), "sandbox-report.md": render.Markdown(rep), "sandbox-report.html": render.HTML(rep), "sandbox-report.junit.xml": render.JUnit(rep),
	} {
		if err := writeOutside(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return nil
}

// writeOutside writes a file of ours; see outside.
func writeOutside(path string, text []byte) error {
	o, err := openOutside(path)
	if err == nil {
		defer o.close()
		err = o.write(text, "\x00")
	}
	if err != nil {
		return fault.Wrap(fault.UsageInvalid, "write", path, err)
	}
	return nil
}
