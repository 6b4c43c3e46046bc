package inside

import (
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Names (argv[0]) under which a program that this package is linked into is one of ours instead. With the descriptors
// that belong to it in place, it never gets to its own main.
const (
	StageName   = "qsandbox-stage"   // runs Setup, then executes FDInit
	InitName    = "qsandbox-init"    // the Go init
	CommandName = "qsandbox-command" // the Go init's child: runs Command
	InitPath    = "/proc/self/fd/6"  // the init (FDInit) for those who can execute a path alone; its argv[0] then too: bwrap has no option for another before 0.9
)

// init takes over when this process was started as stage, init or child. It runs before main, so that a library needs no
// help from the program that uses it. SECURITY: the name alone, which any caller can choose, does nothing: the
// descriptors must be there, and what is carried out then comes from them, with the caller's own rights.
func init() {
	if len(os.Args) == 0 {
		return
	}
	switch os.Args[0] {
	case StageName:
		if isControl(FDControl) && isOurs() {
			stage()
		}
	case InitName, InitPath:
		if isControl(FDControl) && isOurs() {
			goInit()
		}
	case CommandName:
		if isOurs() {
			goCommand()
		}
	}
}

// isOurs says whether status and blob are what they should be.
func isOurs() bool {
	kind, err := unix.GetsockoptInt(FDStatus, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_SEQPACKET || !sealed(FDBlob) {
		return false
	}
	var magic [8]byte
	n, err := unix.Pread(FDBlob, magic[:], 0)
	return err == nil && n == len(magic) && getU64(magic[:]) == Magic
}

func isControl(fd int) bool {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return false
	}
	kind := st.Mode & unix.S_IFMT
	return kind == unix.S_IFIFO || kind == unix.S_IFSOCK
}

// begin makes a Go process behave: one thread does the work, and no collector starts others.
func begin() {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
}

// notDumpable keeps other processes out of /proc/self; SECURITY: see init_linux_amd64.s.
func notDumpable() unix.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0, 0, 0, 0, 0)
	return errno
}

func send(m Message) { unix.Sendto(FDStatus, m.Encode(), msgNoSignal, nil) }

// die reports a failed step and ends the process.
func die(p Program, step uint32, err error) {
	errno, ok := err.(unix.Errno)
	if !ok || errno == 0 {
		errno = unix.EIO
	}
	send(Message{Kind: KindFailed, Program: p, Step: step, Errno: uint32(errno)})
	if p == Command {
		unix.Exit(ExitCommandFailed)
	}
	unix.Exit(ExitFailed)
}

// stage runs the program Setup and becomes the init.
func stage() {
	begin()
	m, err := mapBlob(FDBlob)
	if err != nil {
		die(Setup, StepBlob, err)
	}
	if step, errno := m.run(Setup); errno != 0 {
		die(Setup, step, errno)
	}
	unix.CloseOnExec(FDInit)
	die(Setup, StepExec, execFD(FDInit, append([]string{InitName}, os.Args[1:]...)))
}

// execFD executes the file that is open as fd, with an empty environment: what the launcher's environment held must not
// be seen in /proc/1/environ. It is the raw call, so no path and no /proc is needed.
func execFD(fd int, args []string) error {
	argv, err := syscall.SlicePtrFromStrings(args)
	if err != nil {
		return err
	}
	envp := [1]*byte{nil}
	var empty [1]byte
	_, _, errno := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(fd), uintptr(unsafe.Pointer(&empty[0])),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envp[0])), unix.AT_EMPTY_PATH, 0)
	return errno
}
