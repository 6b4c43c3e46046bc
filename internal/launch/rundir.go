//go:build darwin || linux

package launch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// runDir is what the launcher makes for one run where there is one file system for
// all (macOS): the profile and the private temporary directory (MAC-04, FS-01).
//
//	root/NAME.lock   held by the launcher as long as it lives
//	root/NAME/run    the profile, mode 0600
//	root/NAME/tmp    the command's TMPDIR
//
// The lock is the record of FS-07: the kernel lets go of it when the launcher is
// gone, however it went, and whoever gets it then may remove the rest. Numbers of
// processes, which come again, are not needed.
type runDir struct {
	dir, run, tmp string
	lock          *os.File
}

const lockEnd = ".lock"

// newRunDir makes a directory below root.
func newRunDir(root string) (*runDir, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(root) // rules name real paths
	if err == nil {
		err = ours(root)
	}
	if err != nil {
		return nil, err
	}
	lock, err := newLock(root)
	if err != nil {
		return nil, err
	}
	dir := strings.TrimSuffix(lock.Name(), lockEnd)
	d := &runDir{dir: dir, run: filepath.Join(dir, "run"), tmp: filepath.Join(dir, "tmp"), lock: lock}
	for _, p := range []string{d.dir, d.run, d.tmp} {
		if err := os.Mkdir(p, 0o700); err != nil {
			d.remove()
			return nil, err
		}
	}
	return d, nil
}

// ours checks that nobody else can put something into a directory.
//
// SECURITY: where it lies in a directory for all, another user may have been first.
func ours(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return err
	}
	if int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		return &fs.PathError{Op: "use", Path: dir, Err: errors.New("others than its user can write there")}
	}
	return nil
}

// newLock makes a lock and holds it. Between making and locking somebody who cleans
// up may have taken it for a dead one and removed it: then another one is made.
func newLock(root string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(root, "*"+lockEnd)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil && stillThere(f) {
			return f, nil
		}
		f.Close()
	}
}

func stillThere(f *os.File) bool {
	a, err := f.Stat()
	b, err2 := os.Lstat(f.Name())
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// write puts a profile into place.
func (d *runDir) write(profile string) (string, error) {
	path := filepath.Join(d.run, "profile.sb")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(profile)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return path, err
}

// remove takes everything away, the record last.
func (d *runDir) remove() {
	if d == nil {
		return
	}
	if removeTree(d.dir) == nil {
		_ = os.Remove(d.lock.Name())
	}
	d.lock.Close()
}

// reap removes what launchers left that are gone.
func reap(root string) {
	names, _ := os.ReadDir(root)
	for _, n := range names {
		if name, ok := strings.CutSuffix(n.Name(), lockEnd); ok && n.Type().IsRegular() {
			reapOne(filepath.Join(root, name))
		}
	}
}

func reapOne(dir string) {
	f, err := os.OpenFile(dir+lockEnd, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil || !stillThere(f) {
		return // it is alive, or somebody else was quicker
	}
	if removeTree(dir) == nil {
		_ = os.Remove(f.Name())
	}
}

// removeTree removes what a command made, also where it took its own rights away.
// Links are removed, never followed.
func removeTree(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if e == nil || e.Type()&fs.ModeSymlink != 0 {
			return nil
		}
		unlockFile(p)
		if e.IsDir() && err == nil {
			return os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
