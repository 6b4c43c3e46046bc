//go:build unix

package event

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

var (
	errNotRegular = errors.New("not a regular file")
	errNotOurs    = errors.New("it belongs to another user")
)

// openLog opens a log for appending, and makes it when it is missing.
func openLog(path string) (*os.File, error) {
	const flags = unix.O_WRONLY | unix.O_APPEND | unix.O_CREAT | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	fd, err := unix.Open(path, flags, 0o600)
	if err == unix.ENOENT {
		if err := privateDir(path); err != nil {
			return nil, err
		}
		fd, err = unix.Open(path, flags, 0o600)
	}
	if err != nil {
		return nil, err
	}
	// A FIFO that has a reader, or a device, gets as far as here.
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		switch {
		case st.Mode&unix.S_IFMT != unix.S_IFREG:
			err = errNotRegular
		case int(st.Uid) != os.Geteuid():
			err = errNotOurs
		case st.Mode&0o077 != 0:
			err = unix.Fchmod(fd, 0o600)
		}
	}
	if err == nil { // else the runtime would try to poll it
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_APPEND)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// OpenToRead opens a regular file, and nothing else that may be in its place: no link is
// followed as the last part, and a FIFO does not block (FS-10).
func OpenToRead(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotRegular
	}
	if err == nil { // else the runtime would try to poll it
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, 0)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// lockLog takes the right to set the file aside; it never waits.
func lockLog(f *os.File) (unlock func(), err error) {
	fd := int(f.Fd())
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, err
	}
	return func() { _ = unix.Flock(fd, unix.LOCK_UN) }, nil
}
