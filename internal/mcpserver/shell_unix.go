//go:build !windows

package mcpserver

// shells: bash, and where there is none the shell that POSIX has everywhere.
func shells() [][]string { return [][]string{{"bash", "-c"}, {"sh", "-c"}} }
