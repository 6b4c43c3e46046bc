package host

import (
	"errors"
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

// tooLarge and notRegular are why a file is not read.
var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("larger than allowed")
)
