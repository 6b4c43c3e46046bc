//go:build unix

package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writeOutside writes a file in a place that a sandboxed command may control.
//
// SECURITY: it follows no link and does not block on a FIFO; the type is checked
// on the descriptor (FS-10).
func writeOutside(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		if path == os.DevNull || path == "/dev/stdout" || path == "/dev/stderr" {
			_, err = f.Write(data)
			return err
		}
		return errors.New("not a regular file")
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Close()
}
