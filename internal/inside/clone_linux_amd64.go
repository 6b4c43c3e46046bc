package inside

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// CanClone tells whether Clone works on this architecture.
const CanClone = true

// offset of the status descriptor in the blob; clone_linux_amd64.s has the same.
const offCloneStatus = offScratch + 512

// cloneStack is more than enough: the child's code uses none, the kernel wants a place for nothing either.
const cloneStack = 4096

// rawClone is in clone_linux_amd64.s.
//
//go:noescape
func rawClone(flags, stack, base uintptr) (pid int)

// rawClone3 is the same with clone3(2).
//
//go:noescape
func rawClone3(args *cloneArgs, size, base uintptr) (pid int)

// cloneArgs is the kernel's struct clone_args, see clone(2); the words that are not named stay zero.
type cloneArgs [11]uint64

const (
	cloneFlags      = 0
	cloneExitSignal = 4
	cloneStackAt    = 5
	cloneStackSize  = 6
	cloneCgroup     = 10
)

// Child is the memory that a cloned child lives in until it has executed the init.
type Child struct {
	PID    int
	memory []byte
}

// Clone starts the program Setup of an image in a child made by clone(2) with the given namespace flags. The program must
// end in an execve. slots gives values (descriptors) to slots before the start; status is the descriptor to which a
// Failed message goes. group is an open directory of cgroup version 2 that the child is made in, or -1.
//
// The child's signals are blocked and have our handlers. With CLONE_CLEAR_SIGHAND (clone3(2), Linux 5.5) they have the
// default action, and the program may unblock them. Errors: those of clone(2); ENOSYS where a container's filter, or the
// kernel, has no clone3; with a group also those of joining it.
//
// The child shares our memory (CLONE_VM), so that its cost does not grow with the size of our heap, and we go on while
// it works, so that a path that hangs cannot freeze us. Release must not be called before the child has executed the
// init or ended: the status socket tells.
func Clone(im *Image, flags uintptr, slots map[Slot]int, status, group int) (*Child, error) {
	memory, err := cloneMemory(len(im.Blob) + cloneStack)
	if err != nil {
		return nil, err
	}
	copy(memory, im.Blob)
	base := uintptr(unsafe.Pointer(&memory[0]))
	if err := checkBlob(memory[:len(im.Blob)]); err != nil {
		freeMemory(memory)
		return nil, err
	}
	relocate(memory, uint64(base))
	for s, v := range slots {
		putU64(memory[offSlots+8*int(s):], uint64(int64(v)))
	}
	putU64(memory[offCloneStatus:], uint64(status))
	pid, err := cloneBlocked(flags, base+uintptr(len(memory))&^15, base, group)
	if err != nil {
		freeMemory(memory)
		return nil, err
	}
	return &Child{PID: pid, memory: memory}, nil
}

// relocate adds the load address to every word of the table.
func relocate(p []byte, base uint64) {
	at, count := getU64(p[offReloc:]), getU64(p[offReloc+8:])
	for i := range count {
		word := p[getU64(p[at+8*i:]):]
		putU64(word, getU64(word)+base)
	}
}

// cloneBlocked clones with all signals blocked on this thread.
//
// SECURITY: the child inherits our signal handlers and shares our memory; a
// handler that ran in it would be the Go runtime running twice.
func cloneBlocked(flags, stack, base uintptr, group int) (int, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all, old := ^uint64(0), uint64(0)
	if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&old)), 8, 0, 0); errno != 0 {
		return 0, errno
	}
	var pid int
	if flags&unix.CLONE_CLEAR_SIGHAND == 0 && group < 0 {
		pid = rawClone(flags|unix.CLONE_VM|uintptr(unix.SIGCHLD), stack, base)
	} else {
		args := cloneArgs{cloneFlags: uint64(flags | unix.CLONE_VM), cloneExitSignal: uint64(unix.SIGCHLD), cloneStackAt: uint64(stack) - cloneStack, cloneStackSize: cloneStack}
		if group >= 0 {
			args[cloneFlags] |= unix.CLONE_INTO_CGROUP
			args[cloneCgroup] = uint64(group)
		}
		pid = rawClone3(&args, unsafe.Sizeof(args), base)
	}
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&old)), 0, 8, 0, 0)
	if pid < 0 {
		return 0, unix.Errno(-pid)
	}
	return pid, nil
}

// Release frees the memory.
func (c *Child) Release() {
	if c != nil && c.memory != nil {
		freeMemory(c.memory)
		c.memory = nil
	}
}
