package store

import (
	"os"
)

// syncDir has nothing to do: NTFS keeps names in its own journal.
func syncDir(string) error { return nil }

// lockDir has no lock here: directories cannot be locked. The last to rename wins.
func lockDir(string) (unlock func()) { return func() {} }

// place gives a new database its name, unless there is one already.
func place(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return os.ErrExist
	}
	return os.Rename(from, to)
}
