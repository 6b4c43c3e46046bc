package store

import (
	"errors"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// cannotWrite tells whether a database may still be read where it could not be opened for
// writing: a disk that is read-only or full.
func cannotWrite(err error) bool {
	var se *sqlite.Error
	if errors.As(err, &se) {
		switch se.Code() & 0xff {
		case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN, lib.SQLITE_FULL, lib.SQLITE_IOERR:
			return true
		}
	}
	return errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC)
}
