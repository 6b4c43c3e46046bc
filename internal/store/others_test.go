package store

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// TestManyWriters: no change is lost, each is in the history, and the first ones race to
// make the database.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(private(t), "policy.db")
	names := []string{"limits.processes=64", "limits.timeout=9s", "limits.memory=1GiB", "limits.cpus=2", "network.mode=on", "exec.nested=true", "docker.keep=true", "docker.image=a"}
	var all sync.WaitGroup
	for _, n := range names {
		all.Go(func() {
			if _, err := At(host.Real(), path, true).Set(bg, "set", assign(t, n), nil); err != nil {
				t.Errorf("%s: %v", n, err)
			}
		})
	}
	all.Wait()
	s := At(host.Real(), path, true)
	resp, err := s.Read(bg)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		leaf, value, _ := strings.Cut(n[strings.LastIndex(n, ".")+1:], "=")
		if !strings.Contains(string(resp.Policy), fmt.Sprintf(`"%s":`, leaf)) || !strings.Contains(string(resp.Policy), value) {
			t.Errorf("%s is lost: %s", n, resp.Policy)
		}
	}
	if h, err := s.History(bg, 0); err != nil || len(h.History) != len(names) {
		t.Errorf("%d entries, %v", len(h.History), err)
	}
	left, _ := filepath.Glob(path + ".new*")
	if len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestImport takes the policy of another database and leaves that as it is, also while
// the other program has it open.
func TestImport(t *testing.T) {
	from := desktop(t, `{"enabled":true,"mode":"strict","autoFallback":"session"}`)
	db, err := sql.Open("sqlite", from.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, stmt := range []string{`PRAGMA journal_mode=WAL`, `UPDATE settings SET value = replace(value, 'session', 'manual') WHERE key = 'sandbox_policy'`} {
		if _, err := db.Exec(stmt); err != nil {
			t.Fatal(err)
		}
	}
	before, log := digest(t, from.path), digest(t, from.path+"-wal")
	s := At(host.Real(), filepath.Join(private(t), "policy.db"), true)
	if _, err := s.Import(bg, from.path); err != nil {
		t.Fatal(err)
	}
	if got := raw(t, s); got != `{"version":1,"enabled":true,"mode":"strict","autoFallback":"manual"}` {
		t.Errorf("imported %s", got)
	}
	if digest(t, from.path) != before || digest(t, from.path+"-wal") != log {
		t.Error("the other database was changed")
	}
	for _, bad := range []string{filepath.Join(private(t), "none"), t.TempDir(), "/dev/null"} {
		if _, err := s.Import(bg, bad); fault.CodeOf(err) != fault.StoreFailed {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := s.Import(bg, desktop(t, "").path); err == nil || !strings.Contains(err.Error(), "holds no policy") {
		t.Error(err)
	}
}

func TestBackup(t *testing.T) {
	s := desktop(t, `{"version":1,"mode":"strict","autoFallback":"manual"}`)
	to := filepath.Join(t.TempDir(), "p.json")
	if resp, err := s.Backup(bg, to); err != nil || digest(t, to) != raw(t, s) || resp.File != to {
		t.Errorf("%+v %v", resp, err)
	}
	if _, err := s.Backup(bg, to); err == nil {
		t.Error("a file was overwritten")
	}
	for range backupsMost + 3 {
		if _, err := s.Backup(bg, ""); err != nil {
			t.Fatal(err)
		}
	}
	if list, _ := s.backups(); len(list) != backupsMost {
		t.Errorf("%d backups are kept", len(list))
	}
	if _, err := s.Restore(bg, filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a backup that is not there was restored")
	}
}
