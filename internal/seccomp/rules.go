package seccomp

// Reasons that several rows share.
const (
	whySetID     = "a set-user-ID or set-group-ID file left in the workspace gives the user's (or root's) rights to others on the host; BPF cannot tell a directory from a file, so set-group-ID directories are refused too, as systemd's RestrictSUIDSGID= does"
	whyMode      = "permission bits without set-ID"
	whyDevice    = "a device node in the workspace reaches the host's devices"
	whyCreate    = "makes or replaces a name: the supervisor checks it against the protected names and does it itself (FS-04)"
	whyCreateOK  = "making names is limited by the mounts and Landlock"
	whyMount     = "mounts decide what the sandbox is"
	whyNested    = "exec.nested: namespaces and mounts of the command's own, over which it has no power in ours (mounts that came from outside are locked)"
	whyKeys      = "kernel keyrings are not part of any namespace: the caller's session keys would be in reach"
	whyAdmin     = "administers the host; no command has a use for it"
	whyUring     = "runs file and socket operations that no filter sees, and has a long record of kernel holes"
	whyGone      = "the kernel has no such call any more (or never had)"
	whyNUMA      = "memory placement; other processes' with a process id"
	whyMountInfo = "asks for mounts by number, of other namespaces too; libmount falls back to /proc/self/mountinfo"
	whyInitTime  = "of our init (PID 1), alone or with all of its user's: put behind thousands of busy processes it could not end them for minutes, nor end itself"
	whyLSM       = "reads or sets the security label of the caller"

	// Differences from Docker's default profile.
	dockerSetID   = "Docker allows any mode: its files stay in the container, ours are in the user's workspace"
	dockerDevice  = "Docker leaves devices to CAP_MKNOD and the device cgroup; we have neither, and whiteouts need no capability"
	dockerNotify  = "a mode of ours: Docker has no supervisor"
	dockerNested  = "Docker allows it with CAP_SYS_ADMIN only; here the policy opens it by name, for user namespaces alone"
	dockerErrno   = "Docker refuses with EPERM; ENOSYS is what a kernel without the feature says, and makes programs fall back"
	dockerGone    = "same result as without a filter, which Docker's EPERM (or pass) also comes to"
	dockerSurface = "Docker allows it; no command of an agent has a use for it"
	dockerInit    = "Docker's first process is the container's own"
	dockerNew     = "too new for Docker's list"
)

