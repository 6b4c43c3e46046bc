package cell

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Sure gives an error unless this process is in a cell: its root is the small tmpfs
// that build made, and the first process is a cell's. A variable could lie.
func Sure() error {
	var fs unix.Statfs_t
	if err := unix.Statfs("/", &fs); err != nil {
		return err
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return err
	}
	switch {
	case fs.Type != unix.TMPFS_MAGIC:
		return errors.New("the root is no tmpfs")
	case fs.Blocks*uint64(fs.Bsize) != size:
		return errors.New("the root is not a cell's")
	case unix.ByteSliceToString(name.Nodename[:]) != Name:
		return errors.New("the host's name is not a cell's")
	}
	return nil
}
