package main

import (
	"errors"
	"os"
)

// writeOutside writes a file in a place that a sandboxed command may control.
func writeOutside(path string, data []byte) error {
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	return os.WriteFile(path, data, 0o600)
}
