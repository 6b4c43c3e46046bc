package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox"
)

func newMetrics() *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use:   "metrics [flags]",
		Short: "Print counters for Prometheus, or write them for node_exporter",
		Long: `Metrics counts what this account's audit log tells: runs without a sandbox that should
have had one, permissive runs, violations, runs, their ends and durations, errors. It
keeps its counts in the state directory: they outlive programs and log files when it is
called now and then, such as each minute by a timer.

docs/alerts.yml has alert rules for them.`,
		Example: `  qsandbox metrics
  qsandbox metrics --textfile /var/lib/prometheus/node-exporter/qsandbox.prom`,
		Args:              arguments(0, 0, "no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return runMetrics(file) },
	}
	cmd.Flags().StringVar(&file, "textfile", "", "write `FILE` (.prom) as a whole instead of printing")
	_ = cmd.MarkFlagFilename("textfile", "prom")
	return cmd
}

func runMetrics(file string) error {
	if file != "" {
		return unkept(qsandbox.MetricsFile(file))
	}
	text, err := qsandbox.Metrics()
	if err = unkept(err); err != nil {
		return err
	}
	return show(text)
}

// unkept tells of counts that could not be kept, and goes on.
func unkept(err error) error {
	if errors.Is(err, qsandbox.ErrUnkept) {
		remark(err.Error())
		return nil
	}
	return err
}
