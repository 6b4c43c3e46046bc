//go:build unix

package host

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func toInfo(fi fs.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	i := Info{Mode: fi.Mode(), Size: fi.Size()}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		i.Dev, i.Ino, i.UID, i.Nlink = uint64(st.Dev), st.Ino, int(st.Uid), uint64(st.Nlink)
	}
	return i, nil
}

func openNoFollow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
}

func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
