package event

import (
	"errors"
	"os"
)

// openLog opens a log for appending, and makes it when it is missing. A link put there
// between the check and the open is followed: the user's profile, where the log lies,
// is out of the sandbox's reach.
func openLog(path string) (*os.File, error) {
	if err := privateDir(path); err != nil {
		return nil, err
	}
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}

// openToRead opens a file of a log, and nothing else that may be in its place.
func openToRead(path string) (*os.File, error) {
	if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
		return nil, errors.Join(err, errNotRegular(err))
	}
	return os.Open(path)
}

func errNotRegular(err error) error {
	if err != nil {
		return nil
	}
	return errors.New("not a regular file")
}

// lockLog has nothing to lock with here: a file that another process has open cannot be
// renamed, and the log grows on until one can.
func lockLog(*os.File) (unlock func(), err error) { return func() {}, nil }
