//go:build linux || darwin

package protect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// ours wants a real folder that belongs to us and that nobody else can write.
func ours(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return &os.PathError{Op: "lstat", Path: dir, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		return fmt.Errorf("%q is not a folder that only its owner, this user, can write", dir)
	}
	return nil
}

// ownFile tells whether a file in such a folder is one that we wrote.
func ownFile(h host.Host, st host.Info) bool {
	return st.UID == h.User.UID && st.Nlink <= 1 && st.Mode.Perm()&0o077 == 0
}

func restoreFor(to, from string) string { return restoreCommand(to, from) }

// openFolder opens a folder part by part, so that a link anywhere on the way is an error.
func openFolder(path string) (int, error) {
	fd, err := unix.Open("/", folderFlags, 0)
	if err != nil {
		return -1, err
	}
	for _, part := range strings.Split(strings.Trim(path, "/"), "/") {
		if part == "" {
			continue
		}
		next, err := openAt(fd, part)
		_ = unix.Close(fd)
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: path, Err: err}
		}
		fd = next
	}
	return fd, nil
}

func openAt(fd int, name string) (int, error) {
	for {
		next, err := unix.Openat(fd, name, folderFlags, 0)
		if err != unix.EINTR {
			return next, err
		}
	}
}

// moveOut moves m.From to m.To, whose name is free. When that is on another file
// system the entry is first renamed where it is, which takes its dangerous name away
// at once, and then copied and removed.
func moveOut(m *Moved) error {
	from, err := openFolder(filepath.Dir(m.From))
	if err != nil {
		return err
	}
	defer unix.Close(from)
	to, err := openFolder(filepath.Dir(m.To))
	if err != nil {
		return err
	}
	defer unix.Close(to)
	name, dest := filepath.Base(m.From), filepath.Base(m.To)
	err = rename(from, name, to, dest)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		restore := loosen(from, name)
		err = rename(from, name, to, dest)
		if errors.Is(err, unix.EXDEV) {
			err = moveFar(m, from, name, to, dest)
		}
		restore()
		return wrap(m, err)
	}
	if errors.Is(err, unix.EXDEV) {
		err = moveFar(m, from, name, to, dest)
	}
	return wrap(m, err)
}

func wrap(m *Moved, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: "move", Path: m.From, Err: err}
}

// moveFar copies to another file system. What cannot be copied within the bounds
// stays under a name that runs nothing.
func moveFar(m *Moved, from int, name string, to int, dest string) error {
	inert := ".qsandbox-moved-" + filepath.Base(filepath.Dir(m.To)) + "-" + dest
	inert = inert[:min(len(inert), 200)]
	if err := rename(from, name, from, inert); err != nil {
		return err
	}
	c := &copier{bytes: copyBytes, entries: copyEntries}
	if err := c.entry(from, inert, to, dest, copyDepth); err != nil {
		c.remove(to, dest, copyDepth)
		m.To, m.InPlace = join(filepath.Dir(m.From), inert), true
		return nil
	}
	c.remove(from, inert, copyDepth)
	return nil
}

// loosen lets us rename in a folder, and a folder itself, whose mode keeps us out
// although they are ours; the result sets the folder's mode back.
func loosen(dir int, name string) (restore func()) {
	var st unix.Stat_t
	restore = func() {}
	if unix.Fstat(dir, &st) == nil && chmodFd(dir, uint32(st.Mode)&0o7777|0o300) == nil {
		mode := uint32(st.Mode) & 0o7777
		restore = func() { _ = chmodFd(dir, mode) }
	}
	if fd, err := openAt(dir, name); err == nil { // a folder: its ".." is written
		if unix.Fstat(fd, &st) == nil {
			_ = chmodFd(fd, uint32(st.Mode)&0o7777|0o700)
		}
		_ = unix.Close(fd)
	}
	return restore
}
