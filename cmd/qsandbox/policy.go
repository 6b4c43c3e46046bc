package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show the policy, and keep your own",
		Long: `Without a policy of your own the built-in one holds. Your own, the stored policy, lies
below --policy files, the workspace's own file and flags. It is kept in a database of
your account, each change with its time, and never writable from inside.

QSANDBOX_STORE names another database, such as the desktop client's own, which is
then taken over where it is.`,
		Example: `  qsandbox policy show
  qsandbox policy set mode=strict limits.timeout=10m
  qsandbox policy history`,
		Args:              cobra.ArbitraryArgs,
		RunE:              unknownCommand,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.AddCommand(newPolicyShow(), newPolicySchema(), newPolicySet(), newPolicyReset(), newPolicyEdit(), newPolicyHistory(),
		newPolicyBackup(), newPolicyRestore(), newPolicyRollback(), newPolicyMigrate(), newPolicyImport())
	return cmd
}

// showFlags are what only policy show takes.
type showFlags struct {
	policyFlags
	values bool
	json   bool
}

func newPolicyShow() *cobra.Command {
	f := &showFlags{}
	cmd := &cobra.Command{
		Use:   "show [flags]",
		Short: "Show the policy that holds here, each value with its origin",
		Long: `Show merges the layers as run does with the same flags: built-in, the stored policy,
the file of --policy, the workspace's .qsandbox.json (which may only narrow), the flags. Values
that may be secrets (env.set, network.upstream) are hidden.`,
		Example: `  qsandbox policy show
  qsandbox policy show --policy policy.json --network on
  qsandbox policy show --json | jq '.fields[] | select(.origin.kind != "built-in")'`,
		Args:              arguments(0, 0, "no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return runPolicyShow(cmd, f) },
	}
	f.policyFlags.register(cmd)
	cmd.Flags().BoolVar(&f.values, "values", false, "show values that may be secrets")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func runPolicyShow(cmd *cobra.Command, f *showFlags) error {
	layers, err := f.layers(cmd.Flags())
	if err != nil {
		return err
	}
	layerRemarks(layers)
	values := qsandbox.HideValues
	if f.values {
		values = qsandbox.ShowValues
	}
	p, err := qsandbox.EffectivePolicy(layers, values)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(p)
	}
	return show(policyText(p))
}

// policyText is a policy for people: a row per field, and one per entry of a list.
func policyText(p *qsandbox.PolicyView) string {
	t := table{{"FIELD", "VALUE", "ORIGIN"}}
	for _, f := range p.Fields {
		if len(f.Entries) == 0 {
			t.row(f.Name, fieldValue(f), f.Origin.String())
			continue
		}
		entries := slices.Clone(f.Entries)
		slices.SortStableFunc(entries, func(a, b qsandbox.PolicyEntry) int { return int(a.Origin.Kind) - int(b.Origin.Kind) })
		name := f.Name
		for _, e := range entries {
			t.row(name, e.Entry+entryValue(f, e), e.Origin.String())
			name = ""
		}
	}
	return t.lines("")
}

// fieldValue is a value without the quotes of JSON.
func fieldValue(f qsandbox.PolicyField) string {
	v := string(f.Value)
	if f.Hidden {
		return "(hidden)"
	}
	if strings.HasPrefix(v, `"`) {
		_ = json.Unmarshal(f.Value, &v) // it was marshalled from a string
	}
	if strings.HasPrefix(f.Name, "limits.") && (v == "" || v == "0") {
		return "none"
	}
	if v == "" || v == "[]" || v == "{}" {
		return "-"
	}
	return v
}

// entryValue is what follows a variable of env.set.
func entryValue(f qsandbox.PolicyField, e qsandbox.PolicyEntry) string {
	if f.Name != "env.set" {
		return ""
	}
	if f.Hidden {
		return "=(hidden)"
	}
	return "=" + f.Variables()[e.Entry]
}

func newPolicySchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the policy file",
		Example: `  qsandbox policy schema > policy.schema.json
  qsandbox policy schema | jq '.properties.network'`,
		Args:              arguments(0, 0, "no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			return show(string(policy.Schema()))
		},
	}
}
