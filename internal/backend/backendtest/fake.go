package backendtest

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// Machine is a machine in memory: paths with what stands there. A value that
// starts with "->" is a link, one that ends with "/" a directory, "socket" a
// socket; "!" in front makes it executable. Directories above are there too.
type Machine map[string]string

// Host gives the machine as a host of an ordinary user, dev, with /home/dev.
func (m Machine) Host() host.Host {
	h := host.Host{
		GOOS: "linux", GOARCH: "amd64", User: host.User{UID: 1000, GID: 1000, Groups: []int{1000}, Name: "dev", Home: "/home/dev", Shell: "/bin/sh"},
		Environ: func() []string { return []string{"HOME=/home/dev", "PATH=/usr/bin:/bin"} },
		Getwd:   func() (string, error) { return "/home/dev/ws", nil },
		Exists:  func(p string) bool { _, err := m.lstat(p); return err == nil },
		Lstat:   m.lstat, Stat: m.stat, Readlink: m.readlink, RealPath: m.realPath, ReadDir: m.readDir,
		ReadFile: func(p string, _ int) ([]byte, error) {
			return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
		},
		Writable: func(string) bool { return true },
		UserByID: func(string) (host.User, error) { return host.User{}, fs.ErrNotExist },
		Sockets:  func() ([]string, error) { return nil, nil },
		Kernel: func() host.Kernel {
			return host.Kernel{Release: "6.18", LandlockABI: 7, Seccomp: true, Notify: true, UserNS: host.Yes, PidMaxNS: true}
		},
		Cgroup: func() host.CgroupState { return host.CgroupState{} },
		Within: func(_ time.Duration, f func() error) error { return f() },
		Names: func(p string) ([]string, error) {
			list, err := m.readDir(p)
			var out []string
			for _, e := range list {
				out = append(out, e.Name())
			}
			return out, err
		},
	}
	h.Lookup = func(key string) (string, bool) {
		for _, kv := range h.Environ() {
			if v, ok := strings.CutPrefix(kv, key+"="); ok {
				return v, true
			}
		}
		return "", false
	}
	return h
}

// at gives what stands at a clean path, links not followed anywhere.
func (m Machine) at(p string) (string, bool) {
	if v, ok := m[p]; ok {
		return v, true
	}
	for k := range m {
		if p == "/" || strings.HasPrefix(k, p+"/") {
			return "/", true
		}
	}
	return "", false
}

// walk follows links; without last, not that of the last part.
func (m Machine) walk(p string, last bool) (string, error) {
	parts := strings.Split(strings.Trim(path.Clean(p), "/"), "/")
	cur := "/"
	for hops := 0; len(parts) > 0; {
		name := parts[0]
		parts = parts[1:]
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			cur = path.Dir(cur)
			continue
		}
		next := path.Join(cur, name)
		v, ok := m.at(next)
		if !ok {
			return "", &fs.PathError{Op: "lstat", Path: next, Err: fs.ErrNotExist}
		}
		if target, link := strings.CutPrefix(v, "->"); link && (len(parts) > 0 || last) {
			if hops++; hops > 40 {
				return "", &fs.PathError{Op: "lstat", Path: next, Err: os.ErrInvalid}
			}
			if path.IsAbs(target) {
				cur = "/"
			}
			parts = append(strings.Split(strings.Trim(target, "/"), "/"), parts...)
			continue
		}
		cur = next
	}
	return cur, nil
}

func (m Machine) realPath(p string) (string, error) { return m.walk(p, true) }

func (m Machine) lstat(p string) (host.Info, error) {
	real, err := m.walk(p, false)
	if err != nil {
		return host.Info{}, err
	}
	return m.info(real), nil
}

func (m Machine) stat(p string) (host.Info, error) {
	real, err := m.walk(p, true)
	if err != nil {
		return host.Info{}, err
	}
	return m.info(real), nil
}

func (m Machine) readlink(p string) (string, error) {
	real, err := m.walk(p, false)
	if err != nil {
		return "", err
	}
	v, _ := m.at(real)
	if t, ok := strings.CutPrefix(v, "->"); ok {
		return t, nil
	}
	return "", &fs.PathError{Op: "readlink", Path: p, Err: os.ErrInvalid}
}

func (m Machine) info(p string) host.Info {
	v, _ := m.at(p)
	i := host.Info{Dev: 1, Ino: inode(p), UID: 1000, Nlink: 1, Mode: 0o644}
	switch {
	case strings.HasPrefix(v, "->"):
		i.Mode = fs.ModeSymlink | 0o777
	case strings.HasSuffix(v, "/"):
		i.Mode = fs.ModeDir | 0o755
	case v == "socket":
		i.Mode = fs.ModeSocket | 0o755
	case strings.HasPrefix(v, "!"):
		i.Mode = 0o755
	}
	return i
}

// inode makes a number of a path (FNV-1a).
func inode(p string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(p) {
		h = (h ^ uint64(p[i])) * 1099511628211
	}
	return h >> 1
}

func (m Machine) readDir(p string) ([]fs.DirEntry, error) {
	real, err := m.walk(p, true)
	if err != nil {
		return nil, err
	}
	var names []string
	prefix := strings.TrimSuffix(real, "/") + "/"
	for k := range m {
		rest, ok := strings.CutPrefix(k, prefix)
		if !ok || rest == "" {
			continue
		}
		name, _, _ := strings.Cut(rest, "/")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	var out []fs.DirEntry
	for _, n := range names {
		out = append(out, entry{n, m.info(prefix + n).Mode})
	}
	return out, nil
}

type entry struct {
	name string
	mode fs.FileMode
}

func (e entry) Name() string               { return e.name }
func (e entry) IsDir() bool                { return e.mode.IsDir() }
func (e entry) Type() fs.FileMode          { return e.mode.Type() }
func (e entry) Info() (fs.FileInfo, error) { return info(e), nil }

// info is an entry as a FileInfo.
type info entry

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return 0 }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
