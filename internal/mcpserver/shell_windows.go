package mcpserver

import "os"

func shells() [][]string {
	return windowsShells(os.Getenv, func(p string) bool {
		st, err := os.Stat(p)
		return err == nil && st.Mode().IsRegular()
	})
}
