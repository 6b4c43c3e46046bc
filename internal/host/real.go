package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
		Stat:     func(p string) (Info, error) { return toInfo(os.Stat(p)) },
		Lstat:    func(p string) (Info, error) { return toInfo(os.Lstat(p)) },
		Readlink: os.Readlink,
		RealPath: filepath.EvalSymlinks,
		ReadDir:  readDir,
		ReadFile: readFile,
		Writable: writable,
		UserByID: lookupUser,
		Sockets:  unixSockets,
		Kernel:   sync.OnceValue(readKernel),
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

// readFile reads a regular file of at most max bytes.
//
// SECURITY: the path may be in a place that a sandboxed command controls. The
// open does not follow a link in the last part and does not block on a FIFO;
// the type is checked on the descriptor, not on the path (FS-10).
func readFile(path string, max int) ([]byte, error) {
	f, err := openNoFollow(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(max)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > max {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d bytes", max)}
	}
	return data, nil
}
