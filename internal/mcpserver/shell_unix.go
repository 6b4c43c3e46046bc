//go:build !windows

package mcpserver

func shells() [][]string { return unixShells() }
