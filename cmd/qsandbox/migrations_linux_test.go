package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/conformance"
	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// weakMigrations are faults that a change could bring into the store, as SQL on the
// database before and after each call of qsandbox-store, or as shell after it; and the
// case that must notice.
var weakMigrations = []struct{ name, before, after, shell, must string }{
	{name: "a missing fallback becomes the widest", must: "MIG-01",
		before: `UPDATE settings SET value = json_set(value, '$.autoFallback', 'session') WHERE json_extract(value, '$.autoFallback') IS NULL AND key = 'sandbox_policy'`},
	{name: "a missing mode becomes another", must: "MIG-02",
		before: `UPDATE settings SET value = json_set(value, '$.mode', 'strict') WHERE json_extract(value, '$.mode') IS NULL AND key = 'sandbox_policy'`},
	{name: "an invalid value is kept", must: "MIG-03",
		after: `UPDATE settings SET value = json_set(value, '$.backend', 'bwrap') WHERE key = 'sandbox_policy'`},
	{name: "nothing is recorded", must: "MIG-03", after: `DELETE FROM policy_migration_audit`},
	{name: "an unknown fallback becomes the widest", must: "MIG-04",
		before: `UPDATE settings SET value = json_set(value, '$.autoFallback', 'session') WHERE json_extract(value, '$.autoFallback') = 'retry'`},
	{name: "the old name is forgotten", must: "MIG-05", before: `UPDATE settings SET value = json_remove(value, '$.windows') WHERE key = 'sandbox_policy'`},
	{name: "an unknown field is dropped", must: "MIG-06", before: `UPDATE settings SET value = json_remove(value, '$.shiny') WHERE key = 'sandbox_policy'`},
	{name: "the backup is not kept", must: "MIG-07", shell: `rm -rf "$db.backups"`},
	{name: "a rollback keeps what is new", must: "MIG-08",
		after: `UPDATE settings SET value = json_set(value, '$.version', 1) WHERE key = 'sandbox_policy'`},
	{name: "a new meaning is not told", must: "MIG-09", before: `UPDATE settings SET value = json_set(value, '$.version', 1) WHERE key = 'sandbox_policy'`},
	{name: "the level is reset", must: "MIG-10", before: `UPDATE settings SET value = json_remove(value, '$.mode') WHERE key = 'sandbox_policy'`},
	{name: "an import takes the policy away", must: "MIG-11", shell: `case $in in *'"op":"import"'*) sqlite3 "${db%/own/policy.db}/client.db" 'DELETE FROM settings';; esac`},
	{name: "a broken policy is taken for none", must: "MIG-12", before: `DELETE FROM settings WHERE NOT json_valid(value)`},
}

// weakStore puts a store with one fault into a directory, next to this program.
func weakStore(t *testing.T, dir, before, after, shell string) string {
	t.Helper()
	for _, name := range []string{"qsandbox", "qsandbox-store"} {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		if name == "qsandbox-store" {
			data = fmt.Appendf(nil, `#!/bin/sh
in=$(cat)
db=$(printf '%%s' "$in" | sed -n 's/.*"path":"\([^"]*\)".*/\1/p')
faulty() { test ! -e "$db" || printf '%%s' "$1" | sqlite3 -cmd '.timeout 2000' "$db" >/dev/null 2>&1; }
faulty %q
printf '%%s' "$in" | '%s'
code=$?
faulty %q
%s
exit $code
`, before, at, after, shell)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "qsandbox")
}

// TestWeakenedMigrationsAreNoticed: each MIG case passes with the store as it is, and
// fails with a fault that it stands for.
func TestWeakenedMigrationsAreNoticed(t *testing.T) {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("QSANDBOX_REQUIRE"), ","), "sqlite3") {
			t.Fatal(err)
		}
		t.Skip("sqlite3 is not installed")
	}
	keepEnvironment(t)
	all, err := conformance.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(c *conformance.Case) bool { return !strings.HasPrefix(c.ID, "MIG-") })
	tried := func(dir, before, after, shell, only string) *results.Report {
		list := slices.DeleteFunc(slices.Clone(all), func(c *conformance.Case) bool { return only != "" && c.ID != only })
		r, err := conformance.Verify(t.Context(), conformance.Options{Cases: list, As: verifyAs(), Program: weakStore(t, dir, before, after, shell)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, r := range tried(t.TempDir(), "", "", "", "").Records {
		if r.Status != results.Pass {
			t.Fatalf("%s does not pass with the store as it is: %s %s", r.CaseID, r.Status, r.Notes)
		}
	}
	for _, w := range weakMigrations {
		t.Run(w.name, func(t *testing.T) {
			r := tried(t.TempDir(), w.before, w.after, w.shell, w.must).Records
			if len(r) != 1 || r[0].Status != results.Fail {
				t.Errorf("SURVIVED: %+v", r)
			}
		})
	}
	for _, c := range all {
		if !slices.ContainsFunc(weakMigrations, func(w struct{ name, before, after, shell, must string }) bool { return w.must == c.ID }) {
			t.Errorf("no fault is planted for %s", c.ID)
		}
	}
}

// verifyAs is this account alone.
func verifyAs() []conformance.Identity {
	if os.Geteuid() == 0 {
		return []conformance.Identity{conformance.AsRoot}
	}
	return []conformance.Identity{conformance.AsUser}
}

// keepEnvironment: verify puts decoys into the environment of its process.
func keepEnvironment(t *testing.T) {
	t.Helper()
	for _, kv := range os.Environ() {
		k, v, _ := strings.Cut(kv, "=")
		t.Setenv(k, v)
	}
	for _, k := range []string{"HOME", "XDG_STATE_HOME", "HOST_SECRET", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN"} {
		if _, ok := os.LookupEnv(k); !ok {
			t.Setenv(k, "")
			os.Unsetenv(k)
		}
	}
}
