//go:build unix

package store

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// syncDir flushes the names in a directory, after a file was made or renamed in it.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// lockDir takes the lock of those who make and rename files in a directory. It waits.
// Without one, on a file system that has none, the last to rename wins.
func lockDir(dir string) (unlock func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	return func() { f.Close() }
}

// place gives a new database its name, unless there is one already.
func place(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	_ = os.Remove(from)
	return syncDir(filepath.Dir(to))
}
