package protect

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// writeWhole makes a file that appears with all of its content. It has no name until
// then, so that nothing is left when we die on the way; only on file systems without
// nameless files it is written beside and renamed.
func writeWhole(dir, path string, data []byte) error {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return writeBeside(path, data)
	}
	f := os.NewFile(uintptr(fd), filepath.Join(dir, "(no name)"))
	_, err = f.Write(data)
	if err == nil {
		err = unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return &os.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
