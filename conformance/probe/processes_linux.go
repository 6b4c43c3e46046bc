package probe

import (
	"errors"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

func pid(s string) uintptr {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 1 << 30 // nobody's
	}
	return uintptr(n)
}

func pidfd(s string) (int, error) { return unix.PidfdOpen(int(pid(s)), 0) }

// one makes a probe of a call that takes a process id first.
func one(name, what string, nr uintptr, rest [5]uintptr, reached ...unix.Errno) attempt {
	return attempt{name, "PID", what, func(a []string) error {
		return call(nr, [6]uintptr{pid(a[0]), rest[0], rest[1], rest[2], rest[3], rest[4]}, reached...)
	}}
}

// processes look into another process. What is attached is let go when the probe ends.
func processes() []attempt {
	return []attempt{
		{"ptrace-seize", "PID", "attach without stopping", func(a []string) error {
			runtime.LockOSThread()
			return call(unix.SYS_PTRACE, [6]uintptr{unix.PTRACE_SEIZE, pid(a[0]), 0, 0})
		}},
		{"ptrace-peek", "PID", "read a word without being attached", func(a []string) error {
			runtime.LockOSThread()
			if err := call(unix.SYS_PTRACE, [6]uintptr{unix.PTRACE_SEIZE, pid(a[0]), 0, 0}); err != nil {
				return err
			}
			return call(unix.SYS_PTRACE, [6]uintptr{unix.PTRACE_INTERRUPT, pid(a[0]), 0, 0})
		}},
		{"process_vm_readv", "PID", "read memory at an address where there is none", vm(unix.SYS_PROCESS_VM_READV)},
		{"process_vm_writev", "PID", "write memory at an address where there is none", vm(unix.SYS_PROCESS_VM_WRITEV)},
		{"pidfd_open", "PID", "a descriptor of a process", func(a []string) error { _, err := pidfd(a[0]); return err }},
		{"pidfd_getfd", "PID", "take descriptor 0 of a process", func(a []string) error {
			fd, err := pidfd(a[0])
			if err != nil {
				return err
			}
			_, err = unix.PidfdGetfd(fd, 0, 0)
			return err
		}},
		{"kcmp", "PID", "compare kernel pointers", func(a []string) error {
			return call(unix.SYS_KCMP, [6]uintptr{pid(a[0]), pid(a[0]), 0})
		}},
		{"process_madvise", "PID", "advise on the memory of a process", func(a []string) error {
			fd, err := pidfd(a[0])
			if err != nil {
				return err
			}
			return call(unix.SYS_PROCESS_MADVISE, [6]uintptr{uintptr(fd), 0, 0, unix.MADV_COLD, 0})
		}},
		one("getpgid", "the process group of a process", unix.SYS_GETPGID, [5]uintptr{}),
		one("prlimit", "the limits of a process", unix.SYS_PRLIMIT64, [5]uintptr{unix.RLIMIT_NOFILE, 0, 0}),
		{"sched_getaffinity", "PID", "the processors of a process", func(a []string) error {
			var set unix.CPUSet
			return unix.SchedGetaffinity(int(pid(a[0])), &set)
		}},
		{"first-affinity", "", "the processors that the first process has", func([]string) error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(1, &set); err != nil {
				return err
			}
			return unix.SchedSetaffinity(1, &set)
		}},
		{"first-priority", "", "the priority that the first process has", func([]string) error {
			have, err := unix.Getpriority(unix.PRIO_PROCESS, 1)
			if err != nil {
				return err
			}
			return unix.Setpriority(unix.PRIO_PROCESS, 1, 20-have) // the call gives 20 less the nice value
		}},
		{"first-autogroup", "", "open the first process's autogroup to write", func([]string) error {
			fd, err := unix.Open("/proc/1/autogroup", unix.O_WRONLY|unix.O_CLOEXEC, 0)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}},
		one("get_robust_list", "the lock list of a process", unix.SYS_GET_ROBUST_LIST, [5]uintptr{0, 0}, unix.EFAULT),
		one("migrate_pages", "where the memory of a process lies", unix.SYS_MIGRATE_PAGES, [5]uintptr{1, 0, 0}),
	}
}

// vm reads or writes one byte at a low address, where nothing ever is.
func vm(nr uintptr) func([]string) error {
	return func(a []string) error {
		var b byte
		local := unix.Iovec{Base: &b}
		local.SetLen(1)
		remote := unix.RemoteIovec{Base: 0x10, Len: 1}
		_, _, errno := unix.Syscall6(nr, pid(a[0]), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
		if errno == 0 || errno == unix.EFAULT {
			return nil
		}
		return errno
	}
}

// signals reach for another process with signal 0, which does nothing to it.
func signals() []attempt {
	return []attempt{
		one("kill", "may a signal be sent", unix.SYS_KILL, [5]uintptr{}),
		{"tgkill", "PID", "may a signal be sent to a thread", func(a []string) error { return call(unix.SYS_TGKILL, [6]uintptr{pid(a[0]), pid(a[0]), 0}) }},
		one("tkill", "the same by the old call", unix.SYS_TKILL, [5]uintptr{}),
		{"pidfd_send_signal", "PID", "may a signal be sent by a descriptor", func(a []string) error {
			fd, err := pidfd(a[0])
			if err != nil {
				return err
			}
			return call(unix.SYS_PIDFD_SEND_SIGNAL, [6]uintptr{uintptr(fd), 0, 0, 0})
		}},
		{"sigqueue", "PID", "may a signal be queued", func(a []string) error {
			info := make([]uint64, 16)
			info[1] = uint64(uint32(0xffffffff)) // si_code SI_QUEUE (-1), as a person's program sends it
			_, _, errno := unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, pid(a[0]), 0, uintptr(unsafe.Pointer(&info[0])))
			if errno == 0 {
				return nil
			}
			return errno
		}},
		{"setown", "PID", "have the kernel send SIGIO and SIGURG there", func(a []string) error {
			var p [2]int
			if err := unix.Pipe(p[:]); err != nil {
				return err
			}
			if _, err := unix.FcntlInt(uintptr(p[0]), unix.F_SETOWN, int(pid(a[0]))); err != nil {
				return err
			}
			if n, _ := unix.FcntlInt(uintptr(p[0]), unix.F_GETOWN, 0); n != int(pid(a[0])) {
				return errors.New("the kernel did not take it")
			}
			return nil
		}},
		{"alone", "PID", "is this a process namespace of one's own, without PID; nothing is sent", func(a []string) error { return alone(int(pid(a[0]))) }},
		{"setpriority", "PID", "make a process nicer by nothing", func(a []string) error {
			n, err := unix.Getpriority(unix.PRIO_PROCESS, int(pid(a[0])))
			if err != nil {
				return err
			}
			return unix.Setpriority(unix.PRIO_PROCESS, int(pid(a[0])), 20-n)
		}},
	}
}
