//go:build !linux && !windows

package host

import (
	"io/fs"
	"os"
)

// readDir lists without sorting: os.ReadDir sorts, which costs on large trees.
func readDir(path string) ([]fs.DirEntry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// names lists a directory's entries by name alone.
func names(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
