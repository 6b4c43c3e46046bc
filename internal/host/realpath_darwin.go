package host

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// realPath follows links, and gives the name as it is on the disk: the file system
// takes names in any case and in any normal form, and a sandbox profile is asked
// about the one on the disk. Places with two names (firmlinks: /System/Volumes/Data)
// get the usual one.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return onDisk(real), nil
}

// onDisk asks the kernel for the name of a path without links (fcntl(2), F_GETPATH).
// What cannot be opened, such as a socket, is taken from its directory.
func onDisk(real string) string {
	st, err := lstat(real)
	if err != nil || real == "/" {
		return real
	}
	if !st.IsDir() && st.Mode.Type() != 0 {
		return filepath.Join(onDisk(filepath.Dir(real)), filepath.Base(real))
	}
	name, err := nameOf(real)
	if err != nil {
		return filepath.Join(onDisk(filepath.Dir(real)), filepath.Base(real))
	}
	// SECURITY: between the two somebody may have moved it; then the first answer stays.
	if now, err := lstat(name); err != nil || now.Dev != st.Dev || now.Ino != st.Ino {
		return real
	}
	return name
}

func nameOf(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_EVTONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	var buf [unix.PathMax]byte
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), unix.F_GETPATH, uintptr(unsafe.Pointer(&buf[0]))); errno != 0 {
		return "", errno
	}
	name := unix.ByteSliceToString(buf[:])
	if !filepath.IsAbs(name) {
		return "", fs.ErrInvalid
	}
	return filepath.Clean(name), nil
}
