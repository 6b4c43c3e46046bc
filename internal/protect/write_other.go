//go:build !linux

package protect

// writeWhole makes a file that appears with all of its content.
func writeWhole(_, path string, data []byte) error { return writeBeside(path, data) }
