package host

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"sync"
)

// Real gives the machine at hand.
func Real() Host {
	h := Host{
		GOOS:     runtime.GOOS,
		GOARCH:   runtime.GOARCH,
		User:     currentUser(),
		Lookup:   os.LookupEnv,
		Environ:  os.Environ,
		Getwd:    os.Getwd,
		Stat:     stat,
		Lstat:    lstat,
		Exists:   exists,
		Readlink: os.Readlink,
		RealPath: realPath,
		ReadDir:  readDir,
		Names:    names,
		ReadFile: readFile,
		Writable: writable,
		UserByID: lookupUser,
		Sockets:  unixSockets,
		Kernel:   sync.OnceValue(readKernel),
		Cgroup:   sync.OnceValue(readCgroups),
		Within:   within,
	}
	return h
}

// readDir lists without sorting: os.ReadDir sorts, which costs on large trees.
func readDir(path string) ([]fs.DirEntry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// tooLarge and notRegular are why a file is not read.
var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("larger than allowed")
)

// names lists a directory's entries by name alone.
func names(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
