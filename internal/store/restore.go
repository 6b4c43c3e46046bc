package store

import (
	"context"
	"path/filepath"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
)

const opRestore = "restore the policy"

// restorable gives what a restore puts in place, and where it comes from. Without a name
// that is, where the database cannot be read, the snapshot: it holds what the database
// held last, and is newer than any backup. Else it is the newest backup.
func (s *Store) restorable(ctx context.Context, from string) ([]byte, string, error) {
	if from == "" {
		if !s.readable(ctx) {
			if last := snapshot.Last(s.host, s.path); last != nil {
				return last, s.path + snapshot.Ending, nil
			}
		}
		list, err := s.backups()
		if err != nil || len(list) == 0 {
			return nil, "", fault.New(fault.StoreFailed, opRestore, s.backupDir(), "there is no backup; name a file, or begin anew with qsandbox policy reset")
		}
		from = list[0]
	} else if in := filepath.Join(s.backupDir(), from); filepath.Base(from) == from && s.host.Exists(in) {
		from = in
	}
	// SECURITY: a backup in our own place was made by this account alone, or somebody else
	// would choose the policy. A file elsewhere is the choice of who names it.
	if filepath.Dir(from) == s.backupDir() {
		st, err := s.host.Lstat(from)
		if err == nil {
			err = snapshot.Check(s.host, from, st)
		}
		if err != nil {
			return nil, "", fault.Wrap(fault.StoreFailed, opRestore, from, err).WithHint("nothing was changed")
		}
	}
	data, err := s.readFile(opRestore, from)
	return data, from, err
}

// readable tells whether the database says what its policy is. It changes nothing.
func (s *Store) readable(ctx context.Context) bool {
	there, err := s.present()
	if err != nil || !there {
		return false
	}
	text, found, err := s.fetch(ctx)
	if err == nil && found {
		_, err = s.normalise(text)
	}
	return err == nil
}
