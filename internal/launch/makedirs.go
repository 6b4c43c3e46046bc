//go:build darwin || linux

package launch

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// makeDirs makes a directory and those above it, part by part and by descriptor: a
// link in any part is an error, so that nothing is made somewhere else (FS-06).
// It is makeDir without O_PATH and without a change of owner.
func makeDirs(path string) error {
	const how = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	dir, err := unix.Open("/", how, 0)
	if err != nil {
		return err
	}
	defer func() { unix.Close(dir) }()
	for part := range strings.SplitSeq(strings.Trim(filepath.Clean(path), "/"), "/") {
		if err := unix.Mkdirat(dir, part, 0o700); err != nil && err != unix.EEXIST {
			return err
		}
		next, err := unix.Openat(dir, part, how, 0)
		if err != nil {
			return err
		}
		unix.Close(dir)
		dir = next
	}
	return nil
}

// runRoot is where directories of runs are made: below the launcher's records, which
// no policy opens. Without them (a probe, an account without a home) they are made in
// the launcher's temporary directory.
func runRoot(records string) string {
	if records == "" {
		return filepath.Join(os.TempDir(), "qsandbox-run")
	}
	return filepath.Join(records, "run")
}
