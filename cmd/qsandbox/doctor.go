package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
)

// exitUnhealthy is what doctor ends with when no sandbox can be built here.
const exitUnhealthy = 1

func newDoctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say which backends work on this machine, and what to do about the others",
		Long: `Doctor asks every backend by really building a sandbox, and looks at what the
kernel offers. It changes nothing and leaves nothing behind. An answer is yes, no
with its reason and remedy, or "could not tell", which is never taken for a no.

The exit code is 0 when "auto" finds a backend, else 1.`,
		Example: `  qsandbox doctor
  qsandbox doctor --json | jq -r .auto`,
		Args:              arguments(0, 0, "no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return runDoctor(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func runDoctor(asJSON bool) error {
	d, err := qsandbox.Doctor(context.Background())
	if err != nil {
		return fault.Wrap(fault.Internal, "ask the machine", "", err)
	}
	if asJSON {
		err = printJSON(d)
	} else {
		err = show(doctorText(d))
	}
	if err != nil {
		return err
	}
	if d.Auto == "" {
		return exitError(exitUnhealthy)
	}
	return nil
}

// doctorText is a diagnosis for people.
func doctorText(d *qsandbox.Diagnosis) string {
	var b strings.Builder
	auto := d.Auto
	if auto == "" {
		auto = "nothing: " + d.AutoWhy
	}
	var head table
	head.row("platform", d.Platform)
	head.row("user", d.User.Name)
	head.row("auto chooses", auto)
	b.WriteString(head.lines(""))
	b.WriteString("\n" + heading("backends"))
	var t table
	for _, k := range d.Backends {
		detail := strings.TrimSpace(k.Program + " " + k.ProgramVer)
		if k.Answer != qsandbox.AnswerYes {
			detail = ""
		}
		t.answer(k.Name, k.Answer, join(detail, k.Detail, k.Reason), k.Remedy)
	}
	b.WriteString(t.lines("  "))
	b.WriteString("\n" + heading("system"))
	t = nil
	for _, f := range d.Features {
		t.answer(f.Name, f.Answer, join(f.Value, f.Reason), f.Remedy)
	}
	b.WriteString(t.lines("  "))
	return b.String()
}

// answer adds a row, and a row for the remedy of what is not a yes.
func (t *table) answer(name string, a qsandbox.Answer, detail, remedy string) {
	t.row(name, string(a), detail)
	if a != qsandbox.AnswerYes && remedy != "" {
		t.row("", "", "remedy: "+remedy)
	}
}

// join puts the parts that are there next to each other.
func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "; ")
}
