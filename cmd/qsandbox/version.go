package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// build is what the Go tool wrote into the program, and the versions of the forms
// that it reads and writes.
type build struct {
	Version  string         `json:"version"`
	Revision string         `json:"revision,omitempty"`
	Time     string         `json:"time,omitempty"` // of the revision
	Modified bool           `json:"modified"`
	Go       string         `json:"go"`
	Platform string         `json:"platform"`
	Formats  map[string]int `json:"formats"`
}

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Example: `  qsandbox version
  qsandbox version --json | jq .formats`,
		Args:              arguments(0, 0, "no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			b := readBuild()
			if asJSON {
				return printJSON(b)
			}
			return show(b.line() + "\n")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func readBuild() build {
	b := build{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Formats: map[string]int{
		"policy_file": policy.CurrentVersion, "report": report.Version, "plan": qsandbox.PlanVersion,
		"verdict": qsandbox.VerdictVersion, "diagnosis": qsandbox.DiagnosisVersion, "policy_view": qsandbox.PolicyViewVersion,
	}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b build) line() string {
	s := "qsandbox " + b.Version
	if b.Revision != "" {
		s += " (" + b.Revision[:min(12, len(b.Revision))]
		if b.Modified {
			s += ", modified"
		}
		s += ")"
	}
	return s + " " + b.Go + " " + b.Platform
}
