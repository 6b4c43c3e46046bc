package keeper

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rssUnit is what ru_maxrss counts in: bytes on macOS (getrusage(2)); KiB are wanted.
const rssUnit = 1024

// processes asks for the processes of this user (sysctl(3), KERN_PROC_UID). The
// command may not change its user: setuid programs cannot be executed in a sandbox.
func processes() ([]proc, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	if err != nil {
		return nil, err
	}
	out := make([]proc, 0, len(list))
	for i := range list {
		k := &list[i]
		out = append(out, proc{
			pid: int(k.Proc.P_pid), ppid: int(k.Eproc.Ppid), pgid: int(k.Eproc.Pgid),
			start: fmt.Sprintf("%d.%06d", k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec),
			gone:  k.Proc.P_stat == zombie, name: unix.ByteSliceToString(k.Proc.P_comm[:]),
		})
	}
	return out, nil
}

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// watch looks at the process list whenever one of the tree forks, so that a child
// is seen before it can leave its parent (kqueue(2), NOTE_FORK). NOTE_TRACK, which
// would follow children by itself, has not worked since macOS 10.5.
func watch(t *tree, root int) (stop func()) {
	kq, err := unix.Kqueue()
	if err != nil {
		return func() {}
	}
	unix.CloseOnExec(kq)
	watched := map[int]bool{}
	add := func(pid int) {
		if watched[pid] {
			return
		}
		watched[pid] = true
		change := []unix.Kevent_t{{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_CLEAR, Fflags: unix.NOTE_FORK | unix.NOTE_EXIT}}
		_, _ = unix.Kevent(kq, change, nil, nil)
	}
	add(root)
	go func() {
		events := make([]unix.Kevent_t, 64)
		for {
			n, err := unix.Kevent(kq, nil, events, nil)
			if err == unix.EINTR {
				continue
			}
			if err != nil {
				return
			}
			for _, e := range events[:n] {
				if e.Fflags&unix.NOTE_EXIT != 0 {
					delete(watched, int(e.Ident))
				}
			}
			for _, p := range t.look() {
				add(p.pid)
			}
		}
	}()
	return func() { unix.Close(kq) }
}

// waitEnd waits until a child has ended and does not take its number: NOTE_EXIT.
func waitEnd(pid int) {
	kq, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(kq)
	unix.CloseOnExec(kq)
	change := []unix.Kevent_t{{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}}
	events := make([]unix.Kevent_t, 1)
	second := unix.Timespec{Sec: 1} // in case it ended before it was asked for
	_, _ = unix.Kevent(kq, change, events, &second)
}

// openPTY opens a terminal: posix_openpt, grantpt, unlockpt and ptsname are these
// controls of /dev/ptmx (ptmx(4)).
func openPTY(rows, cols uint16) (master, slave *os.File, name string, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, "", err
	}
	var buf [128]byte // of TIOCPTYGNAME
	for _, req := range []struct {
		num uint
		arg unsafe.Pointer
	}{{unix.TIOCPTYGRANT, nil}, {unix.TIOCPTYUNLK, nil}, {unix.TIOCPTYGNAME, unsafe.Pointer(&buf[0])}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), uintptr(req.num), uintptr(req.arg)); errno != 0 {
			unix.Close(fd)
			return nil, nil, "", errno
		}
	}
	name = unix.ByteSliceToString(buf[:])
	return finishPTY(fd, name, rows, cols)
}

// dup2 as POSIX has it.
func dup2(from, to int) error { return unix.Dup2(from, to) }
