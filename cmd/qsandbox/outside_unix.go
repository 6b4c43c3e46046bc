//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

var errNotRegular = errors.New("not a regular file")

// openOutside looks at the place of a file that will be written later; nil for no path.
func openOutside(path string) (*outside, error) {
	if path == "" {
		return nil, nil
	}
	if f := stream(path); f != nil {
		return &outside{stream: f}, nil
	}
	if path[len(path)-1] == '/' {
		return nil, unix.EISDIR
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	o := &outside{base: filepath.Base(abs), links: linksTo(filepath.Dir(abs))}
	fd, err := unix.Open(filepath.Dir(abs), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	o.dir = os.NewFile(uintptr(fd), filepath.Dir(abs))
	return o, o.check()
}

// check tells beforehand whether the file can be written.
func (o *outside) check() error {
	var st unix.Stat_t
	fd := int(o.dir.Fd())
	err := unix.Fstatat(fd, o.base, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case err == unix.ENOENT:
		return unix.Faccessat(fd, ".", unix.W_OK, 0)
	case err != nil:
		return err
	case st.Mode&unix.S_IFMT != unix.S_IFREG && !o.isNull():
		return errNotRegular
	}
	return unix.Faccessat(fd, o.base, unix.W_OK, 0)
}

func (o *outside) isNull() bool { return filepath.Join(o.dir.Name(), o.base) == os.DevNull }

// write replaces what the file holds. workspace is where the command could write.
func (o *outside) write(data []byte, workspace string) error {
	if o == nil {
		return nil
	}
	if o.stream != nil {
		_, err := o.stream.Write(data)
		return err
	}
	for _, l := range o.links {
		if within(workspace, l) {
			return fmt.Errorf("the way there goes through a link in %q, which is in the workspace", l)
		}
	}
	fd, err := unix.Openat(int(o.dir.Fd()), o.base, unix.O_WRONLY|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), o.base)
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() && !o.isNull() {
		return errors.Join(err, errNotRegular)
	}
	if !o.isNull() {
		if err := f.Truncate(0); err != nil {
			return err
		}
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Close()
}

// close gives the directory back.
func (o *outside) close() {
	if o != nil && o.dir != nil {
		o.dir.Close()
	}
}

// linksTo gives the real directories of the links that the path of a directory goes through.
func linksTo(dir string) []string {
	var out []string
	for p := dir; p != filepath.Dir(p); p = filepath.Dir(p) {
		st, err := os.Lstat(p)
		if err != nil || st.Mode()&os.ModeSymlink == 0 {
			continue
		}
		if real, err := filepath.EvalSymlinks(filepath.Dir(p)); err == nil {
			out = append(out, real)
		}
	}
	return out
}

// within tells whether path is dir or lies below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
