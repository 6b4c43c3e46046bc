package seccomp

// Values of arguments that the rules compare. The same on amd64 and arm64.
const (
	// include/uapi/linux/stat.h
	setIDBits  = 0o6000   // S_ISUID | S_ISGID
	formatMask = 0o170000 // S_IFMT
	charDevice = 0o020000 // S_IFCHR
	blockDev   = 0o060000 // S_IFBLK

	// include/uapi/asm-generic/fcntl.h. The kernel's __O_TMPFILE, and not
	// O_TMPFILE, which holds O_DIRECTORY, which differs between the two.
	oCreate   = 0o100
	oTmpfile  = 0o20000000
	usesAMode = oCreate | oTmpfile // the flags under which open reads its mode argument

	fSetLease = 1024 // include/uapi/linux/fcntl.h: F_SETLEASE

	prioUser = 2 // include/uapi/linux/resource.h: PRIO_USER

	// include/uapi/linux/sched.h. CLONE_NEWTIME (0x80) is no flag of clone(2):
	// it lies in the byte of the exit signal.
	cloneNewAny = 0x7e020000 // NEWNS NEWCGROUP NEWUTS NEWIPC NEWUSER NEWPID NEWNET
	unshareOwn  = 0x00040600 // CLONE_FS | CLONE_FILES | CLONE_SYSVSEM

	// include/linux/socket.h and include/uapi/linux/netlink.h
	afUnix       = 1
	afInet       = 2
	afInet6      = 10
	afNetlink    = 16
	netlinkRoute = 0

	// include/uapi/asm-generic/ioctls.h
	tiocsti   = 0x5412
	tioclinux = 0x541c
	tioccons  = 0x541d
	tiocsetd  = 0x5423

	// include/uapi/linux/personality.h
	perLinux    = 0x0
	perLinux32  = 0x8
	uname26     = 0x20000
	perUname32  = uname26 | perLinux32
	personQuery = 0xffffffff
)
