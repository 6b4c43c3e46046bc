package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// reach opens what the orders on in name, reads and writes nothing, and answers on out.
//
// A file is opened for writing without being cut. In a folder a file without a name is
// made, which is gone when it is closed (O_TMPFILE, open(2)).
func reach(in io.Reader, out, msg io.Writer) int {
	var orders []Order
	if err := json.NewDecoder(in).Decode(&orders); err != nil {
		fmt.Fprintln(msg, "probe: reach wants a list of orders:", err)
		return Usage
	}
	answers := make([]Reached, len(orders))
	for i, o := range orders {
		answers[i] = o.reach()
	}
	if json.NewEncoder(out).Encode(answers) != nil {
		return Usage
	}
	return Worked
}

func (o Order) reach() (r Reached) {
	const flags = unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	path := string(o.Path)
	how := unix.O_RDONLY
	switch {
	case o.Write && o.Dir:
		how = unix.O_WRONLY | unix.O_TMPFILE
	case o.Write:
		how = unix.O_WRONLY
	}
	fd, err := unix.Open(path, how|flags, 0o600)
	if err != nil {
		r.Err, r.Unsure = err.Error(), !firm(err)
		return r
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if o.Write && o.Dir {
		err = unix.Stat(path, &st)
	} else {
		err = unix.Fstat(fd, &st)
	}
	if err == nil && o.Dir && !o.Write {
		_, err = unix.Getdents(fd, make([]byte, 4096))
	}
	if err != nil {
		r.Err, r.Unsure = err.Error(), !firm(err)
		return r
	}
	r.OK, r.Dev, r.Ino = true, uint64(st.Dev), st.Ino
	return r
}

// firm tells a denial from a failure that says nothing, such as a file system without
// files that have no name.
func firm(err error) bool {
	for _, e := range []unix.Errno{unix.EACCES, unix.EPERM, unix.EROFS, unix.ENOENT, unix.ENOTDIR, unix.ELOOP} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
