package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// strict is a store with a strict policy and its snapshot.
func strict(t *testing.T) *Store {
	t.Helper()
	s := At(host.Real(), filepath.Join(private(t), "policy.db"), true)
	if _, err := s.Set(bg, "set", assign(t, "mode=strict", "limits.timeout=7m"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.path + snapshot.Ending); err != nil {
		t.Fatal("no snapshot: ", err)
	}
	return s
}

// mode is the stored mode as a run would read it.
func mode(t *testing.T, s *Store) string {
	t.Helper()
	resp, err := s.Read(bg)
	if err != nil {
		return err.Error()
	}
	l, _, err := policy.ParseStored(resp.Policy)
	if err != nil || l.Mode == nil {
		return "none"
	}
	return l.Mode.String()
}

// TestLostDatabase: a store whose database is gone is not one that never was. Nothing but
// a restore, or a reset of all, begins anew: else the next change would put the built-in
// policy in the place of a stricter one.
func TestLostDatabase(t *testing.T) {
	other := filepath.Join(private(t), "other.db")
	if _, err := At(host.Real(), other, true).Set(bg, "set", assign(t, "mode=compat"), nil); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func(s *Store) error{
		"read": func(s *Store) error { _, err := s.Read(bg); return err },
		"set":  func(s *Store) error { _, err := s.Set(bg, "set", assign(t, "limits.grace=3s"), nil); return err },
		"reset KEY": func(s *Store) error {
			_, err := s.Set(bg, "reset", policy.Layer{}, []string{"limits.grace"})
			return err
		},
		"replace":  func(s *Store) error { _, err := s.Replace(bg, "import", assign(t, "mode=compat")); return err },
		"import":   func(s *Store) error { _, err := s.Import(bg, other); return err },
		"history":  func(s *Store) error { _, err := s.History(bg, 0); return err },
		"rollback": func(s *Store) error { _, err := s.Rollback(bg, 0); return err },
		"migrate":  func(s *Store) error { _, err := s.Migrate(bg, true); return err },
		"backup":   func(s *Store) error { _, err := s.Backup(bg, ""); return err },
	} {
		t.Run(name, func(t *testing.T) {
			s := strict(t)
			if err := do(s); err != nil && name != "import" { // the control: it works while the database is there
				t.Fatal(err)
			}
			s = strict(t)
			before := digest(t, s.path+snapshot.Ending)
			if err := os.Remove(s.path); err != nil {
				t.Fatal(err)
			}
			for _, end := range sides {
				_ = os.Remove(s.path + end)
			}
			if err := do(s); err == nil || !strings.Contains(err.Error(), "the database is gone") {
				t.Errorf("%v", err)
			}
			if _, err := os.Lstat(s.path); err == nil || digest(t, s.path+snapshot.Ending) != before {
				t.Error("something was made, or the snapshot was changed")
			}
			if _, err := s.Restore(bg, ""); err != nil || mode(t, s) != "strict" {
				t.Errorf("restore: %v, mode %s", err, mode(t, s))
			}
		})
	}
}

// TestResetOfALostStoreBeginsAnew is the other way out.
func TestResetOfALostStoreBeginsAnew(t *testing.T) {
	s := strict(t)
	_ = os.Remove(s.path)
	if _, err := s.Reset(bg); err != nil || mode(t, s) != "none" {
		t.Errorf("%v, mode %s", err, mode(t, s))
	}
	if _, err := s.Set(bg, "set", assign(t, "mode=compat"), nil); err != nil || mode(t, s) != "compat" {
		t.Errorf("%v, mode %s", err, mode(t, s))
	}
}

// TestRestoreFromTheSnapshot: what was last known is newer than any backup.
func TestRestoreFromTheSnapshot(t *testing.T) {
	for name, spoil := range map[string]func(s *Store) error{
		"gone":        func(s *Store) error { return os.Remove(s.path) },
		"damaged":     func(s *Store) error { return os.WriteFile(s.path, []byte(strings.Repeat("garbage ", 999)), 0o600) },
		"empty":       func(s *Store) error { return os.Truncate(s.path, 0) },
		"broken JSON": func(s *Store) error { exec(t, s.path, `UPDATE settings SET value = '{"mo'`); return nil },
	} {
		for _, backup := range []bool{false, true} {
			s := At(host.Real(), filepath.Join(private(t), "policy.db"), true)
			if backup { // an older, looser one
				if _, err := s.Set(bg, "set", assign(t, "mode=compat"), nil); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Backup(bg, ""); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Set(bg, "set", assign(t, "mode=strict"), nil); err != nil {
				t.Fatal(err)
			}
			if err := spoil(s); err != nil {
				t.Fatal(err)
			}
			resp, err := s.Restore(bg, "")
			if err != nil || mode(t, s) != "strict" || resp.File != s.path+snapshot.Ending {
				t.Errorf("%s, backup %v: %v, mode %s, from %s", name, backup, err, mode(t, s), resp.File)
			}
		}
	}
}

// TestFilesOfOthersDecideNothing: what others may write, or that belongs to them, is not
// read, whichever of the files it is.
func TestFilesOfOthersDecideNothing(t *testing.T) {
	spoils := map[string]func(path string) error{
		"others may write": func(path string) error { return os.Chmod(path, 0o666) },
		"a FIFO":           func(path string) error { return errors2(os.Remove(path), unix.Mkfifo(path, 0o600)) },
		"a link":           func(path string) error { return errors2(os.Rename(path, path+".x"), os.Symlink(path+".x", path)) },
	}
	if os.Geteuid() == 0 {
		// Root's own files are another user's business nowhere; a file of nobody is.
		spoils["of another user"] = func(path string) error { return os.Chown(path, 65534, 65534) }
	}
	for name, spoil := range spoils {
		for _, end := range sides {
			s := strict(t)
			if err := os.WriteFile(s.path+end, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := mode(t, s); got != "strict" {
				t.Fatalf("the control: an empty %s of ours: %s", end, got)
			}
			if err := os.WriteFile(s.path+end, nil, 0o600); err != nil { // SQLite may have removed it
				t.Fatal(err)
			}
			if err := spoil(s.path + end); err != nil {
				t.Fatal(err)
			}
			if got := mode(t, s); !strings.Contains(got, s.path+end) {
				t.Errorf("%s: %s: read gives %q", end, name, got)
			}
			if _, found, err := snapshot.Load(s.host, s.path); err == nil || found {
				t.Errorf("%s: %s: the snapshot is used all the same", end, name)
			}
		}
		t.Run("backup "+name, func(t *testing.T) {
			s := strict(t)
			resp, err := s.Backup(bg, "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Restore(bg, ""); err != nil {
				t.Fatal("the control: ", err)
			}
			if err := spoil(resp.File); err != nil {
				t.Fatal(err)
			}
			if r, err := s.Restore(bg, ""); err == nil {
				t.Errorf("restored from %s", r.File)
			}
		})
	}
}

func errors2(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
