package protect

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stampOf gives the state of an entry from what lstat said.
func stampOf(_ string, fi fs.FileInfo) Stamp {
	s := Stamp{Size: fi.Size(), Type: uint32(fi.Mode().Type()), Changed: fi.ModTime().UnixNano()}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		s.Dev, s.Ino, s.Changed = uint64(st.Dev), st.Ino, st.Ctim.Nano()
	}
	return s
}

// linksOf gives the number of names of a file, 0 for what is none.
func linksOf(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && fi.Mode().IsRegular() {
		return uint64(st.Nlink)
	}
	return 0
}

// now reads the clock that the kernel stamps files with. It ticks some milliseconds
// behind the precise one, which would make a new file look old.
func now() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts) != nil {
		return time.Now().Add(-20 * time.Millisecond).UnixNano()
	}
	return ts.Nano()
}
