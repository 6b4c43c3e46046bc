package probe

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// text gives a C string. The pointer is used in the same call.
func text(s string) uintptr {
	b, err := unix.BytePtrFromString(s)
	if err != nil {
		return 0
	}
	kept = append(kept, b)
	return uintptr(unsafe.Pointer(b))
}

// kept holds what the kernel was given a pointer to: the probe ends soon.
var kept []*byte

const nowhere = "/nonexistent/qsandbox-probe"

// kernel are calls that open kernel surface, or administer the machine. Each has an
// argument with which it does nothing.
func kernel() []attempt {
	return []attempt{
		num("io_uring", "io_uring_setup without parameters", unix.SYS_IO_URING_SETUP, [6]uintptr{1}, unix.EFAULT),
		num("bpf", "bpf with an unknown command", unix.SYS_BPF, [6]uintptr{9999}, unix.EINVAL, unix.EFAULT),
		num("perf_event_open", "perf_event_open without attributes", unix.SYS_PERF_EVENT_OPEN, [6]uintptr{0, 0, all, all, 0}, unix.EFAULT),
		num("userfaultfd", "userfaultfd for user mode only", unix.SYS_USERFAULTFD, [6]uintptr{1}),
		num("fanotify", "fanotify_init", unix.SYS_FANOTIFY_INIT, [6]uintptr{}),
		num("add_key", "a key in the probe's own process keyring", unix.SYS_ADD_KEY, [6]uintptr{}, unix.EFAULT, unix.EINVAL),
		num("keyctl", "the id of the session keyring", unix.SYS_KEYCTL, [6]uintptr{unix.KEYCTL_GET_KEYRING_ID, all - 2, 0}, unix.ENOKEY),
		num("keyctl-join", "a new session keyring for the probe", unix.SYS_KEYCTL, [6]uintptr{unix.KEYCTL_JOIN_SESSION_KEYRING}),
		num("keyctl-user", "the id of the user's keyring", unix.SYS_KEYCTL, [6]uintptr{unix.KEYCTL_GET_KEYRING_ID, all - 3, 0}, unix.ENOKEY),
		num("keyctl-search", "a search in the session keyring", unix.SYS_KEYCTL, [6]uintptr{unix.KEYCTL_SEARCH, all - 2, 0, 0, 0}, unix.EFAULT, unix.ENOKEY),
		num("keyctl-link", "a link of the user's keyring into the probe's own", unix.SYS_KEYCTL, [6]uintptr{unix.KEYCTL_LINK, all - 3, all - 1}, unix.ENOKEY),
		num("request_key", "request_key without a type", unix.SYS_REQUEST_KEY, [6]uintptr{}, unix.EFAULT),
		num("personality", "READ_IMPLIES_EXEC for the probe", unix.SYS_PERSONALITY, [6]uintptr{0x0400000}),
		num("kexec", "kexec_load with unknown flags", unix.SYS_KEXEC_LOAD, [6]uintptr{0, 0, 0, 0xffff}, unix.EINVAL),
		num("init_module", "init_module with nothing", unix.SYS_INIT_MODULE, [6]uintptr{}, unix.ENOEXEC, unix.EFAULT),
		num("finit_module", "finit_module with no descriptor", unix.SYS_FINIT_MODULE, [6]uintptr{all, 0, 0}, unix.EBADF, unix.EFAULT, unix.EINVAL),
		{name: "delete_module", what: "delete_module of a module that is not there", do: func([]string) error {
			return call(unix.SYS_DELETE_MODULE, [6]uintptr{text("qsandbox_probe_none")}, unix.ENOENT)
		}},
		{name: "swapon", what: "swapon of a file that is not there", do: func([]string) error {
			return call(unix.SYS_SWAPON, [6]uintptr{text(nowhere)}, unix.ENOENT)
		}},
		{name: "swapoff", what: "swapoff of a file that is not there", do: func([]string) error {
			return call(unix.SYS_SWAPOFF, [6]uintptr{text(nowhere)}, unix.ENOENT)
		}},
		{name: "acct", what: "acct with a file that is not there", do: func([]string) error {
			return call(unix.SYS_ACCT, [6]uintptr{text(nowhere)}, unix.ENOENT)
		}},
		num("reboot", "reboot without its magic numbers", unix.SYS_REBOOT, [6]uintptr{}, unix.EINVAL),
		num("syslog", "the size of the kernel's log", unix.SYS_SYSLOG, [6]uintptr{10}),
		num("sethostname", "sethostname of an impossible length", unix.SYS_SETHOSTNAME, [6]uintptr{0, all}, unix.EINVAL),
		num("setdomainname", "setdomainname of an impossible length", unix.SYS_SETDOMAINNAME, [6]uintptr{0, all}, unix.EINVAL),
		num("open_by_handle_at", "open_by_handle_at without a handle", unix.SYS_OPEN_BY_HANDLE_AT, [6]uintptr{all, 0, 0}, unix.EFAULT, unix.EBADF),
		num("name_to_handle_at", "the number of a file, without room for it", unix.SYS_NAME_TO_HANDLE_AT, [6]uintptr{all, 0, 0, 0, 0}, unix.EFAULT, unix.EBADF),
		num("statmount", "statmount without a request", 457, [6]uintptr{}, unix.EFAULT),
		num("listmount", "listmount without a request", 458, [6]uintptr{}, unix.EFAULT),
		num("memfd_secret", "memfd_secret with unknown flags", unix.SYS_MEMFD_SECRET, [6]uintptr{all}, unix.EINVAL),
		num("get_mempolicy", "the memory policy of the probe", unix.SYS_GET_MEMPOLICY, [6]uintptr{}),
		num("clone3", "clone3 with no arguments", unix.SYS_CLONE3, [6]uintptr{}, unix.EINVAL),
		num("openat2", "openat2 of the root", unix.SYS_OPENAT2, [6]uintptr{all}, unix.EINVAL),
		num("lsm_list", "lsm_list_modules without a buffer", 461, [6]uintptr{}, unix.EFAULT, unix.E2BIG, unix.EINVAL),
	}
}
