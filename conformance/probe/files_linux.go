package probe

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// privileges are rights that a process without capabilities has not.
func privileges() []attempt {
	return []attempt{
		{"setuid", "", "become user 12345", func([]string) error {
			runtime.LockOSThread()
			return call(unix.SYS_SETRESUID, [6]uintptr{12345, 12345, 12345})
		}},
		{"setgid", "", "become group 12345", func([]string) error {
			runtime.LockOSThread()
			return call(unix.SYS_SETRESGID, [6]uintptr{12345, 12345, 12345})
		}},
		{"setgroups", "", "drop all groups", func([]string) error { return call(unix.SYS_SETGROUPS, [6]uintptr{0, 0}) }},
		{"capset", "", "have CAP_SYS_ADMIN", func([]string) error {
			hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
			data := [2]unix.CapUserData{{Effective: 1 << unix.CAP_SYS_ADMIN, Permitted: 1 << unix.CAP_SYS_ADMIN}}
			return unix.Capset(&hdr, &data[0])
		}},
		{"ambient", "", "raise an ambient capability", func([]string) error {
			runtime.LockOSThread()
			hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
			data := [2]unix.CapUserData{{Effective: 1, Permitted: 1, Inheritable: 1}}
			if err := unix.Capset(&hdr, &data[0]); err != nil {
				return err
			}
			return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, 0, 0, 0)
		}},
		{"nice", "", "be more urgent than others", func([]string) error { return unix.Setpriority(unix.PRIO_PROCESS, 0, -10) }},
		{"realtime", "", "run before all others", func([]string) error {
			prio := int32(1)
			_, _, errno := unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, 0, 1, uintptr(unsafe.Pointer(&prio)))
			return orNil(errno)
		}},
		{"rlimit", "", "raise the hard limit of open files by one", func([]string) error {
			var l unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
				return err
			}
			l.Max++
			return unix.Setrlimit(unix.RLIMIT_NOFILE, &l)
		}},
	}
}

