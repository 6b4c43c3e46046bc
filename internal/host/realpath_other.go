//go:build !darwin && !windows && !linux

package host

import "path/filepath"

// realPath follows links.
func realPath(path string) (string, error) { return filepath.EvalSymlinks(path) }
