package protect

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// pointerMax bounds .git files, commondir and gitdir: one path each.
const pointerMax = 16 << 10

// readPointer gives what a .git file names (setup.c: read_gitfile_gently).
func readPointer(h host.Host, path string) (string, error) {
	data, err := h.ReadFile(path, pointerMax)
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(string(data), "gitdir: ")
	if name = strings.TrimRight(name, "\r\n"); !ok || name == "" || strings.IndexByte(name, 0) >= 0 {
		return "", errors.New("it is not a .git file")
	}
	return name, nil
}

// readLine gives the path that commondir or gitdir holds.
func readLine(h host.Host, path string) (string, error) {
	data, err := h.ReadFile(path, pointerMax)
	if err != nil {
		return "", err
	}
	line := strings.TrimRight(string(data), "\r\n")
	if line == "" || strings.IndexByte(line, 0) >= 0 {
		return "", errors.New("it names no path")
	}
	return line, nil
}

// absolute takes a path of a git file from the folder it is relative to. It is not
// cleaned: "link/../x" is not "x", and RealPath goes part by part as the kernel does.
func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return join(dir, name)
}

// reason gives the cause of an error without the path, which comes from inside and
// may hold anything.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
