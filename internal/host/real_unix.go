//go:build unix

package host

import (
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// lstat and stat go round package os: a run looks at hundreds of paths, and
// fs.FileInfo costs an allocation each.
func lstat(path string) (Info, error) { return statWith(path, unix.AT_SYMLINK_NOFOLLOW) }

func stat(path string) (Info, error) { return statWith(path, 0) }

func statWith(path string, flags int) (Info, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(unix.AT_FDCWD, path, &st, flags)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return Info{}, &fs.PathError{Op: "stat", Path: path, Err: err}
		}
		break
	}
	return Info{Dev: uint64(st.Dev), Ino: st.Ino, Mode: fileMode(uint32(st.Mode)), UID: int(st.Uid), Nlink: uint64(st.Nlink), Size: st.Size,
		Modified: time.Unix(st.Mtim.Unix()), Changed: time.Unix(st.Ctim.Unix())}, nil
}

// fileMode turns st_mode into Go's mode, as package os does.
func fileMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	}
	for _, b := range []struct {
		bit  uint32
		mode fs.FileMode
	}{{unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISVTX, fs.ModeSticky}} {
		if m&b.bit != 0 {
			mode |= b.mode
		}
	}
	return mode
}

func exists(path string) bool {
	var st unix.Stat_t
	return unix.Fstatat(unix.AT_FDCWD, path, &st, unix.AT_SYMLINK_NOFOLLOW) == nil
}

// readFile reads a regular file of at most max bytes.
//
// SECURITY: the path may be in a place that a sandboxed command controls. The
// open does not follow a link in the last part and does not block on a FIFO;
// the type is checked on the descriptor, not on the path (FS-10).
func readFile(path string, max int) ([]byte, error) {
	fail := func(err error) ([]byte, error) { return nil, &fs.PathError{Op: "read", Path: path, Err: err} }
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fail(err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fail(errNotRegular)
	}
	data, err := slurp(fd, int(st.Size), max)
	if err != nil {
		return fail(err)
	}
	return data, nil
}

// slurp reads a descriptor to its end. Kernel files say that they are empty, so
// the size is only a hint.
func slurp(fd, size, most int) ([]byte, error) {
	data := make([]byte, 0, min(max(size, 1024), most)+1)
	for {
		n, err := unix.Read(fd, data[len(data):cap(data)])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return data, nil
		}
		data = data[:len(data)+n]
		if len(data) > most {
			return nil, errTooLarge
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
