package cell

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// system are the directories of the host that every cell shows.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu", "/sys"}

// root is where the cell's root is put together; it is in the cell's namespace alone.
const root = "/tmp"

// size is how much a cell can hold, in bytes; an odd number of pages, by which it is known.
const size = 16381 * 4096

// builder puts a cell's tree together.
type builder struct {
	s     Spec
	trees map[string]int // a path of the cell -> a detached mount
	err   error
}

// build makes the tree and goes into it.
func build(s Spec) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make the mounts private: %w", err)
	}
	b := &builder{s: s, trees: map[string]int{}}
	links := b.collect()
	etc := b.readEtc()
	b.tmpfs(root, fmt.Sprintf("mode=0755,size=%d", size))
	for name, to := range links {
		b.check(os.Symlink(to, root+name))
	}
	b.own()
	for _, path := range sorted(b.trees) {
		b.attach(path)
	}
	b.etc(etc)
	b.devices()
	b.check(mkdir(root+"/proc", 0o755))
	b.check(unix.Mount("proc", root+"/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""))
	if s.Decoys {
		b.decoys()
	}
	if b.err != nil {
		return b.err
	}
	return enter()
}

// check keeps the first error.
func (b *builder) check(err error) {
	if b.err == nil {
		b.err = err
	}
}

// collect takes copies of the host's mounts before anything covers them, and gives
// the links among the system's directories.
func (b *builder) collect() map[string]string {
	links := map[string]string{}
	for _, path := range system {
		if to, err := os.Readlink(path); err == nil {
			links[path] = to
		} else if _, err := os.Stat(path); err == nil {
			b.take(path, true)
		}
	}
	for _, path := range b.s.Show {
		b.take(path, true)
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		b.take("/dev/"+name, false)
	}
	if b.s.Users == Mapped && b.s.Decoys {
		b.sights()
	}
	return links
}

// take clones a mount, read-only all the way down.
func (b *builder) take(path string, readOnly bool) {
	if b.err != nil {
		return
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		b.check(fmt.Errorf("take %q: %w", path, err))
		return
	}
	// SECURITY: nothing of the host can be written by name.
	if readOnly {
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
			b.check(fmt.Errorf("make %q read-only: %w", path, err))
		}
	}
	b.trees[path] = fd
}

// attach puts a taken mount at its path in the cell.
func (b *builder) attach(path string) {
	fd := b.trees[path]
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		b.check(err)
		return
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		b.check(mkdir(root+path, 0o755))
	} else {
		b.file(root+path, nil, 0o644)
	}
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, root+path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		b.check(fmt.Errorf("show %q: %w", path, err))
	}
	unix.Close(fd)
}

// own makes the directories that are the cell's.
func (b *builder) own() {
	for name, mode := range map[string]os.FileMode{"/tmp": 0o1777, "/var/tmp": 0o1777, "/run": 0o755, "/home": 0o755, "/root": 0o700, "/var/lib": 0o755, "/mnt": 0o755, "/dev": 0o755, "/etc": 0o755} {
		b.check(mkdir(root+name, mode))
	}
	b.check(os.Symlink("/run", root+"/var/run"))
	b.check(mkdir(root+b.s.Dir, 0o755))
}

func (b *builder) tmpfs(path, options string) {
	if err := unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID, options); err != nil {
		b.check(fmt.Errorf("mount a tmpfs: %w", err))
	}
}

func (b *builder) file(path string, data []byte, mode os.FileMode) {
	if err := mkdir(filepath.Dir(path), 0o755); err != nil {
		b.check(err)
		return
	}
	b.check(os.WriteFile(path, data, mode))
}

// enter makes the tree the root, and lets go of the host's.
func enter() error {
	const old = root + "/.old"
	if err := mkdir(old, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(root, old); err != nil {
		return fmt.Errorf("enter the cell: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Unmount("/.old", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the host's files: %w", err)
	}
	if err := os.Remove("/.old"); err != nil {
		return err
	}
	_ = unix.Sethostname([]byte("cell"))
	return loopback()
}

// mkdir makes a directory and those above it, with a mode that no mask changes.
func mkdir(path string, mode os.FileMode) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return os.Chmod(path, mode.Perm()|sticky(mode))
}

func sticky(mode os.FileMode) os.FileMode {
	if mode&0o1000 != 0 {
		return os.ModeSticky
	}
	return 0
}
