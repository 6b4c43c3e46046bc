package host

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A run lists a dozen directories, and most of what os.ReadDir does for each is
// not needed: it tries to register the descriptor with the poller, asks for its
// status and makes several allocations an entry. Here a listing is one open, the
// getdents64(2) calls and one close.

// entry is one name of a listing.
type entry struct {
	dir, name string
	kind      fs.FileMode // type bits
}

func (e *entry) Name() string               { return e.name }
func (e *entry) IsDir() bool                { return e.kind.IsDir() }
func (e *entry) Type() fs.FileMode          { return e.kind }
func (e *entry) Info() (fs.FileInfo, error) { return os.Lstat(e.dir + "/" + e.name) }

// readDir lists without sorting: os.ReadDir sorts, which costs on large trees.
func readDir(path string) ([]fs.DirEntry, error) {
	var found []entry
	err := eachName(path, func(kind byte, name string) {
		e := entry{dir: path, name: name, kind: direntType(kind)}
		if kind == unix.DT_UNKNOWN { // not every file system tells (readdir(3))
			info, err := lstat(path + "/" + name)
			if err != nil {
				return // gone again
			}
			e.kind = info.Mode.Type()
		}
		if found == nil {
			found = make([]entry, 0, 32)
		}
		found = append(found, e)
	})
	if err != nil {
		return nil, err
	}
	out := make([]fs.DirEntry, len(found))
	for i := range found {
		out[i] = &found[i]
	}
	return out, nil
}

// names lists a directory's entries by name alone.
func names(path string) ([]string, error) {
	var out []string
	err := eachName(path, func(_ byte, name string) {
		if out == nil {
			out = make([]string, 0, 32)
		}
		out = append(out, name)
	})
	return out, err
}

func direntType(kind byte) fs.FileMode {
	switch kind {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_SOCK:
		return fs.ModeSocket
	case unix.DT_FIFO:
		return fs.ModeNamedPipe
	case unix.DT_BLK:
		return fs.ModeDevice
	case unix.DT_CHR:
		return fs.ModeDevice | fs.ModeCharDevice
	}
	return fs.ModeIrregular
}

// eachName calls f with every entry's type and name, without "." and "..".
// O_NONBLOCK keeps a FIFO or a device in a directory's place from blocking.
func eachName(path string, f func(kind byte, name string)) error {
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var room [8 << 10]byte
	for {
		n, err := ignoringEINTR(func() (int, error) { return unix.Getdents(fd, room[:]) })
		if err != nil {
			return &fs.PathError{Op: "list", Path: path, Err: err}
		}
		if n == 0 {
			return nil
		}
		eachRecord(room[:n], f)
	}
}

// direntName is where the name starts in struct linux_dirent64 (getdents64(2)).
const direntName = int(unsafe.Offsetof(unix.Dirent{}.Name))

func eachRecord(records []byte, f func(kind byte, name string)) {
	text := string(records) // the names share it: one allocation for all of them
	for at := 0; at+direntName < len(records); {
		d := (*unix.Dirent)(unsafe.Pointer(&records[at]))
		size := int(d.Reclen)
		if size <= direntName || at+size > len(records) {
			return // not a kernel that we know
		}
		from, to := at+direntName, at+size
		if end := bytes.IndexByte(records[from:to], 0); end >= 0 {
			to = from + end
		}
		if name := text[from:to]; name != "." && name != ".." && !strings.Contains(name, "/") {
			f(d.Type, name)
		}
		at += size
	}
}

func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
