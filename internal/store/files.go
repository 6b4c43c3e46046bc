package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// backupsMost is how many backups of our own making are kept.
const backupsMost = 20

// backupDir holds the backups, next to the database, so that losing that is not losing them.
func (s *Store) backupDir() string { return s.path + ".backups" }

// backup writes a policy, byte for byte as it is stored, to a file of its own.
func (s *Store) backup(text []byte, version int) (string, error) {
	const op = "back up the policy"
	dir := s.backupDir()
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fault.Wrap(fault.StoreFailed, op, dir, err).WithHint("nothing was changed")
	}
	name := filepath.Join(dir, fmt.Sprintf("%s-v%d.json", time.Now().UTC().Format("20060102T150405.000000"), version))
	if err := writeNew(name, text); err != nil {
		return "", fault.Wrap(fault.StoreFailed, op, name, err).WithHint("nothing was changed")
	}
	if list, err := s.backups(); err == nil && len(list) > backupsMost {
		for _, old := range list[backupsMost:] {
			_ = os.Remove(old)
		}
	}
	return name, nil
}

// backups lists the backups, newest first.
func (s *Store) backups() ([]string, error) {
	list, err := filepath.Glob(escapeGlob(s.backupDir()) + "/[0-9]*T[0-9]*-v[0-9]*.json")
	slices.Sort(list)
	slices.Reverse(list)
	return list, err
}

// escapeGlob lets a path stand for itself in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// writeNew makes a file that is not there yet, for its owner alone, and flushes it to the
// disk. A file that could not be written whole is removed.
func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return syncDir(filepath.Dir(name))
}

// keep replaces the snapshot. Where it cannot be written the database is asked each time.
func (s *Store) keep(snap snapshot.Snapshot) {
	data, err := snapshot.Encode(snap)
	if err != nil {
		return
	}
	unlock := lockDir(filepath.Dir(s.path))
	defer unlock()
	tmp := s.path + snapshot.Ending + ".new"
	_ = os.Remove(tmp) // of a process that was killed: we hold the lock
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if errors.Join(err, f.Close()) != nil || os.Rename(tmp, s.path+snapshot.Ending) != nil {
		_ = os.Remove(tmp)
	}
}

// readFile reads a policy from a file that somebody named.
func (s *Store) readFile(op, path string) ([]byte, error) {
	data, err := s.host.ReadFile(path, policy.MaxFile)
	if err != nil {
		return nil, fault.Wrap(fault.StoreFailed, op, path, err).WithHint("it must be a regular file of at most 1 MiB that can be read; nothing was changed")
	}
	return data, nil
}
