package protect

import "golang.org/x/sys/unix"

// folderFlags open a folder to work in it by name.
const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// rename moves an entry to a name that must be free.
func rename(from int, name string, to int, dest string) error {
	return unix.RenameatxNp(from, name, to, dest, unix.RENAME_EXCL)
}

func chmodFd(fd int, mode uint32) error { return unix.Fchmod(fd, mode) }

// special: macOS has no mknodat for this; the entry stays under its harmless name.
func special(int, string, *unix.Stat_t) error { return unix.ENOTSUP }
