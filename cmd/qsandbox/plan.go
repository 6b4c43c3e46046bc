package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox"
)

// planFlags are what only plan takes.
type planFlags struct {
	policyFlags
	commandFlags
	probe  bool
	values bool
	json   bool
}

func newPlan() *cobra.Command {
	f := &planFlags{}
	cmd := &cobra.Command{
		Use:   "plan [flags] [--] COMMAND [ARG ...]",
		Short: "Show what run would do, and do nothing",
		Long: `Plan shows what run would do with the same flags: backend, namespaces, mounts with
the rule behind each, environment, limits and what keeps them, and how well each
requirement is kept. It starts nothing and works offline, for every backend of this
build, also where it could not run. Values of variables are hidden.`,
		Example: `  qsandbox plan -- go test ./...
  qsandbox plan --backend linux-native --mode strict -- make
  qsandbox plan --json -- true | jq '.mounts[] | select(.ro == false) | .dst'
  qsandbox plan --probe -- true`,
		Args:              cobra.ArbitraryArgs,
		RunE:              func(cmd *cobra.Command, args []string) error { return runPlan(cmd, f, args) },
		ValidArgsFunction: anyFile,
	}
	cmd.Flags().SetInterspersed(false)
	f.policyFlags.register(cmd)
	f.commandFlags.register(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.probe, "probe", false, "ask the machine as run does when its first choice fails; starts a sandbox for a moment")
	fl.BoolVar(&f.values, "values", false, "show the values of variables; they may be secrets")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func runPlan(cmd *cobra.Command, f *planFlags, args []string) error {
	if len(args) == 0 {
		return badUsage(cmd, "plan", "", "no command was given")
	}
	req, err := f.request(cmd.Flags(), &f.policyFlags, args)
	if err != nil {
		return err
	}
	opt := qsandbox.PlanOptions{}
	if f.probe {
		opt.Probing = qsandbox.Probe
	}
	if f.values {
		opt.Values = qsandbox.ShowValues
	}
	p, err := qsandbox.PlanFor(context.Background(), req, opt)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(p)
	}
	return show(planText(p))
}
