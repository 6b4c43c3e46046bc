package main

import (
	"os"
	"strconv"
	"strings"
)

// outside is a file of ours in a place that a sandboxed command may control. It
// is opened in two steps: the directory before the command runs, so that a bad
// place is an error before anything ran, and the file itself when there is
// something to write.
//
// SECURITY: no link is followed as the last part, a FIFO does not block, and the
// type is checked on the descriptor (FS-10).
type outside struct {
	base string
	//lint:ignore U1000 Windows opens by path
	dir *os.File // the directory as it was before the command ran
	//lint:ignore U1000 Windows has no such paths
	stream *os.File // one of the caller's own descriptors instead
	//lint:ignore U1000 Windows opens by path
	links []string // directories that hold the links on the way to dir
}

// stream gives the caller's own descriptor behind a path such as /dev/stdout or
// the /dev/fd/63 of a shell's >(…); nil for any other path.
//
//lint:ignore U1000 Windows has no such paths
func stream(path string) *os.File {
	switch path {
	case "/dev/stdout":
		return os.Stdout
	case "/dev/stderr":
		return os.Stderr
	}
	if n, ok := strings.CutPrefix(path, "/dev/fd/"); ok {
		if fd, err := strconv.ParseUint(n, 10, 16); err == nil {
			return os.NewFile(uintptr(fd), path)
		}
	}
	return nil
}
