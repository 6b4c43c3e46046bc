package landlock

import (
	"fmt"
	"strings"
)

// FS is a set of rights to file hierarchies (LANDLOCK_ACCESS_FS_*).
type FS uint64

// The rights, with the ABI that brought those after the first.
const (
	Execute     FS = 1 << iota // run a file
	WriteFile                  // open for writing
	ReadFile                   // open for reading
	ReadDir                    // list a directory
	RemoveDir                  // remove or move away an empty directory
	RemoveFile                 // unlink or move away a file
	MakeChar                   // make, or move here, a character device
	MakeDir                    // ... a directory
	MakeReg                    // ... a plain file
	MakeSock                   // ... a UNIX socket
	MakeFifo                   // ... a named pipe
	MakeBlock                  // ... a block device
	MakeSym                    // ... a symbolic link
	Refer                      // ABI 2: link or move between directories
	Truncate                   // ABI 3: truncate(2), O_TRUNC
	IoctlDev                   // ABI 5: ioctl on a device opened here
	ResolveUnix                // ABI 9: connect to a socket here that another domain made
)

// allFS has every right that this package knows.
const allFS = ResolveUnix<<1 - 1

// fileFS has the rights that make sense on something that is not a directory.
// The kernel gives EINVAL for any other on a file's rule (ACCESS_FILE in
// security/landlock/fs.c; that ResolveUnix is among them is inferred from what it
// is for, a rule on a socket's path, and was not tried: no kernel with ABI 9 here).
const fileFS = Execute | WriteFile | ReadFile | Truncate | IoctlDev | ResolveUnix

// Groups of rights, as a policy grants them. The kernel's ABI and the kind of
// path are dealt with by [For].
const (
	// ReadOnlyDir lets everything below be read, listed and run.
	ReadOnlyDir = Execute | ReadFile | ReadDir
	// ReadWriteDir adds writing: create, delete, truncate, link, and rename also
	// between directories. SECURITY: no device nodes, no ioctl on devices, and no
	// ResolveUnix: sockets that the command makes itself it can always reach.
	ReadWriteDir = ReadOnlyDir | WriteFile | RemoveDir | RemoveFile | MakeDir | MakeReg |
		MakeSock | MakeFifo | MakeSym | Refer | Truncate
	// ReadOnlyFile is one file to read or run.
	ReadOnlyFile = Execute | ReadFile
	// ReadWriteFile is one file to change. Replacing it (rename over it) takes
	// rights on its directory.
	ReadWriteFile = ReadOnlyFile | WriteFile | Truncate
	// Device is a device node such as /dev/null or a terminal.
	Device = ReadFile | WriteFile | Truncate | IoctlDev
	// DeviceDir is a directory of them, such as /dev/pts.
	DeviceDir = Device | ReadDir
	// Socket is a UNIX socket of the host that the policy lists by path.
	Socket = ResolveUnix
)

// Net is a set of rights to ports (LANDLOCK_ACCESS_NET_*).
type Net uint64

// The rights: TCP from ABI 4, UDP from ABI 10.
const (
	BindTCP Net = 1 << iota
	ConnectTCP
	BindUDP
	ConnectSendUDP
)

// Scope is a set of things that a domain cannot do to what is outside of it
// (LANDLOCK_SCOPE_*). ABI 6.
type Scope uint64

// The scopes.
const (
	ScopeAbstractUnix Scope = 1 << iota // connect to an abstract socket made outside: EPERM
	ScopeSignal                         // signal a process outside: EPERM
)

// Flags go to landlock_restrict_self (LANDLOCK_RESTRICT_SELF_*).
type Flags uint32

// The flags: logging from ABI 7, TSYNC from ABI 8, NoNewPrivs from ABI 11.
const (
	LogSameExecOff   Flags = 1 << iota // no audit records until the next execve
	LogNewExecOn                       // audit records after it
	LogSubdomainsOff                   // none for domains made inside
	TSync                              // all threads of the process at once
	NoNewPrivs                         // sets no_new_privs as well
)

var (
	fsNames = [...]string{"execute", "write_file", "read_file", "read_dir", "remove_dir", "remove_file", "make_char", "make_dir", "make_reg",
		"make_sock", "make_fifo", "make_block", "make_sym", "refer", "truncate", "ioctl_dev", "resolve_unix"}
	netNames   = [...]string{"bind_tcp", "connect_tcp", "bind_udp", "connect_send_udp"}
	scopeNames = [...]string{"abstract_unix_socket", "signal"}
	flagNames  = [...]string{"log_same_exec_off", "log_new_exec_on", "log_subdomains_off", "tsync", "no_new_privs"}
)

// join lists the names of the bits that are set.
func join(bits uint64, names []string) string {
	var out []string
	for i, name := range names {
		if bits&(1<<i) != 0 {
			out = append(out, name)
			bits &^= 1 << i
		}
	}
	if bits != 0 {
		out = append(out, fmt.Sprintf("%#x", bits))
	}
	return strings.Join(out, "+")
}

// String names the rights as the kernel's constants do, in lower case.
func (f FS) String() string { return join(uint64(f), fsNames[:]) }

// String names the rights.
func (n Net) String() string { return join(uint64(n), netNames[:]) }

// String names the scopes.
func (s Scope) String() string { return join(uint64(s), scopeNames[:]) }

// String names the flags.
func (f Flags) String() string { return join(uint64(f), flagNames[:]) }
