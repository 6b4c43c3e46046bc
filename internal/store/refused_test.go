package store

import (
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
)

// TestRefused: what is no store of ours is an error that says so, and is left as it was.
func TestRefused(t *testing.T) {
	good := `{"version":1,"mode":"strict","autoFallback":"manual"}`
	for _, c := range []struct {
		name, want string
		spoil      func(t *testing.T, s *Store)
	}{
		{"something else", "a database of something else", func(t *testing.T, s *Store) {
			exec(t, s.path, `DROP TABLE settings`, `CREATE TABLE bookmarks(url TEXT)`)
		}},
		{"other columns", "a database of something else", func(t *testing.T, s *Store) {
			exec(t, s.path, `DROP TABLE settings`, `CREATE TABLE settings(id INTEGER PRIMARY KEY, key TEXT, value TEXT)`)
		}},
		{"newer schema", "this program knows 1", func(t *testing.T, s *Store) {
			exec(t, s.path, `CREATE TABLE qsandbox_schema(version INTEGER NOT NULL)`, `INSERT INTO qsandbox_schema VALUES(2)`)
		}},
		{"no database", "no SQLite database", func(t *testing.T, s *Store) { spit(t, s.path, strings.Repeat("not a database ", 100)) }},
		{"empty file", "damaged", func(t *testing.T, s *Store) { spit(t, s.path, "") }},
		{"truncated", "damaged", func(t *testing.T, s *Store) {
			if err := os.Truncate(s.path, 5000); err != nil {
				t.Fatal(err)
			}
		}},
		{"broken JSON", "restore", func(t *testing.T, s *Store) {
			exec(t, s.path, `UPDATE settings SET value = '{"mode":"str' WHERE key = 'sandbox_policy'`)
		}},
		{"JSON of something else", "an object", func(t *testing.T, s *Store) {
			exec(t, s.path, `UPDATE settings SET value = '[1]' WHERE key = 'sandbox_policy'`)
		}},
		{"directory", "not a regular file", func(t *testing.T, s *Store) {
			_ = os.Remove(s.path)
			if err := os.Mkdir(s.path, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := desktop(t, good)
			c.spoil(t, s)
			before := digest(t, s.path)
			for name, do := range map[string]func() (snapshot.Response, error){
				"read": func() (snapshot.Response, error) { return s.Read(bg) },
				"set":  func() (snapshot.Response, error) { return s.Set(bg, "set", assign(t, "mode=compat"), nil) },
			} {
				resp, err := do()
				if err == nil || !strings.Contains(err.Error(), c.want) || resp.Found {
					t.Errorf("%s: %v (%+v), want %q", name, err, resp, c.want)
				}
			}
			if digest(t, s.path) != before {
				t.Error("the file was changed")
			}
			if list, _ := s.backups(); len(list) != 0 || s.host.Exists(s.path+snapshot.Ending) {
				t.Errorf("something was made: %q", list)
			}
		})
	}
}

func spit(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func digest(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// TestRestoreSetsADamagedDatabaseAside, in our own place only.
func TestRestoreSetsADamagedDatabaseAside(t *testing.T) {
	s := desktop(t, `{"mode":"strict"}`) // migrated once, so there is a backup
	s.ours = true
	if _, err := s.Read(bg); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(s.path, 1000); err != nil {
		t.Fatal(err)
	}
	broken := digest(t, s.path)
	s.ours = false
	if _, err := s.Restore(bg, ""); err == nil || digest(t, s.path) != broken {
		t.Errorf("a database that is not ours was replaced: %v", err)
	}
	s.ours = true
	resp, err := s.Restore(bg, "")
	if err != nil || resp.Aside == "" || digest(t, resp.Aside) != broken {
		t.Fatalf("%+v %v", resp, err)
	}
	if got := raw(t, s); got != `{"version":1,"mode":"strict","autoFallback":"startup-only"}` {
		t.Errorf("restored %s", got)
	}
}

// TestLocked: a lock is waited for, and then an error; when it is gone in time all is well.
func TestLocked(t *testing.T) {
	s := desktop(t, `{"version":1,"mode":"strict","autoFallback":"manual"}`)
	s.busy = 200 * time.Millisecond
	db, err := sql.Open("sqlite", s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`BEGIN EXCLUSIVE`); err != nil {
		t.Fatal(err)
	}
	_, err = s.Set(bg, "set", assign(t, "mode=compat"), nil)
	if fault.CodeOf(err) != fault.StoreFailed || !strings.Contains(err.Error(), "locked") {
		t.Errorf("%v", err)
	}
	if _, err := s.Read(bg); fault.CodeOf(err) != fault.StoreFailed {
		t.Errorf("%v", err)
	}
	s.busy = 10 * time.Second
	go func() {
		time.Sleep(300 * time.Millisecond)
		_, _ = db.Exec(`COMMIT`)
	}()
	if _, err := s.Set(bg, "set", assign(t, "mode=compat"), nil); err != nil || !strings.Contains(raw(t, s), "compat") {
		t.Error(err)
	}
}
