package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
	"github.com/qiming-sandbox/qsandbox/policy"
)

var bg = context.Background()

// private gives a directory of the test's own, which nobody else may write.
func private(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// desktop makes a database as the desktop client does, with a policy if one is given.
func desktop(t *testing.T, value string) *Store {
	t.Helper()
	path := filepath.Join(private(t), "client.db")
	exec(t, path, `CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT NOT NULL)`, `INSERT INTO settings VALUES('theme', '"dark"')`)
	if value != "" {
		exec(t, path, `INSERT INTO settings VALUES('sandbox_policy', `+quote(value)+`)`)
	}
	return At(host.Real(), path, false)
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func exec(t *testing.T, path string, stmts ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range stmts {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

// cell reads one value, as any other program would.
func cell(t *testing.T, path, query string, args ...any) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var v sql.NullString
	if err := db.QueryRow(query, args...).Scan(&v); err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatalf("%s: %v", query, err)
	}
	return v.String
}

func raw(t *testing.T, s *Store) string {
	return cell(t, s.path, `SELECT value FROM settings WHERE key = 'sandbox_policy'`)
}

func assign(t *testing.T, pairs ...string) policy.Layer {
	t.Helper()
	l, err := policy.ParseAssignments(pairs)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestEachVersion: a database as each version would have left it is taken over, what
// changed is recorded with its reason, and a backup has it as it was.
func TestEachVersion(t *testing.T) {
	for _, c := range []struct{ name, was, is, audit string }{
		{"before versions", `{"enabled":true,"backend":"auto","mode":"compat","autoFallback":"session","windowsMode":"workspace-write"}`,
			`{"version":1,"enabled":true,"backend":"auto","mode":"compat","autoFallback":"session","windowsMode":"workspace-write"}`, "version autoFallback"},
		{"the oldest", `{"enabled":true,"windows":{"sandbox":{"mode":"read-only"}}}`,
			`{"version":1,"enabled":true,"mode":"compat","autoFallback":"startup-only","windowsMode":"read-only"}`, "version windows.sandbox.mode autoFallback mode"},
		{"invalid", `{"version":1,"backend":"bwrap","mode":7,"autoFallback":"retry","limits":{"processes":-4}}`,
			`{"version":1,"backend":"auto","mode":"compat","autoFallback":"manual","limits":{"processes":4096}}`, "backend mode autoFallback limits.processes"},
		{"permissive", `{"version":1,"mode":"permissive","autoFallback":"manual"}`, `{"version":1,"mode":"compat","autoFallback":"manual"}`, "mode"},
		{"current", `{"version":1,"mode":"strict","autoFallback":"manual"}`, `{"version":1,"mode":"strict","autoFallback":"manual"}`, ""},
		{"newer", `{"version":7,"mode":"strict","autoFallback":"on-idle","shiny":{"a":[1.0]}}`, `{"version":7,"mode":"strict","autoFallback":"on-idle","shiny":{"a":[1.0]}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := desktop(t, c.was)
			resp, err := s.Read(bg)
			if err != nil || !resp.Found || string(resp.Policy) != c.is {
				t.Fatalf("%s %v, want %s", resp.Policy, err, c.is)
			}
			var fields []string
			for _, m := range resp.Log {
				fields = append(fields, m.Field)
				if m.Why == "" {
					t.Errorf("%+v has no reason", m)
				}
			}
			if got := strings.Join(fields, " "); got != c.audit {
				t.Errorf("log %q, want %q", got, c.audit)
			}
			if raw(t, s) != c.is || cell(t, s.path, `SELECT value FROM settings WHERE key = 'theme'`) != `"dark"` {
				t.Errorf("stored is %s", raw(t, s))
			}
			checkRecords(t, s, c.was, c.audit)
			again, err := s.Read(bg)
			if err != nil || len(again.Log)+len(again.Changes) != 0 {
				t.Errorf("a second read migrates again: %+v %v", again, err)
			}
		})
	}
}

func checkRecords(t *testing.T, s *Store, was, audit string) {
	t.Helper()
	list, _ := s.backups()
	if audit == "" {
		if len(list) != 0 {
			t.Errorf("backups without a migration: %q", list)
		}
		return
	}
	if got := cell(t, s.path, `SELECT group_concat(field, ' ') FROM (SELECT field FROM policy_migration_audit ORDER BY id)`); got != audit {
		t.Errorf("policy_migration_audit has %q, want %q", got, audit)
	}
	if len(list) != 1 {
		t.Fatalf("backups %q", list)
	}
	if data, err := os.ReadFile(list[0]); err != nil || string(data) != was {
		t.Errorf("the backup has %s %v", data, err)
	}
}

// TestFirstPolicyIsTheBuiltInOne: what a first set does not name is not what old
// programs did.
func TestFirstPolicyIsTheBuiltInOne(t *testing.T) {
	s := At(host.Real(), filepath.Join(private(t), "sub", "policy.db"), true)
	if resp, err := s.Read(bg); err != nil || resp.Found {
		t.Fatalf("%+v %v", resp, err)
	}
	resp, err := s.Set(bg, "set", assign(t, "limits.processes=64", "env.set={\"TOKEN\":\"hunter2\"}"), nil)
	if err != nil || raw(t, s) != `{"version":1,"mode":"compat","autoFallback":"manual","env":{"set":{"TOKEN":"hunter2"}},"limits":{"processes":64}}` {
		t.Fatalf("%s %v", raw(t, s), err)
	}
	if len(resp.Changes) != 4 || cell(t, s.path, `PRAGMA journal_mode`) != "wal" {
		t.Errorf("%+v", resp.Changes)
	}
	for _, name := range []string{s.path, s.path + snapshot.Ending} {
		if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, st, err)
		}
	}
	if _, err := s.Set(bg, "set", assign(t, "mode=permissive"), nil); fault.CodeOf(err) != fault.PolicyInvalid || !strings.Contains(err.Error(), "per run") {
		t.Errorf("permissive can be stored: %v", err)
	}
	if _, err := s.Set(bg, "reset", policy.Layer{}, []string{"limits.processes", "mode"}); err != nil {
		t.Fatal(err)
	}
	if got := raw(t, s); got != `{"version":1,"mode":"compat","autoFallback":"manual","env":{"set":{"TOKEN":"hunter2"}}}` {
		t.Errorf("after reset %s", got)
	}
	hist, err := s.History(bg, 0)
	if err != nil || len(hist.History) != 2 || hist.History[0].How != "reset" || hist.History[1].How != "set" || hist.History[1].Time == "" {
		t.Errorf("%+v %v", hist, err)
	}
	if text, _ := json.Marshal(hist); strings.Contains(string(text), "hunter2") {
		t.Errorf("the history shows a secret: %s", text)
	}
	if _, err := s.Reset(bg); err != nil {
		t.Fatal(err)
	}
	if resp, err := s.Read(bg); err != nil || resp.Found {
		t.Errorf("%+v %v", resp, err)
	}
}

// TestUnknownFieldsSurvive a change by this version, and are dropped by a rollback that
// an older version can read (POL-10, POL-12).
func TestUnknownFieldsSurvive(t *testing.T) {
	s := desktop(t, `{"version":3,"mode":"strict","autoFallback":"on-idle","network":{"mode":"off","quic":1.0},"shiny":[1, 2]}`)
	if _, err := s.Set(bg, "set", assign(t, "limits.processes=64"), nil); err != nil {
		t.Fatal(err)
	}
	if got := raw(t, s); got != `{"version":3,"mode":"strict","autoFallback":"on-idle","network":{"mode":"off","quic":1.0},"limits":{"processes":64},"shiny":[1, 2]}` {
		t.Errorf("%s", got)
	}
	resp, err := s.Rollback(bg, 0)
	if err != nil || raw(t, s) == "" || resp.File == "" {
		t.Fatalf("%+v %v", resp, err)
	}
	// The desktop client reads the row before anything else does.
	if got := raw(t, s); got != `{"mode":"strict","autoFallback":"manual"}` {
		t.Errorf("an older client would read %s", got)
	}
	var lost []string
	for _, m := range resp.Log {
		lost = append(lost, m.Field)
	}
	if !slices.Contains(lost, "shiny") || !slices.Contains(lost, "network.mode") || !slices.Contains(lost, "limits.processes") {
		t.Errorf("lost %q", lost)
	}
	if _, err := s.Restore(bg, ""); err != nil {
		t.Fatal(err)
	}
	if got := raw(t, s); !strings.Contains(got, `"shiny":[1, 2]`) || !strings.Contains(got, `"version":3`) {
		t.Errorf("restored %s", got)
	}
}
