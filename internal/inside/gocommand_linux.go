package inside

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// goCommand is the child of the Go init: it runs the program Command, which ends in an execve.
func goCommand() {
	begin()
	notDumpable()
	closeOnExecFrom(FDControl)
	m, err := mapBlob(FDBlob)
	if err != nil {
		die(Command, StepBlob, err)
	}
	unix.Close(FDBlob)
	defaultSignals()
	step, errno := m.run(Command)
	if errno == 0 {
		step, errno = StepReturn, unix.ENOEXEC
	}
	die(Command, step, errno)
}

// closeOnExecFrom marks all descriptors from first on; SECURITY: the command gets 0, 1, 2 and what its own program makes
// inheritable.
func closeOnExecFrom(first uint) {
	if unix.CloseRange(first, maxFD, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	for fd := int(first); fd < maxInherited; fd++ { // before Linux 5.11
		unix.CloseOnExec(fd)
	}
}

// defaultSignals gives every signal its default action, also those that the launcher's parent ignored (nohup), and
// empties the mask. The Go runtime loses its handlers by that; it has nothing left to do but the program.
func defaultSignals() {
	var zero [4]uint64 // struct sigaction of the kernel, at most 32 bytes
	for sig := uintptr(1); sig <= 64; sig++ {
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&zero)), 0, 8, 0, 0)
	}
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&zero)), 0, 8, 0, 0)
}

// rusageBytes is the kernel's struct as it is in memory.
func rusageBytes(u *unix.Rusage) (p [rusageSize]byte) {
	copy(p[:], unsafe.Slice((*byte)(unsafe.Pointer(u)), unsafe.Sizeof(*u)))
	return p
}
