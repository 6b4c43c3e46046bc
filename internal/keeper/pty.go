//go:build darwin || linux

package keeper

import (
	"os"

	"golang.org/x/sys/unix"
)

// finishPTY opens the other side of a terminal and sets its size.
func finishPTY(fd int, name string, rows, cols uint16) (master, slave *os.File, _ string, err error) {
	side, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(fd)
		return nil, nil, "", err
	}
	if rows > 0 {
		err = unix.IoctlSetWinsize(side, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	}
	if err == nil {
		err = unix.SetNonblock(fd, true) // reading it then holds no thread
	}
	if err != nil {
		unix.Close(fd)
		unix.Close(side)
		return nil, nil, "", err
	}
	return os.NewFile(uintptr(fd), "terminal"), os.NewFile(uintptr(side), name), name, nil
}
