package probe

import "golang.org/x/sys/unix"

// attempts lists every probe.
func attempts() []attempt {
	var out []attempt
	for _, part := range [][]attempt{namespaces(), mounts(), processes(), signals(), kernel(), privileges(), files(), terminals(), sockets(), architecture()} {
		out = append(out, part...)
	}
	return out
}

// call makes a system call with numbers. reached are errors that the kernel gives
// only to those whom it would have let in.
func call(nr uintptr, args [6]uintptr, reached ...unix.Errno) error {
	_, _, errno := unix.Syscall6(nr, args[0], args[1], args[2], args[3], args[4], args[5])
	if errno == 0 {
		return nil
	}
	for _, r := range reached {
		if errno == r {
			return nil
		}
	}
	return errno
}

// num makes a probe of one call without arguments of the user's.
func num(name, what string, nr uintptr, args [6]uintptr, reached ...unix.Errno) attempt {
	return attempt{name: name, what: what, do: func([]string) error { return call(nr, args, reached...) }}
}

// all is every bit: no kernel takes it for flags.
const all = ^uintptr(0)
