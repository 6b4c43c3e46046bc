package probe

import "golang.org/x/sys/unix"

// int80 asks for the process id by the 32-bit entry (number 20); a negative error else.
func int80() int64

// architecture are ways round a filter that looks at numbers of one architecture.
func architecture() []attempt {
	return []attempt{
		{name: "int80", what: "a 32-bit system call", do: func([]string) error {
			if n := int80(); n < 0 {
				return unix.Errno(-n)
			}
			return nil
		}},
		num("x32", "an x32 system call: getpid", unix.SYS_GETPID|0x40000000, [6]uintptr{}),
		num("iopl", "input and output ports", unix.SYS_IOPL, [6]uintptr{3}),
		num("ioperm", "one input port", unix.SYS_IOPERM, [6]uintptr{0x80, 1, 1}),
		num("modify_ldt", "read the segment table", unix.SYS_MODIFY_LDT, [6]uintptr{0, 0, 0}),
		num("ustat", "statfs by device number", unix.SYS_USTAT, [6]uintptr{0, 0}, unix.EINVAL, unix.EFAULT),
	}
}
