package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox"
)

func newPolicyHistory() *cobra.Command {
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "history [flags]",
		Short: "List the changes of the stored policy, newest first, and the backups",
		Long: `History lists each change with its time, how it was made, and old and new values; of a
migration also why. Values that may be secrets are hidden.`,
		Example: `  qsandbox policy history
  qsandbox policy history --limit 1 --json`,
		Args:              arguments(0, 0, "no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			entries, backups, err := qsandbox.UserStore().History(context.Background(), limit)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(history{1, entries, append([]string{}, backups...)})
			}
			return show(historyText(entries, backups))
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "show the newest `N` only")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// history is the JSON form.
type history struct {
	Version int                   `json:"version"`
	Changes []qsandbox.StoreEntry `json:"changes"`
	Backups []string              `json:"backups"`
}

func historyText(entries []qsandbox.StoreEntry, backups []string) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(heading(e.Time.Local().Format(time.DateTime) + " " + printable(e.How)))
		var t table
		for _, c := range e.Changes {
			t.row(c.Field, blank(c.Old), "->", blank(c.New))
		}
		b.WriteString(t.lines("  "))
		for _, m := range e.Migrations {
			b.WriteString("  " + migrationText(m) + "\n")
		}
	}
	if len(entries) == 0 {
		b.WriteString("no changes are recorded\n")
	}
	if len(backups) > 0 {
		b.WriteString(heading("backups"))
		for _, f := range backups {
			b.WriteString("  " + printable(f) + "\n")
		}
	}
	return b.String()
}
