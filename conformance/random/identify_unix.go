//go:build unix

package random

import (
	"os"
	"syscall"
)

func identify(path string) (ID, error) {
	info, err := os.Stat(path)
	if err != nil {
		return ID{}, err
	}
	st := info.Sys().(*syscall.Stat_t)
	return ID{uint64(st.Dev), st.Ino}, nil
}
