//go:build linux || darwin

package protect

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Bounds of a copy to another file system.
const (
	copyBytes   = 64 << 20
	copyEntries = 4096
	copyDepth   = 64
)

var errTooBig = errors.New("too large to be copied")

// copier copies entries by descriptors; it follows no link and opens no pipe.
type copier struct {
	bytes   int64
	entries int
}

func (c *copier) entry(from int, name string, to int, dest string, depth int) error {
	var st unix.Stat_t
	if err := unix.Fstatat(from, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if c.entries--; c.entries < 0 || depth == 0 {
		return errTooBig
	}
	var err error
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		err = c.folder(from, name, to, dest, depth, &st)
	case unix.S_IFREG:
		err = c.file(from, name, to, dest, &st)
	case unix.S_IFLNK:
		buf := make([]byte, 1<<16)
		n, e := unix.Readlinkat(from, name, buf)
		if err = e; e == nil {
			err = unix.Symlinkat(string(buf[:n]), to, dest)
		}
	default:
		err = special(to, dest, &st)
	}
	if err == nil && os.Geteuid() == 0 {
		err = unix.Fchownat(to, dest, int(st.Uid), int(st.Gid), unix.AT_SYMLINK_NOFOLLOW)
	}
	return err
}

// file copies a regular file. It is opened without blocking and looked at again: the
// name may be a pipe by now.
func (c *copier) file(from int, name string, to int, dest string, st *unix.Stat_t) error {
	in, err := unix.Openat(from, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	src := os.NewFile(uintptr(in), name)
	defer src.Close()
	if fi, err := src.Stat(); err != nil || !fi.Mode().IsRegular() {
		return errors.Join(err, errors.New("not a regular file"))
	}
	out, err := unix.Openat(to, dest, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(st.Mode)&0o777|0o200)
	if err != nil {
		return err
	}
	dst := os.NewFile(uintptr(out), dest)
	n, err := io.Copy(dst, io.LimitReader(src, c.bytes+1))
	if c.bytes -= n; err == nil && c.bytes < 0 {
		err = errTooBig
	}
	return errors.Join(err, dst.Close())
}

func (c *copier) folder(from int, name string, to int, dest string, depth int, st *unix.Stat_t) error {
	if err := unix.Mkdirat(to, dest, uint32(st.Mode)&0o777|0o700); err != nil {
		return err
	}
	src, names, err := openNames(from, name, c.entries)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := openAt(to, dest)
	if err != nil {
		return err
	}
	defer unix.Close(dst)
	for _, n := range names {
		if err := c.entry(int(src.Fd()), n, dst, n, depth-1); err != nil {
			return err
		}
	}
	return nil
}

// openNames opens a folder and lists at most max names.
func openNames(from int, name string, max int) (*os.File, []string, error) {
	fd, err := unix.Openat(from, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	names, err := f.Readdirnames(max + 1)
	if len(names) > max {
		err = errTooBig
	}
	if err != nil && err != io.EOF {
		f.Close()
		return nil, nil, err
	}
	return f, names, nil
}

// remove takes away a copy, or an original that was copied in full.
func (c *copier) remove(from int, name string, depth int) {
	if unix.Unlinkat(from, name, 0) == nil || depth == 0 {
		return
	}
	if f, names, err := openNames(from, name, copyEntries); err == nil {
		for _, n := range names {
			c.remove(int(f.Fd()), n, depth-1)
		}
		f.Close()
	}
	_ = unix.Unlinkat(from, name, unix.AT_REMOVEDIR)
}
