package cell

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// etcFile is an entry of the host's /etc.
type etcFile struct {
	link string
	data []byte
	mode os.FileMode
}

// readEtc reads the files and links at the top of /etc: the cell has copies, so that
// an attempt on them can be seen to work. Directories below are shown read-only.
func (b *builder) readEtc() map[string]etcFile {
	out := map[string]etcFile{}
	entries, err := os.ReadDir("/etc")
	b.check(err)
	for _, e := range entries {
		path := "/etc/" + e.Name()
		info, err := e.Info()
		switch {
		case err != nil:
		case info.IsDir():
			b.take(path, true)
		case info.Mode()&os.ModeSymlink != 0:
			if to, err := os.Readlink(path); err == nil {
				out[path] = etcFile{link: to}
			}
		case info.Mode().IsRegular() && info.Size() < 256<<10 && info.Mode()&0o004 != 0:
			if data, err := os.ReadFile(path); err == nil {
				out[path] = etcFile{data: data, mode: info.Mode().Perm()}
			}
		}
	}
	return out
}

func (b *builder) etc(files map[string]etcFile) {
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := files[path]
		if f.link == "" {
			b.file(root+path, f.data, f.mode)
			continue
		}
		b.check(mkdir(filepath.Dir(root+path), 0o755))
		b.check(os.Symlink(f.link, root+path))
	}
}

// devices makes a /dev of the cell's own around the nodes that were taken.
func (b *builder) devices() {
	const dev = root + "/dev"
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx"} {
		b.check(os.Symlink(to, dev+"/"+name))
	}
	b.check(mkdir(dev+"/shm", 0o1777))
	b.check(mkdir(dev+"/pts", 0o755))
	b.check(unix.Mount("devpts", dev+"/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"))
}

// sights are devices that are only looked at. The cell's people own nothing
// outside, so a node that is not everybody's to write cannot be written.
func (b *builder) sights() {
	nodes, _ := filepath.Glob("/dev/*")
	block := false
	for _, path := range nodes {
		var st unix.Stat_t
		if unix.Lstat(path, &st) != nil || st.Mode&0o002 != 0 {
			continue
		}
		isBlock := st.Mode&unix.S_IFMT == unix.S_IFBLK
		if path == "/dev/kmsg" || path == "/dev/mem" || isBlock && !block {
			block = block || isBlock
			b.take(path, true)
		}
	}
}

// settings are files of /proc over which a cell has harmless ones.
var settings = []string{
	"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger", "/proc/kcore",
}

// decoys puts the command's own files over settings.
func (b *builder) decoys() {
	irq, _ := filepath.Glob(root + "/proc/irq/*/smp_affinity")
	for i, path := range irq {
		if irq[i] = path[len(root):]; i > 0 {
			irq = irq[:1]
			break
		}
	}
	b.check(mkdir(root+"/run/decoys", 0o755))
	for _, name := range []string{"shadow", "gshadow"} {
		b.file(root+"/etc/"+name, []byte("root:decoy\n"), 0o640)
	}
	for _, path := range append(slices.Clone(settings), irq...) {
		if _, err := os.Lstat(root + path); err != nil {
			continue
		}
		decoy := root + "/run/decoys/" + filepath.Base(path)
		b.file(decoy, []byte("0\n"), 0o644)
		b.check(unix.Mount(decoy, root+path, "", unix.MS_BIND, ""))
	}
}

// loopback brings the cell's loopback up.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}

func sorted(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }
