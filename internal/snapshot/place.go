package snapshot

import (
	"path/filepath"
	"strconv"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

const opRead = "read the stored policy"

// Check refuses a file that decides about policies and that others could write: whose
// owner is not the launcher's account or root, which others may write, or whose directory
// they may. info is what Lstat says of it. Windows has neither; there the user's profile
// keeps others out. Errors: STORE_FAILED.
func Check(h host.Host, path string, info host.Info) error {
	if !info.Mode.IsRegular() {
		return fault.New(fault.StoreFailed, opRead, path, "it is not a regular file; move it away, and qsandbox policy restore brings the policy back")
	}
	if err := checkOne(h, path, info); err != nil {
		return err
	}
	if err := checkSides(h, path); err != nil {
		return err
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		st, err := h.Stat(dir)
		if err != nil {
			return fault.Wrap(fault.StoreFailed, opRead, dir, err)
		}
		if dir == filepath.Dir(path) {
			err = checkOne(h, dir, st)
		} else if h.GOOS != "windows" && st.Mode.Perm()&0o002 != 0 && st.Mode&sticky == 0 {
			err = fault.New(fault.StoreFailed, opRead, dir, "everybody may write this directory, and so replace the stored policy below it; chmod o-w it")
		}
		if err != nil {
			return err
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// Sides are the files that SQLite keeps next to a database (sqlite.org/tempfiles.html):
// its write-ahead log, the index of that, its rollback journal.
var Sides = []string{"-wal", "-shm", "-journal"}

// checkSides refuses files next to a database that others could write.
//
// SECURITY: a log decides what the database says, without a change of the database.
func checkSides(h host.Host, path string) error {
	for _, end := range Sides {
		st, err := h.Lstat(path + end)
		if isMissing(err) {
			continue
		}
		if err == nil && !st.Mode.IsRegular() {
			err = fault.New(fault.StoreFailed, opRead, path+end, "it is not a regular file; remove it")
		}
		if err == nil {
			err = checkOne(h, path+end, st)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkOne(h host.Host, path string, st host.Info) error {
	if h.GOOS == "windows" {
		return nil
	}
	if st.UID != h.User.UID && st.UID != 0 {
		return fault.New(fault.StoreFailed, opRead, path, "it belongs to user "+strconv.Itoa(st.UID)+", so somebody else decides about this policy; make it your own, or name another store with QSANDBOX_STORE")
	}
	if st.Mode.Perm()&0o022 != 0 && (!st.IsDir() || st.Mode&sticky == 0 || st.UID != h.User.UID) {
		return fault.New(fault.StoreFailed, opRead, path, "others may write it; chmod go-w it, and look at what is in it")
	}
	return nil
}