// rules lists the calls with conditions, refusals, or a reason worth a word.
// SECURITY: the first row in force that matches decides, so order matters within a call.
var rules = [...]Rule{
	// --- file modes and device nodes, and the calls that make names ---
	{Call: "chmod", AMD64: 90, ARM64: none, When: []Cond{{Arg: 1, Op: AnyBits, Mask: setIDBits}}, Action: Refuse, Errno: EPERM, Reason: whySetID, Docker: dockerSetID},
	{Call: "chmod", AMD64: 90, ARM64: none, Action: Allow, Reason: whyMode},
	{Call: "fchmod", AMD64: 91, ARM64: 52, When: []Cond{{Arg: 1, Op: AnyBits, Mask: setIDBits}}, Action: Refuse, Errno: EPERM, Reason: whySetID, Docker: dockerSetID},
	{Call: "fchmod", AMD64: 91, ARM64: 52, Action: Allow, Reason: whyMode},
	{Call: "fchmodat", AMD64: 268, ARM64: 53, When: []Cond{{Arg: 2, Op: AnyBits, Mask: setIDBits}}, Action: Refuse, Errno: EPERM, Reason: whySetID, Docker: dockerSetID},
	{Call: "fchmodat", AMD64: 268, ARM64: 53, Action: Allow, Reason: whyMode},
	{Call: "fchmodat2", AMD64: 452, ARM64: 452, When: []Cond{{Arg: 2, Op: AnyBits, Mask: setIDBits}}, Action: Refuse, Errno: EPERM, Reason: whySetID, Docker: dockerSetID},
	{Call: "fchmodat2", AMD64: 452, ARM64: 452, Action: Allow, Reason: whyMode},

	// The mode of an open counts only with O_CREAT or O_TMPFILE; without them callers leave anything in it.
	{Call: "open", AMD64: 2, ARM64: none, When: []Cond{{Arg: 1, Op: AnyBits, Mask: usesAMode}, {Arg: 2, Op: AnyBits, Mask: setIDBits}}, Action: Refuse, Errno: EPERM, Reason: whySetID, Docker: dockerSetID, hot: true},
	{Call: "open", AMD64: 2, ARM64: none, Gate: IfNotify, When: []Cond{{Arg: 1, Op: AnyBits, Mask: oCreate}}, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "open", AMD64: 2, ARM64: none, Action: Allow, Reason: whyCreateOK},
	{Call: "openat", AMD64: 257, ARM64: 56, When: []Cond{{Arg: 2, Op: AnyBits, Mask: usesAMode}, {Arg: 3, Op: AnyBits, Mask: setIDBits}}, Action: Refuse, Errno: EPERM, Reason: whySetID, Docker: dockerSetID, hot: true},
	{Call: "openat", AMD64: 257, ARM64: 56, Gate: IfNotify, When: []Cond{{Arg: 2, Op: AnyBits, Mask: oCreate}}, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "openat", AMD64: 257, ARM64: 56, Action: Allow, Reason: whyCreateOK},
	{Call: "creat", AMD64: 85, ARM64: none, When: []Cond{{Arg: 1, Op: AnyBits, Mask: setIDBits}}, Action: Refuse, Errno: EPERM, Reason: whySetID, Docker: dockerSetID},
	{Call: "creat", AMD64: 85, ARM64: none, Gate: IfNotify, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "creat", AMD64: 85, ARM64: none, Action: Allow, Reason: whyCreateOK},
	{Call: "openat2", AMD64: 437, ARM64: 437, Gate: IfOpenat2Notify, Action: Notify, Reason: "the supervisor reads the struct, refuses set-ID modes and protected names, and opens the file itself", Docker: dockerNotify},
	{Call: "openat2", AMD64: 437, ARM64: 437, Gate: IfOpenat2Allow, Action: Allow, Reason: "for programs without a fallback (GNU tar and attr built on a libc that has openat2). What is given up: a set-ID file can be made, but stays empty, for the kernel drops the bits at the first write without CAP_FSETID, which is dropped"},
	{Call: "openat2", AMD64: 437, ARM64: 437, Action: Refuse, Errno: ENOSYS, Reason: "flags and mode are behind a pointer, so a set-ID mode (and, when supervised, O_CREAT) cannot be seen. glibc, Go (os.Root included), git, node and python do without; libraries that use it fall back on ENOSYS, as on a kernel before 5.6. systemd's RestrictSUIDSGID= does the same", Docker: "Docker allows any openat2; we look at modes"},
	{Call: "mknod", AMD64: 133, ARM64: none, When: []Cond{{Arg: 1, Op: MaskedEq, Mask: formatMask, Value: charDevice}}, Action: Refuse, Errno: EPERM, Reason: whyDevice, Docker: dockerDevice},
	{Call: "mknod", AMD64: 133, ARM64: none, When: []Cond{{Arg: 1, Op: MaskedEq, Mask: formatMask, Value: blockDev}}, Action: Refuse, Errno: EPERM, Reason: whyDevice, Docker: dockerDevice},
	{Call: "mknod", AMD64: 133, ARM64: none, When: []Cond{{Arg: 1, Op: AnyBits, Mask: setIDBits}}, Action: Refuse, Errno: EPERM, Reason: whySetID, Docker: dockerSetID},
	{Call: "mknod", AMD64: 133, ARM64: none, Gate: IfNotify, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "mknod", AMD64: 133, ARM64: none, Action: Allow, Reason: "pipes, sockets and plain files"},
	{Call: "mknodat", AMD64: 259, ARM64: 33, When: []Cond{{Arg: 2, Op: MaskedEq, Mask: formatMask, Value: charDevice}}, Action: Refuse, Errno: EPERM, Reason: whyDevice, Docker: dockerDevice},
	{Call: "mknodat", AMD64: 259, ARM64: 33, When: []Cond{{Arg: 2, Op: MaskedEq, Mask: formatMask, Value: blockDev}}, Action: Refuse, Errno: EPERM, Reason: whyDevice, Docker: dockerDevice},
	{Call: "mknodat", AMD64: 259, ARM64: 33, When: []Cond{{Arg: 2, Op: AnyBits, Mask: setIDBits}}, Action: Refuse, Errno: EPERM, Reason: whySetID, Docker: dockerSetID},
	{Call: "mknodat", AMD64: 259, ARM64: 33, Gate: IfNotify, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "mknodat", AMD64: 259, ARM64: 33, Action: Allow, Reason: "pipes, sockets and plain files"},
	// mkdir needs no look at its mode: the kernel (vfs_mkdir) keeps only rwx and the sticky bit of it.
	{Call: "mkdir", AMD64: 83, ARM64: none, Gate: IfNotify, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "mkdir", AMD64: 83, ARM64: none, Action: Allow, Reason: whyCreateOK},
	{Call: "mkdirat", AMD64: 258, ARM64: 34, Gate: IfNotify, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "mkdirat", AMD64: 258, ARM64: 34, Action: Allow, Reason: whyCreateOK},
	{Call: "rename", AMD64: 82, ARM64: none, Gate: IfNotify, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "rename", AMD64: 82, ARM64: none, Action: Allow, Reason: whyCreateOK},
	{Call: "renameat", AMD64: 264, ARM64: 38, Gate: IfNotify, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "renameat", AMD64: 264, ARM64: 38, Action: Allow, Reason: whyCreateOK},
	{Call: "renameat2", AMD64: 316, ARM64: 276, Gate: IfNotify, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "renameat2", AMD64: 316, ARM64: 276, Action: Allow, Reason: whyCreateOK},
	{Call: "link", AMD64: 86, ARM64: none, Gate: IfNotify, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "link", AMD64: 86, ARM64: none, Action: Allow, Reason: whyCreateOK},
	{Call: "linkat", AMD64: 265, ARM64: 37, Gate: IfNotify, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "linkat", AMD64: 265, ARM64: 37, Action: Allow, Reason: whyCreateOK},
	{Call: "symlink", AMD64: 88, ARM64: none, Gate: IfNotify, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "symlink", AMD64: 88, ARM64: none, Action: Allow, Reason: whyCreateOK},
	{Call: "symlinkat", AMD64: 266, ARM64: 36, Gate: IfNotify, Action: Notify, Reason: whyCreate, Docker: dockerNotify},
	{Call: "symlinkat", AMD64: 266, ARM64: 36, Action: Allow, Reason: whyCreateOK},
	{Call: "open_by_handle_at", AMD64: 304, ARM64: 265, Action: Refuse, Errno: EPERM, Reason: "opens any file of a file system by number, past the mounts"},
	{Call: "name_to_handle_at", AMD64: 303, ARM64: 264, Action: Refuse, Errno: ENOSYS, Reason: "gives the numbers that open_by_handle_at takes, to be used by an accomplice outside; systemd and others go on as on a kernel without CONFIG_FHANDLE", Docker: dockerSurface},

	{Call: "fcntl", AMD64: 72, ARM64: 25, When: []Cond{{Arg: 1, Op: Eq, Value: fSetLease}}, Action: Refuse, Errno: EPERM, Reason: "a lease on a file of the host that is only readable here: whoever opens it outside waits 45 s (lease-break-time)", Docker: dockerSurface, hot: true},
	{Call: "fcntl", AMD64: 72, ARM64: 25, Action: Allow, Reason: "descriptors, locks and pipes of the command's own"},

	// --- terminals and sockets ---
	{Call: "ioctl", AMD64: 16, ARM64: 29, When: []Cond{{Arg: 1, Op: Eq, Value: tiocsti}}, Action: Refuse, Errno: EPERM, Reason: "types into the terminal, so the shell outside runs it", Docker: "Docker gives each container a terminal of its own; a second layer here", hot: true},
	{Call: "ioctl", AMD64: 16, ARM64: 29, When: []Cond{{Arg: 1, Op: Eq, Value: tioclinux}}, Action: Refuse, Errno: EPERM, Reason: "pastes the selection into a virtual console", Docker: "as for TIOCSTI"},
	{Call: "ioctl", AMD64: 16, ARM64: 29, When: []Cond{{Arg: 1, Op: Eq, Value: tioccons}}, Action: Refuse, Errno: EPERM, Reason: "takes over the host's console output", Docker: "as for TIOCSTI"},
	{Call: "ioctl", AMD64: 16, ARM64: 29, When: []Cond{{Arg: 1, Op: Eq, Value: tiocsetd}}, Action: Refuse, Errno: EPERM, Reason: "loads line disciplines (n_gsm, slip, ...), drivers with a record of holes", Docker: "only modem software (pppd, slattach) sets a line discipline"},
	{Call: "ioctl", AMD64: 16, ARM64: 29, Action: Allow, Reason: "all other requests: limited by the descriptor, capabilities and Landlock's IOCTL_DEV"},
	// SECURITY: these rows are what keeps vsock, packet, alg and netlink's other protocols out of reach.
	{Call: "socket", AMD64: 41, ARM64: 198, When: []Cond{{Arg: 0, Op: In, Set: []uint32{afUnix, afInet, afInet6}}}, Action: Allow, Reason: "local and internet sockets: reach is up to the network namespace and Landlock"},
	{Call: "socket", AMD64: 41, ARM64: 198, When: []Cond{{Arg: 0, Op: Eq, Value: afNetlink}, {Arg: 2, Op: Eq, Value: netlinkRoute}}, Action: Allow, Reason: "getifaddrs and getaddrinfo ask for the interfaces"},
	{Call: "socket", AMD64: 41, ARM64: 198, When: []Cond{{Arg: 0, Op: Eq, Value: afNetlink}}, Action: Refuse, Errno: EPROTONOSUPPORT, Reason: "audit, netfilter, crypto, uevent and the like; the error is the kernel's own for a protocol it lacks (libaudit, and so sudo and sshd, go on after it)", Docker: "Docker allows every netlink protocol"},
	{Call: "socket", AMD64: 41, ARM64: 198, Action: Refuse, Errno: EAFNOSUPPORT, Reason: "vsock reaches the hypervisor, packet the wire, alg and the rest are kernel surface; the error is the kernel's own for a family it lacks, so programs fall back", Docker: "Docker refuses alg and vsock (with EPERM) and families the kernel dropped; we list what is of use"},
	{Call: "socketpair", AMD64: 53, ARM64: 199, When: []Cond{{Arg: 0, Op: Eq, Value: afUnix}}, Action: Allow, Reason: "pairs of local sockets, both ends inside"},
	{Call: "socketpair", AMD64: 53, ARM64: 199, Action: Refuse, Errno: EAFNOSUPPORT, Reason: "only AF_UNIX has pairs (TIPC too, which socket refuses)", Docker: "Docker does not look at the family"},

	// --- namespaces and mounts ---
	{Call: "clone", AMD64: 56, ARM64: 220, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "clone", AMD64: 56, ARM64: 220, When: []Cond{{Arg: 0, Op: AnyBits, Mask: cloneNewAny}}, Action: Refuse, Errno: EPERM, Reason: "a new user namespace gives all capabilities over new kernel surface"},
	{Call: "clone", AMD64: 56, ARM64: 220, Action: Allow, Reason: "processes and threads"},
	{Call: "clone3", AMD64: 435, ARM64: 435, Action: Refuse, Errno: ENOSYS, Reason: "the flags are behind a pointer; libc falls back to clone"},
	{Call: "unshare", AMD64: 272, ARM64: 97, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "unshare", AMD64: 272, ARM64: 97, When: []Cond{{Arg: 0, Op: MaskedEq, Mask: ^uint32(unshareOwn)}}, Action: Allow, Reason: "a thread's own working directory or descriptor table; makes no namespace", Docker: "Docker refuses unshare whole; samba and thread pools use these flags"},
	{Call: "unshare", AMD64: 272, ARM64: 97, Action: Refuse, Errno: EPERM, Reason: "new namespaces, and flags not known today"},
	{Call: "setns", AMD64: 308, ARM64: 268, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "setns", AMD64: 308, ARM64: 268, Action: Refuse, Errno: EPERM, Reason: "joins another namespace"},
	{Call: "mount", AMD64: 165, ARM64: 40, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "mount", AMD64: 165, ARM64: 40, Action: Refuse, Errno: EPERM, Reason: whyMount},
	{Call: "umount2", AMD64: 166, ARM64: 39, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "umount2", AMD64: 166, ARM64: 39, Action: Refuse, Errno: EPERM, Reason: whyMount},
	{Call: "pivot_root", AMD64: 155, ARM64: 41, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "pivot_root", AMD64: 155, ARM64: 41, Action: Refuse, Errno: EPERM, Reason: whyMount},
	{Call: "chroot", AMD64: 161, ARM64: 51, Gate: IfNested, Action: Allow, Reason: whyNested},
	{Call: "chroot", AMD64: 161, ARM64: 51, Action: Refuse, Errno: EPERM, Reason: "changes the root that path checks start from", Docker: "Docker's default capabilities have CAP_SYS_CHROOT; ours are none"},
	{Call: "move_mount", AMD64: 429, ARM64: 429, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "move_mount", AMD64: 429, ARM64: 429, Action: Refuse, Errno: EPERM, Reason: whyMount},
	{Call: "open_tree", AMD64: 428, ARM64: 428, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "open_tree", AMD64: 428, ARM64: 428, Action: Refuse, Errno: EPERM, Reason: whyMount},
	{Call: "open_tree_attr", AMD64: 467, ARM64: 467, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "open_tree_attr", AMD64: 467, ARM64: 467, Action: Refuse, Errno: EPERM, Reason: whyMount},
	{Call: "fsopen", AMD64: 430, ARM64: 430, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "fsopen", AMD64: 430, ARM64: 430, Action: Refuse, Errno: EPERM, Reason: whyMount},
	{Call: "fsconfig", AMD64: 431, ARM64: 431, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "fsconfig", AMD64: 431, ARM64: 431, Action: Refuse, Errno: EPERM, Reason: whyMount},
	{Call: "fsmount", AMD64: 432, ARM64: 432, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "fsmount", AMD64: 432, ARM64: 432, Action: Refuse, Errno: EPERM, Reason: whyMount},
	{Call: "fspick", AMD64: 433, ARM64: 433, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "fspick", AMD64: 433, ARM64: 433, Action: Refuse, Errno: EPERM, Reason: whyMount},
	{Call: "mount_setattr", AMD64: 442, ARM64: 442, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "mount_setattr", AMD64: 442, ARM64: 442, Action: Refuse, Errno: EPERM, Reason: whyMount},
	{Call: "sethostname", AMD64: 170, ARM64: 161, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "sethostname", AMD64: 170, ARM64: 161, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "setdomainname", AMD64: 171, ARM64: 162, Gate: IfNested, Action: Allow, Reason: whyNested, Docker: dockerNested},
	{Call: "setdomainname", AMD64: 171, ARM64: 162, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "statmount", AMD64: 457, ARM64: 457, Action: Refuse, Errno: ENOSYS, Reason: whyMountInfo, Docker: dockerSurface},
	{Call: "listmount", AMD64: 458, ARM64: 458, Action: Refuse, Errno: ENOSYS, Reason: whyMountInfo, Docker: dockerSurface},
	{Call: "listns", AMD64: 470, ARM64: 470, Action: Refuse, Errno: ENOSYS, Reason: "lists namespaces; lsns falls back to /proc", Docker: dockerErrno},

	// --- other processes ---
	{Call: "ptrace", AMD64: 101, ARM64: 117, Action: Allow, Reason: "debuggers (gdb, dlv, strace) work on the command's own processes: the pid namespace hides others, our init is not dumpable, and from Linux 4.8 the filter sees what a tracer made of a call"},
	{Call: "process_vm_readv", AMD64: 310, ARM64: 270, Action: Allow, Reason: "asks the kernel the same permission as ptrace"},
	{Call: "process_vm_writev", AMD64: 311, ARM64: 271, Action: Allow, Reason: "asks the kernel the same permission as ptrace"},
	{Call: "pidfd_getfd", AMD64: 438, ARM64: 438, Action: Refuse, Errno: EPERM, Reason: "takes descriptors out of another process, such as the launcher's pipe from our init"},
	{Call: "kcmp", AMD64: 312, ARM64: 272, Action: Refuse, Errno: EPERM, Reason: "compares kernel pointers of processes"},
	{Call: "process_madvise", AMD64: 440, ARM64: 440, Action: Refuse, Errno: EPERM, Reason: "advises on another process's memory"},
	// SECURITY: the end of the tree needs PID 1 to run (PROC-02).
	{Call: "setpriority", AMD64: 141, ARM64: 140, When: []Cond{{Arg: 0, Op: Eq, Value: prioUser}}, Action: Refuse, Errno: EPERM, Reason: whyInitTime, Docker: dockerInit},
	{Call: "setpriority", AMD64: 141, ARM64: 140, When: []Cond{{Arg: 1, Op: Eq, Value: 1}}, Action: Refuse, Errno: EPERM, Reason: whyInitTime, Docker: dockerInit},
	{Call: "setpriority", AMD64: 141, ARM64: 140, Action: Allow, Reason: "the command's own processes"},
	{Call: "sched_setscheduler", AMD64: 144, ARM64: 119, When: []Cond{{Arg: 0, Op: Eq, Value: 1}}, Action: Refuse, Errno: EPERM, Reason: whyInitTime, Docker: dockerInit},
	{Call: "sched_setscheduler", AMD64: 144, ARM64: 119, Action: Allow, Reason: "the command's own processes"},
	{Call: "sched_setparam", AMD64: 142, ARM64: 118, When: []Cond{{Arg: 0, Op: Eq, Value: 1}}, Action: Refuse, Errno: EPERM, Reason: whyInitTime, Docker: dockerInit},
	{Call: "sched_setparam", AMD64: 142, ARM64: 118, Action: Allow, Reason: "the command's own processes"},
	{Call: "sched_setattr", AMD64: 314, ARM64: 274, When: []Cond{{Arg: 0, Op: Eq, Value: 1}}, Action: Refuse, Errno: EPERM, Reason: whyInitTime, Docker: dockerInit},
	{Call: "sched_setattr", AMD64: 314, ARM64: 274, Action: Allow, Reason: "the command's own processes"},
	{Call: "sched_setaffinity", AMD64: 203, ARM64: 122, When: []Cond{{Arg: 0, Op: Eq, Value: 1}}, Action: Refuse, Errno: EPERM, Reason: whyInitTime, Docker: dockerInit},
	{Call: "sched_setaffinity", AMD64: 203, ARM64: 122, Action: Allow, Reason: "the command's own processes"},
	{Call: "seccomp", AMD64: 317, ARM64: 277, Action: Allow, Reason: "filters only add up: a stricter one of the command's own (browsers, sshd) is welcome"},
	{Call: "prctl", AMD64: 157, ARM64: 167, Action: Allow, Reason: "the process's own state; what has power needs a capability; filters and no_new_privs cannot be taken back"},
	{Call: "personality", AMD64: 135, ARM64: 92, When: []Cond{{Arg: 0, Op: In, Set: []uint32{perLinux, perLinux32, uname26, perUname32, personQuery}}}, Action: Allow, Reason: "the query, and personas that change only what uname says"},
	{Call: "personality", AMD64: 135, ARM64: 92, Action: Refuse, Errno: EPERM, Reason: "turns off address randomisation, or makes data executable (READ_IMPLIES_EXEC); gdb warns and goes on"},

	// --- kernel surface ---
	{Call: "io_uring_setup", AMD64: 425, ARM64: 425, Action: Refuse, Errno: ENOSYS, Reason: whyUring, Docker: dockerErrno},
	{Call: "io_uring_enter", AMD64: 426, ARM64: 426, Action: Refuse, Errno: ENOSYS, Reason: whyUring, Docker: dockerErrno},
	{Call: "io_uring_register", AMD64: 427, ARM64: 427, Action: Refuse, Errno: ENOSYS, Reason: whyUring, Docker: dockerErrno},
	{Call: "bpf", AMD64: 321, ARM64: 280, Action: Refuse, Errno: EPERM, Reason: "programs in the kernel; EPERM is also what unprivileged_bpf_disabled gives"},
	{Call: "perf_event_open", AMD64: 298, ARM64: 241, Action: Refuse, Errno: EPERM, Reason: "watches the CPU and the kernel; a long record of holes"},
	{Call: "userfaultfd", AMD64: 323, ARM64: 282, Action: Refuse, Errno: EPERM, Reason: "stops the kernel in the middle of a copy: the common helper of exploits"},
	{Call: "memfd_secret", AMD64: 447, ARM64: 447, Action: Refuse, Errno: ENOSYS, Reason: "locked memory out of the kernel's own map, which also keeps the machine from hibernating; who uses it falls back to mlock", Docker: dockerSurface},
	{Call: "add_key", AMD64: 248, ARM64: 217, Action: Refuse, Errno: EPERM, Reason: whyKeys},
	{Call: "request_key", AMD64: 249, ARM64: 218, Action: Refuse, Errno: EPERM, Reason: whyKeys},
	{Call: "keyctl", AMD64: 250, ARM64: 219, Action: Refuse, Errno: EPERM, Reason: whyKeys},
	{Call: "fanotify_init", AMD64: 300, ARM64: 262, Action: Refuse, Errno: EPERM, Reason: "watches whole file systems; inotify stays"},
	{Call: "modify_ldt", AMD64: 154, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: "16-bit segments, for programs of an architecture that is killed anyway", Docker: "Docker allows it for wine and dosemu; a kernel without MODIFY_LDT_SYSCALL says ENOSYS"},
	{Call: "lsm_get_self_attr", AMD64: 459, ARM64: 459, Action: Refuse, Errno: ENOSYS, Reason: whyLSM, Docker: dockerErrno},
	{Call: "lsm_set_self_attr", AMD64: 460, ARM64: 460, Action: Refuse, Errno: ENOSYS, Reason: whyLSM, Docker: dockerErrno},
	{Call: "lsm_list_modules", AMD64: 461, ARM64: 461, Action: Refuse, Errno: ENOSYS, Reason: whyLSM, Docker: dockerErrno},
	{Call: "get_mempolicy", AMD64: 239, ARM64: 236, Action: Refuse, Errno: EPERM, Reason: whyNUMA},
	{Call: "set_mempolicy", AMD64: 238, ARM64: 237, Action: Refuse, Errno: EPERM, Reason: whyNUMA},
	{Call: "set_mempolicy_home_node", AMD64: 450, ARM64: 450, Action: Refuse, Errno: EPERM, Reason: whyNUMA},
	{Call: "mbind", AMD64: 237, ARM64: 235, Action: Refuse, Errno: EPERM, Reason: whyNUMA},
	{Call: "migrate_pages", AMD64: 256, ARM64: 238, Action: Refuse, Errno: EPERM, Reason: whyNUMA},
	{Call: "move_pages", AMD64: 279, ARM64: 239, Action: Refuse, Errno: EPERM, Reason: whyNUMA},

	// --- administration ---
	{Call: "kexec_load", AMD64: 246, ARM64: 104, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "kexec_file_load", AMD64: 320, ARM64: 294, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "reboot", AMD64: 169, ARM64: 142, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "swapon", AMD64: 167, ARM64: 224, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "swapoff", AMD64: 168, ARM64: 225, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "init_module", AMD64: 175, ARM64: 105, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "finit_module", AMD64: 313, ARM64: 273, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "delete_module", AMD64: 176, ARM64: 106, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "acct", AMD64: 163, ARM64: 89, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "quotactl", AMD64: 179, ARM64: 60, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "quotactl_fd", AMD64: 443, ARM64: 443, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "settimeofday", AMD64: 164, ARM64: 170, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "clock_settime", AMD64: 227, ARM64: 112, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "iopl", AMD64: 172, ARM64: none, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "ioperm", AMD64: 173, ARM64: none, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "vhangup", AMD64: 153, ARM64: 58, Action: Refuse, Errno: EPERM, Reason: whyAdmin},
	{Call: "syslog", AMD64: 103, ARM64: 116, Action: Refuse, Errno: EPERM, Reason: "the host's kernel log, with addresses and other people's events"},
	{Call: "lookup_dcookie", AMD64: 212, ARM64: 18, Action: Refuse, Errno: EPERM, Reason: "paths of other mounts, by number"},
	{Call: "sysfs", AMD64: 139, ARM64: none, Action: Refuse, Errno: EPERM, Reason: "an old list of file system types"},
	{Call: "ustat", AMD64: 136, ARM64: none, Action: Refuse, Errno: EPERM, Reason: "statfs by device number, past the mounts"},
	{Call: "uselib", AMD64: 134, ARM64: none, Action: Refuse, Errno: EPERM, Reason: "a.out libraries; a record of holes"},

	// --- new calls that are as harmless as what they go with ---
	{Call: "file_getattr", AMD64: 468, ARM64: 468, Action: Allow, Reason: "FS_IOC_FSGETXATTR as a call", Docker: dockerNew},
	{Call: "file_setattr", AMD64: 469, ARM64: 469, Action: Allow, Reason: "FS_IOC_FSSETXATTR as a call, with the same checks (CAP_LINUX_IMMUTABLE for immutable)", Docker: dockerNew},
	{Call: "rseq_slice_yield", AMD64: 471, ARM64: 471, Action: Allow, Reason: "gives up the rest of a time slice", Docker: dockerNew},
	{Call: "uprobe", AMD64: 336, ARM64: none, Action: Allow, Reason: "the trampoline of a probe that the host's root set: refusing it would crash the probed program", Docker: dockerNew},

	// --- what no kernel answers ---
	{Call: "_sysctl", AMD64: 156, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
	{Call: "create_module", AMD64: 174, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
	{Call: "get_kernel_syms", AMD64: 177, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
	{Call: "query_module", AMD64: 178, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
	{Call: "nfsservctl", AMD64: 180, ARM64: 42, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
	{Call: "getpmsg", AMD64: 181, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
	{Call: "putpmsg", AMD64: 182, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
	{Call: "afs_syscall", AMD64: 183, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
	{Call: "tuxcall", AMD64: 184, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
	{Call: "security", AMD64: 185, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
	{Call: "epoll_ctl_old", AMD64: 214, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
	{Call: "epoll_wait_old", AMD64: 215, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
	{Call: "vserver", AMD64: 236, ARM64: none, Action: Refuse, Errno: ENOSYS, Reason: whyGone, Docker: dockerGone},
}
