package protect

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// folderFlags open a folder to work in it by name: with O_PATH even one that we may
// not list.
const folderFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// rename moves an entry to a name that must be free.
func rename(from int, name string, to int, dest string) error {
	err := unix.Renameat2(from, name, to, dest, unix.RENAME_NOREPLACE)
	if err == unix.EINVAL || err == unix.ENOSYS { // a file system without the flag
		var st unix.Stat_t
		if unix.Fstatat(to, dest, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			return unix.EEXIST
		}
		err = unix.Renameat(from, name, to, dest)
	}
	return err
}

// chmodFd sets the mode of a file that is open with O_PATH.
func chmodFd(fd int, mode uint32) error {
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode)
}

// special makes a pipe, socket or device like another one.
func special(to int, dest string, st *unix.Stat_t) error {
	return unix.Mknodat(to, dest, st.Mode&(unix.S_IFMT|0o777), int(st.Rdev))
}
