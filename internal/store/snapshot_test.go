package store

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
)

const strictPolicy = `{"version":1,"mode":"strict","autoFallback":"manual"}`

// kept is a store with a snapshot.
func kept(t *testing.T) *Store {
	t.Helper()
	s := desktop(t, strictPolicy)
	if _, err := s.Read(bg); err != nil {
		t.Fatal(err)
	}
	if snap, found, err := snapshot.Load(host.Real(), s.path); err != nil || !found || string(snap.Policy) != strictPolicy {
		t.Fatalf("%+v %v %v", snap, found, err)
	}
	return s
}

// TestTheTwoReadingsAgree after every change, by whomever.
func TestTheTwoReadingsAgree(t *testing.T) {
	s := kept(t)
	db, err := sql.Open("sqlite", s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for i := range 40 {
		// Of the same length, so that only the time tells; soon after one another.
		value := fmt.Sprintf(`{"version":1,"mode":"strict","autoFallback":"manual","limits":{"processes":%d}}`, 100+i)
		switch i % 4 {
		case 0, 1:
			_, err = db.Exec(`UPDATE settings SET value = ? WHERE key = 'sandbox_policy'`, value)
		case 2:
			_, err = s.Set(bg, "set", assign(t, fmt.Sprintf("limits.processes=%d", 100+i)), nil)
		case 3:
			if i == 19 { // from here on with a log
				if _, err = db.Exec(`PRAGMA journal_mode=WAL`); err != nil {
					t.Fatal(err)
				}
			}
			_, err = db.Exec(`UPDATE settings SET value = ? WHERE key = 'sandbox_policy'`, value)
		}
		if err != nil {
			t.Fatal(err)
		}
		snap, found, serr := snapshot.Load(host.Real(), s.path)
		resp, err := s.Read(bg)
		if err != nil || !strings.Contains(string(resp.Policy), fmt.Sprint(100+i)) {
			t.Fatalf("%d: the database says %s %v", i, resp.Policy, err)
		}
		if serr == nil && (!found || string(snap.Policy) != string(resp.Policy)) {
			t.Errorf("%d: the snapshot says %s, the database %s", i, snap.Policy, resp.Policy)
		} else if serr != nil && serr != snapshot.ErrStale {
			t.Errorf("%d: %v", i, serr)
		}
	}
}

// TestOldSnapshots: one of an earlier, looser policy is never used.
func TestOldSnapshots(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, s *Store){
		"changed by another program": func(t *testing.T, s *Store) {
			exec(t, s.path, `UPDATE settings SET value = '{"version":1,"mode":"compat","autoFallback":"manual"}' WHERE key = 'sandbox_policy'`)
		},
		"times set back": func(t *testing.T, s *Store) {
			st, err := os.Stat(s.path)
			if err != nil {
				t.Fatal(err)
			}
			exec(t, s.path, `UPDATE settings SET value = '{"version":1,"mode":"comPat","autoFallback":"manual"}' WHERE key = 'sandbox_policy'`)
			if err := os.Chtimes(s.path, st.ModTime(), st.ModTime()); err != nil {
				t.Fatal(err)
			}
		},
		"another database in its place": func(t *testing.T, s *Store) {
			data := digest(t, s.path)
			if err := os.Remove(s.path); err != nil {
				t.Fatal(err)
			}
			spit(t, s.path, data)
		},
		"a log appeared":     func(t *testing.T, s *Store) { spit(t, s.path+"-wal", "x") },
		"a journal appeared": func(t *testing.T, s *Store) { spit(t, s.path+"-journal", "x") },
		"moved with its snapshot": func(t *testing.T, s *Store) {
			to := filepath.Join(private(t), "moved.db")
			for _, end := range []string{"", snapshot.Ending} {
				if err := os.Rename(s.path+end, to+end); err != nil {
					t.Fatal(err)
				}
			}
			s.path = to
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := kept(t)
			change(t, s)
			if snap, _, err := snapshot.Load(host.Real(), s.path); err != snapshot.ErrStale {
				t.Errorf("%+v %v", snap, err)
			}
		})
	}
}

// TestDamagedSnapshots: whichever byte differs, the database is asked.
func TestDamagedSnapshots(t *testing.T) {
	s := kept(t)
	name := s.path + snapshot.Ending
	good := digest(t, name)
	for i := range len(good) {
		for _, bad := range []string{good[:i], good[:i] + string(good[i]^1) + good[i+1:]} {
			spit(t, name, bad)
			if snap, _, err := snapshot.Load(host.Real(), s.path); err != snapshot.ErrStale {
				t.Fatalf("byte %d: %+v %v", i, snap, err)
			}
		}
	}
	spit(t, name, good)
	if _, found, err := snapshot.Load(host.Real(), s.path); err != nil || !found {
		t.Fatalf("the control: %v", err)
	}
	spit(t, name, good[:40])
	if _, err := s.Read(bg); err != nil {
		t.Fatal(err)
	}
	if snap, _, err := snapshot.Load(host.Real(), s.path); err != nil || string(snap.Policy) != strictPolicy {
		t.Errorf("it is not renewed: %+v %v", snap, err)
	}
}

// TestForeignSnapshots: what others may write, or what is no file, is an error, and a
// store whose database is gone is not one that never was.
func TestForeignSnapshots(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"writable by all": func(p string) error { return os.Chmod(p+snapshot.Ending, 0o666) },
		"link": func(p string) error {
			return errJoin(os.Rename(p+snapshot.Ending, p+".other"), os.Symlink(p+".other", p+snapshot.Ending))
		},
		"directory":     func(p string) error { return errJoin(os.Remove(p+snapshot.Ending), os.Mkdir(p+snapshot.Ending, 0o700)) },
		"database gone": func(p string) error { return os.Remove(p) },
	} {
		t.Run(name, func(t *testing.T) {
			s := kept(t)
			if err := spoil(s.path); err != nil {
				t.Fatal(err)
			}
			if snap, found, err := snapshot.Load(host.Real(), s.path); fault.CodeOf(err) != fault.StoreFailed || found {
				t.Errorf("%+v %v", snap, err)
			}
		})
	}
	if _, found, err := snapshot.Load(host.Real(), filepath.Join(private(t), "never.db")); err != nil || found {
		t.Errorf("a store that never was: %v", err)
	}
}

func errJoin(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// TestSettled: an identity counts only when later writes must have another one.
func TestSettled(t *testing.T) {
	now := time.Unix(1000, 500)
	at := func(ago time.Duration) snapshot.Files {
		ns := now.Add(-ago).UnixNano()
		return snapshot.Files{{Ino: 1, Modified: ns, Changed: ns}}
	}
	for ago, settled := range map[time.Duration]bool{0: false, 5 * time.Millisecond: false, 30 * time.Millisecond: true, -time.Hour: false, time.Hour: true} {
		if got := at(ago).Settled(now) <= 0; got != settled {
			t.Errorf("%v ago: settled %v", ago, got)
		}
	}
	whole := snapshot.Files{{Ino: 1, Modified: 999e9, Changed: 999e9}} // a file system that keeps seconds
	if whole.Settled(now) <= 0 || whole.Settled(now.Add(2*time.Second)) > 0 {
		t.Error("whole seconds")
	}
}