func orNil(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// files act on a decoy that they are given.
func files() []attempt {
	return []attempt{
		{"lease", "FILE", "a read lease for a moment", func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
			return err
		}},
		{"same-mode", "FILE", "the mode that it has", func(a []string) error {
			var st unix.Stat_t
			if err := unix.Stat(a[0], &st); err != nil {
				return err
			}
			return unix.Chmod(a[0], st.Mode&0o7777)
		}},
		{"same-times", "FILE", "the times that it has", func(a []string) error {
			var st unix.Stat_t
			if err := unix.Stat(a[0], &st); err != nil {
				return err
			}
			return unix.UtimesNanoAt(unix.AT_FDCWD, a[0], []unix.Timespec{st.Atim, st.Mtim}, 0)
		}},
		{"chmod", "FILE", "set-user-ID by chmod", func(a []string) error { return modeIs(a[0], unix.Chmod(a[0], 0o4755)) }},
		{"fchmodat", "FILE", "set-user-ID by fchmodat", func(a []string) error {
			return modeIs(a[0], unix.Fchmodat(unix.AT_FDCWD, a[0], 0o4755, 0))
		}},
		{"fchmodat2", "FILE", "set-user-ID by fchmodat2", func(a []string) error {
			return modeIs(a[0], call(unix.SYS_FCHMODAT2, [6]uintptr{^uintptr(99), text(a[0]), 0o4755, 0}))
		}},
		{"fchmod", "FILE", "set-user-ID by a descriptor", func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			return modeIs(a[0], unix.Fchmod(fd, 0o4755))
		}},
		{"setgid-bit", "FILE", "set-group-ID by chmod", func(a []string) error { return modeIs(a[0], unix.Chmod(a[0], 0o2755)) }},
		{"chmod-high", "FILE", "set-user-ID with bits above the low 32", func(a []string) error {
			return modeIs(a[0], call(unix.SYS_FCHMODAT, [6]uintptr{^uintptr(99), text(a[0]), 0o4755 | 1<<40}))
		}},
		{"creat", "FILE", "a new file that is set-user-ID", func(a []string) error {
			_, err := unix.Open(a[0], unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o4755)
			return modeIs(a[0], err)
		}},
		{"openat2-create", "FILE", "the same by openat2", func(a []string) error {
			_, err := unix.Openat2(unix.AT_FDCWD, a[0], &unix.OpenHow{Flags: unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY, Mode: 0o4755})
			return modeIs(a[0], err)
		}},
		{"tmpfile", "DIR", "an unnamed file that is set-user-ID", func(a []string) error {
			_, err := unix.Open(a[0], unix.O_TMPFILE|unix.O_WRONLY, 0o4755)
			return err
		}},
		{"mknod", "FILE", "a node of the null device", func(a []string) error {
			return unix.Mknod(a[0], unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))
		}},
		{"mknod-block", "FILE", "a node of a block device that no machine has", func(a []string) error {
			return unix.Mknod(a[0], unix.S_IFBLK|0o600, int(unix.Mkdev(4000, 1)))
		}},
		{"whiteout", "FILE", "a whiteout, the device 0:0 that needs no capability", func(a []string) error {
			return unix.Mknod(a[0], unix.S_IFCHR, 0)
		}},
		{"mknod-setuid", "FILE", "a plain file that is set-user-ID by mknod", func(a []string) error {
			return modeIs(a[0], unix.Mknod(a[0], unix.S_IFREG|0o4755, 0))
		}},
		{"filecap", "FILE", "a file capability", func(a []string) error {
			v := []byte{1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
			return unix.Setxattr(a[0], "security.capability", v, 0)
		}},
		{"trusted-xattr", "FILE", "a trusted attribute", func(a []string) error { return unix.Setxattr(a[0], "trusted.qsandbox", []byte("x"), 0) }},
		{"xattr", "FILE", "a user attribute", func(a []string) error { return unix.Setxattr(a[0], "user.qsandbox", []byte("x"), 0) }},
		{"chown", "FILE", "another owner", func(a []string) error { return os.Lchown(a[0], 12345, 12345) }},
		{"immutable", "FILE", "an immutable file", func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
			if err != nil {
				return err
			}
			if err := unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags|immutableFlag); err != nil {
				return err
			}
			return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags) // it was a decoy; let it be removed
		}},
		{"getflags", "FILE", "does the file system know flags such as immutable", func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			_, err = unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
			return err
		}},
		{"link-fd", "FILE TO", "a hard link by a descriptor", func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+itoa(fd), unix.AT_FDCWD, a[1], unix.AT_SYMLINK_FOLLOW)
		}},
		{"exchange", "A B", "swap two names", func(a []string) error {
			return unix.Renameat2(unix.AT_FDCWD, a[0], unix.AT_FDCWD, a[1], unix.RENAME_EXCHANGE)
		}},
		{"utimes", "FILE", "the times of a file", func(a []string) error {
			return unix.UtimesNano(a[0], []unix.Timespec{{Sec: 1}, {Sec: 1}})
		}},
		{"reopen-write", "FILE", "open for writing what was opened for reading", func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			_, err = unix.Open("/proc/self/fd/"+itoa(fd), unix.O_WRONLY, 0)
			return err
		}},
		{"map-write", "FILE", "map a file to write it", func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_RDWR, 0)
			if err != nil {
				return err
			}
			_, err = unix.Mmap(fd, 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			return err
		}},
		{"fallocate", "FILE", "punch nothing out of a file", func(a []string) error {
			fd, err := unix.Open(a[0], unix.O_WRONLY, 0)
			if err != nil {
				return err
			}
			return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, 1)
		}},
		{"memfd-exec", "PROGRAM ARG", "run a program from memory with one argument", memfdExec},
	}
}

// immutableFlag is FS_IMMUTABLE_FL of linux/fs.h.
const immutableFlag = 0x10

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// modeIs tells whether the file has a set-ID bit now.
func modeIs(path string, err error) error {
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return err
	}
	if st.Mode&(unix.S_ISUID|unix.S_ISGID) == 0 {
		return unix.EPERM
	}
	return nil
}

func memfdExec(a []string) error {
	data, err := os.ReadFile(a[0])
	if err != nil {
		return err
	}
	fd, err := unix.MemfdCreate("probe", 0)
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, data); err != nil {
		return err
	}
	return unix.Exec("/proc/self/fd/"+itoa(fd), a, os.Environ())
}
