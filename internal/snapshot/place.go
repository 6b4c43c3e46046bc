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
		return fault.New(fault.StoreFailed, opRead, path, "it is not a regular file")
	}
	if err := checkOne(h, path, info); err != nil {
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
