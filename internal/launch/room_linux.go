package launch

import (
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// What a start needs of the caller's limit on processes (RLIMIT_NPROC, which counts
// threads): those of ours that it may want, and what it starts up to the command.
const (
	spareThreads = 6
	startsUp     = 6
)

// scarce is a limit below which it is looked at. Systems have tens of thousands.
const scarce = 4096

// Room says whether the caller's limits on processes, its own and its cgroups', leave room for a start. The Go
// runtime ends the whole program when it cannot make a thread, and nothing can keep it
// from that: so what it may need is made before, and where there is no room nothing is
// begun. Errors: LAUNCH_FAILED.
func Room() error {
	if err := groupOnce(); err != nil {
		return err
	}
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &lim) != nil || lim.Cur >= scarce {
		return nil
	}
	return roomOnce()
}

// roomOnce looks once: later starts have the threads.
var roomOnce = sync.OnceValue(func() error {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &lim); err != nil {
		return err
	}
	if errno := tryLess(lim, spareThreads+startsUp); errno != 0 {
		e := fault.Wrap(fault.LaunchFailed, "start the sandbox", "", errno)
		e.Hint = "the limit on your processes and threads (ulimit -u) is nearly used up: end some, or raise it"
		return e
	}
	KeepThreads(spareThreads)
	return nil
})

// KeepThreads has the runtime make n threads, which it keeps: it need not ask for one
// when there may be no room.
func KeepThreads(n int) {
	var ready, done sync.WaitGroup
	ready.Add(n)
	done.Add(n)
	for range n {
		go func() {
			defer done.Done()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			ready.Wait()
		}()
	}
	done.Wait()
}

// tryLess tells whether a process can be made under a limit that is lower by less than
// the caller's. The lower limit is a child's alone: in this process, another thread
// that is made meanwhile would fail by it.
func tryLess(lim unix.Rlimit, less uint64) unix.Errno {
	if lim.Cur <= less {
		return unix.EAGAIN
	}
	lim.Cur -= less
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all, old := ^uint64(0), uint64(0)
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&old)), 8, 0, 0)
	pid, errno := forkTry(&lim)
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&old)), 0, 8, 0, 0)
	if errno != 0 {
		return errno
	}
	var st unix.WaitStatus
	for {
		_, err := unix.Wait4(int(pid), &st, unix.WALL, nil)
		if err == nil {
			return unix.Errno(st.ExitStatus())
		}
		if err != unix.EINTR {
			return 0 // somebody else in this program has waited for it
		}
	}
}

// forkTry makes a child that lowers its limit and makes a child of its own.
//
// SECURITY: the children are copies of this program with one thread: they make raw
// system calls and end, and all signals are blocked.
//
//go:noinline
//go:norace
//go:nocheckptr
func forkTry(lim *unix.Rlimit) (pid uintptr, errno unix.Errno) {
	pid, _, errno = unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	_, _, errno = unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NPROC, uintptr(unsafe.Pointer(lim)), 0, 0, 0)
	if errno == 0 {
		pid, _, errno = unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno == 0 && pid != 0 {
			unix.RawSyscall6(unix.SYS_WAIT4, pid, 0, unix.WALL, 0, 0, 0)
		}
	}
	for {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(errno), 0, 0)
	}
}
