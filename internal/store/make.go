package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
)

const settings = `CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT NOT NULL);`

var sides = snapshot.Sides

// ensure makes the database when there never was one.
//
// SECURITY: one that is gone is not made again by just any change: what it held may have
// been stricter than the built-in policy. A restore, which puts a policy there, may.
func (s *Store) ensure(ctx context.Context, lost lenience) error {
	there, err := s.present()
	if err != nil || there {
		return err
	}
	if err := s.gone(); err != nil && lost != anything {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fault.Wrap(fault.StoreFailed, "make the store", s.path, err)
	}
	unlock := lockDir(filepath.Dir(s.path))
	defer unlock()
	name, err := s.build(ctx)
	if err != nil {
		return err
	}
	if err := place(name, s.path); err != nil {
		_ = os.Remove(name)
		if errors.Is(err, os.ErrExist) { // somebody else was first
			return nil
		}
		return fault.Wrap(fault.StoreFailed, "make the store", s.path, err)
	}
	st, err := s.host.Lstat(s.path)
	if err == nil {
		err = snapshot.Check(s.host, s.path, st)
	}
	return err
}

// build makes a whole, empty database under another name, so that there is never half of
// one under the right name. The caller holds the lock of the directory.
func (s *Store) build(ctx context.Context) (string, error) {
	name := s.path + ".new"
	for _, end := range append(sides, "") { // of a process that was killed
		_ = os.Remove(name + end)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // else SQLite makes it with the umask's mode
	if err != nil {
		return "", fault.Wrap(fault.StoreFailed, "make the store", name, err)
	}
	f.Close()
	err = s.fill(ctx, name)
	if err != nil {
		for _, end := range append(sides, "") {
			_ = os.Remove(name + end)
		}
	}
	return name, err
}

func (s *Store) fill(ctx context.Context, name string) error {
	conn, done, err := s.open(ctx, name, toMake)
	if err != nil {
		return err
	}
	defer done()
	for _, stmt := range []string{`PRAGMA journal_mode = WAL`, `BEGIN IMMEDIATE`, settings, tables, `COMMIT`} {
		if _, err := conn.ExecContext(ctx, stmt); err != nil {
			return s.fail("make the store", err)
		}
	}
	return nil
}

// setAside moves a damaged database away, whole, so that nothing of it is lost, and puts
// a new one in its place, in which do has done its work.
//
// SECURITY: at no moment is there no database, or one without the policy that is to be
// restored: a run would take it for a store without a policy.
func (s *Store) setAside(ctx context.Context, do func(*Store) (snapshot.Response, error)) (snapshot.Response, error) {
	unlock := lockDir(filepath.Dir(s.path))
	defer unlock()
	name, err := s.build(ctx)
	if err != nil {
		return snapshot.Response{}, err
	}
	fresh := *s
	fresh.path = name
	resp, err := do(&fresh)
	if err != nil {
		return resp, err
	}
	resp.Aside = s.path + ".damaged-" + time.Now().UTC().Format("20060102T150405.000000")
	for _, end := range sides {
		if err := os.Rename(s.path+end, resp.Aside+end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return snapshot.Response{}, fault.Wrap(fault.StoreFailed, "set aside", s.path+end, err)
		}
	}
	if err := copyFile(s.path, resp.Aside); err != nil {
		return snapshot.Response{}, fault.Wrap(fault.StoreFailed, "set aside", s.path, err)
	}
	if err := os.Rename(name, s.path); err != nil {
		return snapshot.Response{}, fault.Wrap(fault.StoreFailed, "make the store", s.path, err)
	}
	return resp, syncDir(filepath.Dir(s.path))
}

// copyFile copies by a second name where it can.
func copyFile(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeNew(to, data)
}
