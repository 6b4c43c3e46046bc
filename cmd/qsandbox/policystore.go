package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// storeCommand is what the commands share that change the stored policy.
func storeCommand(use, short, long, example string, args cobra.PositionalArgs, do func(s *qsandbox.PolicyStore, args []string) (*qsandbox.StoreResult, error)) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: args, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := do(qsandbox.UserStore(), args)
			if err != nil {
				return err
			}
			return showResult(r, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// storeResult is the JSON form of what a command did.
type storeResult struct {
	Version    int                `json:"version"`
	Stored     bool               `json:"stored"`
	Changes    []policy.Change    `json:"changes"`
	Migrations []policy.Migration `json:"migrations"`
	File       string             `json:"file,omitempty"`
	Aside      string             `json:"aside,omitempty"`
}

func showResult(r *qsandbox.StoreResult, asJSON bool) error {
	if r.Unrecorded != nil {
		remark("the change is not in the audit log (the store's own history has it): " + r.Unrecorded.Error())
	}
	if r.Unsaved != "" {
		remark("nothing could be saved: " + r.Unsaved)
	}
	if asJSON {
		return printJSON(storeResult{1, r.Found, append([]policy.Change{}, r.Changes...), append([]policy.Migration{}, r.Migrations...), r.File, r.Aside})
	}
	return show(resultText(r))
}

// resultText is what a command did, for people.
func resultText(r *qsandbox.StoreResult) string {
	var b strings.Builder
	if r.Aside != "" {
		fmt.Fprintf(&b, "the damaged database is now %s\n", printable(r.Aside))
	}
	for _, m := range r.Migrations {
		b.WriteString(migrationText(m) + "\n")
	}
	b.WriteString(changesText(r.Changes))
	if b.Len() == 0 {
		b.WriteString("nothing was changed\n")
	}
	if r.File != "" {
		fmt.Fprintf(&b, "file: %s\n", printable(r.File))
	}
	return b.String()
}

func changesText(changes []policy.Change) string {
	var t table
	for _, c := range changes {
		t.row(c.Field, blank(c.Old), "->", blank(c.New))
	}
	return t.lines("")
}

func migrationText(m policy.Migration) string {
	text := m.Field
	if m.Old != "" || m.New != "" {
		text += " " + blank(m.Old) + " -> " + blank(m.New)
	}
	return printable(text + ": " + m.Why)
}

// blank shows a value that is not there.
func blank(v string) string {
	if v == "" {
		return "-"
	}
	return v
}

func newPolicySet() *cobra.Command {
	return storeCommand("set KEY=VALUE ...", "Set fields of the stored policy",
		`Set sets fields of the stored policy. A value is JSON, or plain text for a field that is
written as a string. The fields are those of "qsandbox policy show".`,
		`  qsandbox policy set mode=strict limits.timeout=10m
  qsandbox policy set 'filesystem.writable=["~/.cache/go-build"]'
  qsandbox policy set network.mode=allow 'network.allow=["registry.npmjs.org"]'`,
		arguments(1, 1000, "KEY=VALUE"),
		func(s *qsandbox.PolicyStore, args []string) (*qsandbox.StoreResult, error) {
			l, err := policy.ParseAssignments(args)
			if err != nil {
				return nil, err
			}
			return s.Set(context.Background(), l)
		})
}

func newPolicyReset() *cobra.Command {
	return storeCommand("reset [KEY ...]", "Forget fields of the stored policy, or all of it",
		`Reset takes fields back to the built-in policy; without a KEY the whole stored policy is
forgotten. The history keeps what was there.`,
		`  qsandbox policy reset limits.timeout
  qsandbox policy reset`,
		cobra.ArbitraryArgs,
		func(s *qsandbox.PolicyStore, args []string) (*qsandbox.StoreResult, error) {
			if len(args) == 0 {
				return s.Reset(context.Background())
			}
			return s.Set(context.Background(), policy.Layer{}, args...)
		})
}

func newPolicyBackup() *cobra.Command {
	return storeCommand("backup [FILE]", "Write the stored policy to a file",
		`Backup writes the stored policy to FILE, which must not be there yet, or next to the
database. Before a migration that is done by itself. The file may hold secrets
(env.set) and is for its owner alone.`,
		`  qsandbox policy backup
  qsandbox policy backup ~/policy-of-today.json`,
		arguments(0, 1, "one file"),
		func(s *qsandbox.PolicyStore, args []string) (*qsandbox.StoreResult, error) {
			return s.Backup(context.Background(), first(args))
		})
}

func newPolicyRestore() *cobra.Command {
	return storeCommand("restore [FILE]", "Bring a backup of the stored policy back",
		`Restore brings the newest backup back, or that of FILE. Where the database is lost or
damaged, what it held last comes before any backup. "qsandbox policy history" lists
the backups. A damaged database is set aside, and nothing of it is lost.`,
		`  qsandbox policy restore
  qsandbox policy restore ~/policy-of-today.json`,
		arguments(0, 1, "one file"),
		func(s *qsandbox.PolicyStore, args []string) (*qsandbox.StoreResult, error) {
			return s.Restore(context.Background(), first(args))
		})
}

func newPolicyRollback() *cobra.Command {
	version := 0
	cmd := storeCommand("rollback [flags]", "Write the stored policy so that an older version can read it",
		`Rollback keeps what the older version knows and drops the rest, and says what was lost.
A backup is made first. The next run of this version brings the policy forward
again, so start the older version next.`,
		`  qsandbox policy rollback
  qsandbox policy rollback --to 1`,
		arguments(0, 0, "no arguments"),
		func(s *qsandbox.PolicyStore, _ []string) (*qsandbox.StoreResult, error) {
			return s.Rollback(context.Background(), version)
		})
	cmd.Flags().IntVar(&version, "to", 0, "the policy `VERSION`; 0 is the desktop client before there were versions")
	return cmd
}

func newPolicyMigrate() *cobra.Command {
	dry := false
	cmd := storeCommand("migrate [flags]", "Bring the stored policy to the form of this version",
		`Migrate does what the first run of a new version does by itself: it makes a backup,
brings the policy forward, and says what that changed and why.`,
		`  qsandbox policy migrate --dry-run
  QSANDBOX_STORE=client.db qsandbox policy migrate`,
		arguments(0, 0, "no arguments"),
		func(s *qsandbox.PolicyStore, _ []string) (*qsandbox.StoreResult, error) {
			return s.Migrate(context.Background(), dry)
		})
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be changed, and change nothing")
	return cmd
}

func newPolicyImport() *cobra.Command {
	cmd := storeCommand("import FILE", "Store the policy of a file or of another database",
		`Import takes a policy file (JSON with comments), or the desktop client's database, which
is left as it is, and puts its policy in the place of the stored one.`,
		`  qsandbox policy import policy.json
  qsandbox policy import ~/.config/client/client.db`,
		arguments(1, 1, "one file"),
		func(s *qsandbox.PolicyStore, args []string) (*qsandbox.StoreResult, error) {
			return importFrom(s, args[0])
		})
	cmd.ValidArgsFunction = anyFile
	return cmd
}

func importFrom(s *qsandbox.PolicyStore, path string) (*qsandbox.StoreResult, error) {
	if isDatabase(path) {
		return s.Import(context.Background(), path)
	}
	l, err := qsandbox.PolicyFile(path)
	if err != nil {
		return nil, err
	}
	return s.Replace(context.Background(), "import", l)
}

// isDatabase looks at the first bytes (sqlite.org/fileformat.html). What is no regular
// file is none, and is not opened: it could block.
func isDatabase(path string) bool {
	const magic = "SQLite format 3\x00"
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	n, _ := f.Read(head)
	return string(head[:n]) == magic
}

// first gives the first argument, or "".
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
