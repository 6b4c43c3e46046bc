package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
	"github.com/qiming-sandbox/qsandbox/fault"
)

// newReport groups the commands that work on reports of verify.
func newReport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Join, compare and judge reports of verify",
		Example: `  qsandbox report merge --out all linux/sandbox-report.json macos/sandbox-report.json
  qsandbox report diff old.json new.json
  qsandbox report gate all/sandbox-report.json`,
		RunE: unknownCommand,
	}
	cmd.AddCommand(newReportMerge(), newReportDiff(), newReportGate())
	return cmd
}

func newReportMerge() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "merge --out DIR FILE ...",
		Short:   "Join the reports of many machines into one",
		Example: "  qsandbox report merge --out all linux.json macos.json windows.json",
		Args:    arguments(1, 1000, "one report or more"),
		RunE: func(_ *cobra.Command, args []string) error {
			return couldFail(func() error {
				var list []*results.Report
				for _, name := range args {
					r, err := readReport(name)
					if err != nil {
						return err
					}
					list = append(list, r)
				}
				all, err := results.Merge(list...)
				if err != nil {
					return err
				}
				if out == "" {
					return fault.New(fault.UsageInvalid, "read flag", "--out", "name a directory for the joined report")
				}
				if err := os.MkdirAll(out, 0o755); err != nil {
					return err
				}
				if err := writeReports(out, all); err != nil {
					return err
				}
				return show(verifySummary(all))
			})
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write the joined report to `DIR`")
	completePaths(cmd, "", "out")
	return cmd
}

func newReportDiff() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "diff OLD NEW",
		Short:   "Say what changed from one report to another",
		Long:    "Diff says what changed, what got worse first. Exit codes: 0 nothing got worse, 1 something did, 2 a report cannot be read.",
		Example: "  qsandbox report diff before/sandbox-report.json after/sandbox-report.json",
		Args:    arguments(2, 2, "two reports"),
		RunE: func(_ *cobra.Command, args []string) error {
			return couldFail(func() error { return reportDiff(args[0], args[1], asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON list")
	return cmd
}

func reportDiff(oldName, newName string, asJSON bool) error {
	old, err := readReport(oldName)
	if err != nil {
		return err
	}
	next, err := readReport(newName)
	if err != nil {
		return err
	}
	changes := results.Diff(old, next)
	if asJSON {
		err = printJSON(changes)
	} else {
		err = show(changeTable(changes))
	}
	if err == nil && slices.ContainsFunc(changes, func(c results.Change) bool { return c.Worse }) {
		return exitError(gateFails)
	}
	return err
}

// changeTable shows changes to people; "!" marks what got worse.
func changeTable(changes []results.Change) string {
	if len(changes) == 0 {
		return "no difference\n"
	}
	worse := 0
	var t table
	for _, c := range changes {
		mark := " "
		if c.Worse {
			worse++
			mark = "!"
		}
		t.row(mark, c.CaseID, c.Platform, c.Backend, c.Mode, cmp.Or(string(c.Old), "(new)")+" -> "+cmp.Or(string(c.New), "(gone)"), clipped(c.Notes))
	}
	return t.lines("") + fmt.Sprintf("%d changes, %d for the worse\n", len(changes), worse)
}

func newReportGate() *cobra.Command {
	quick := false
	cmd := &cobra.Command{
		Use:   "gate [flags] FILE",
		Short: "Judge a report by the gates",
		Long: `Gate judges a report. Exit codes: 0 all gates hold, 1 several fail, 2 the report
cannot be read, 11 a critical case failed, 12 major cases, 13 a variable leaked,
14 a degradation without event or reason, 15 a permissive run without its warning,
16 the Windows network limit is not declared, 17 a case is invalid, 18 nothing was
tried, 19 nothing was tried on a backend that is required, 20 only the quick matrix
was run (unless --quick takes it), 21 verify was interrupted.`,
		Example: "  qsandbox report gate sandbox-report.json",
		Args:    arguments(1, 1, "one report"),
		RunE: func(_ *cobra.Command, args []string) error {
			return couldFail(func() error {
				r, err := readReport(args[0])
				if err != nil {
					return err
				}
				accept := results.Matrix("")
				if quick {
					accept = results.Quick
				}
				whole := r.Whole(accept)
				text := verifySummary(r)
				if !whole.Holds {
					text += gateLine(whole)
				}
				if err := show(text); err != nil {
					return err
				}
				if code := results.GateExit(append(r.Gates(), whole)); code != 0 {
					return exitError(code)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "take a report of the quick matrix, too")
	return cmd
}

// couldFail turns errors of ours into exit code 2, as verify has it.
func couldFail(do func() error) error {
	err := do()
	if _, ok := err.(exitError); err == nil || ok {
		return err
	}
	fmt.Fprintln(os.Stderr, errorLine(err))
	return exitError(couldNot)
}

// readReport reads a report that may come from anywhere.
func readReport(name string) (*results.Report, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("it is no regular file")
	}
	if err == nil && info.Size() > results.MaxFile {
		err = fmt.Errorf("it has more than %d bytes", results.MaxFile)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fault.Wrap(fault.UsageInvalid, "read report", name, err)
	}
	return results.Read(strings.TrimPrefix(filepath.ToSlash(name), "./"), data)
}
