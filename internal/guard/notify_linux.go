//go:build amd64 || arm64

package guard

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification is struct seccomp_notif (include/uapi/linux/seccomp.h). A later
// kernel may have a longer one: the buffer has the size that the kernel names.
type notification struct {
	ID    uint64
	PID   uint32 // thread id, in the pid namespace of who receives
	Flags uint32
	Nr    int32
	Arch  uint32
	IP    uint64
	Args  [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	ID    uint64
	Val   int64
	Error int32
	Flags uint32
}

// addFD is struct seccomp_notif_addfd.
type addFD struct {
	ID         uint64
	Flags      uint32
	SrcFD      uint32
	NewFD      uint32
	NewFDFlags uint32
}

// notifSizes is struct seccomp_notif_sizes.
type notifSizes struct{ Notif, Resp, Data uint16 }

var errSizes = errors.New("guard: the kernel's notifications are shorter than ours")

// bufferSizes asks how long the kernel's structs are.
func bufferSizes() (notif, resp int, err error) {
	var s notifSizes
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_NOTIF_SIZES, 0, uintptr(unsafe.Pointer(&s)))
	if e != 0 {
		return 0, 0, e
	}
	if int(s.Notif) < int(unsafe.Sizeof(notification{})) || int(s.Resp) < int(unsafe.Sizeof(response{})) {
		return 0, 0, errSizes
	}
	return int(s.Notif), int(s.Resp), nil
}

// receive waits for a notification.
func receive(listener int, buf []uint64) (*notification, unix.Errno) {
	clear(buf) // the kernel refuses a buffer that is not zero
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&buf[0])))
	return (*notification)(unsafe.Pointer(&buf[0])), e
}

// valid tells whether the caller still waits: what was read under its pid was its own.
func valid(listener int, id uint64) bool {
	for {
		_, _, e := unix.RawSyscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_ID_VALID, uintptr(unsafe.Pointer(&id)))
		if e != unix.EINTR {
			return e == 0
		}
	}
}

// answer lets the caller go on with an error, or with 0. A caller that is gone is
// no matter: what was done cannot be undone.
func answer(listener int, buf []uint64, id uint64, e unix.Errno) {
	reply(listener, buf, id, 0, e)
}

func reply(listener int, buf []uint64, id uint64, value int64, e unix.Errno) {
	clear(buf)
	r := (*response)(unsafe.Pointer(&buf[0]))
	r.ID, r.Val, r.Error = id, value, -int32(e)
	for again := unix.EINTR; again == unix.EINTR; {
		_, _, again = unix.RawSyscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(r)))
	}
}

// deliver puts our descriptor into the caller's table, closes it here, and lets the
// caller go on with the new number. The caller's own limit on open files holds.
//
// One call could do both (SECCOMP_ADDFD_FLAG_SEND), but then the caller goes on while
// we hold the file open, too: a program that it writes and starts at once would get
// ETXTBSY (execve(2)). So that is for descriptors that cannot write, and, with a nil
// buf, for an open that somebody else may answer meanwhile.
func deliver(listener int, buf []uint64, id uint64, fd int, flags int) unix.Errno {
	a := addFD{ID: id, SrcFD: uint32(fd), NewFDFlags: uint32(flags & unix.O_CLOEXEC)}
	writes := buf != nil && flags&unix.O_PATH == 0 && flags&unix.O_ACCMODE != unix.O_RDONLY
	if !writes {
		a.Flags = unix.SECCOMP_ADDFD_FLAG_SEND
	}
	n, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_ADDFD, uintptr(unsafe.Pointer(&a)))
	unix.Close(fd)
	if e == 0 && writes {
		reply(listener, buf, id, int64(n), 0)
	}
	return e
}

// syncWakeUp asks that the caller's processor is handed to the worker and back,
// which makes a call some twenty times cheaper (Linux 6.6); older kernels refuse.
func syncWakeUp(listener int) {
	unix.RawSyscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
}
