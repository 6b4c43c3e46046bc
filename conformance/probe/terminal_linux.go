package probe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// terminals are requests to the terminal that is descriptor 0. Run them on one of
// the case's own.
func terminals() []attempt {
	return []attempt{
		{"tiocsti", "", "type one character into the terminal", func([]string) error { return push(unix.TIOCSTI) }},
		{"tiocsti-wide", "", "the same with bits above the low 32", func([]string) error { return push(unix.TIOCSTI | 1<<32) }},
		{"tioclinux", "", "paste into a virtual console", func([]string) error { return ask(0x541C, unix.EINVAL, unix.ENOTTY) }},
		{"tioclinux-wide", "", "the same with bits above the low 32", func([]string) error { return ask(0x541C|1<<33, unix.EINVAL, unix.ENOTTY) }},
		{"tioccons", "", "take the console's output, which a descriptor that is no terminal cannot", func([]string) error {
			var p [2]int
			if err := unix.Pipe(p[:]); err != nil {
				return err
			}
			return call(unix.SYS_IOCTL, [6]uintptr{uintptr(p[0]), 0x541D, 0}, unix.ENOTTY)
		}},
		{"tiocsetd", "", "the line discipline that is set already", func([]string) error {
			n := int32(0)
			_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, 0x5423, uintptr(unsafe.Pointer(&n)))
			return orNil(errno)
		}},
		{"tiocswinsz", "", "the size of the terminal", func([]string) error {
			return unix.IoctlSetWinsize(0, unix.TIOCSWINSZ, &unix.Winsize{Row: 11, Col: 22})
		}},
		{"openpty", "", "a new pseudo-terminal", func([]string) error {
			m, s, err := openpty()
			if err != nil {
				return err
			}
			m.Close()
			return s.Close()
		}},
	}
}

func push(request uintptr) error {
	c := byte('q')
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, request, uintptr(unsafe.Pointer(&c)))
	return orNil(errno)
}

func ask(request uintptr, reached ...unix.Errno) error {
	c := byte(255) // no subcode of TIOCLINUX
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, request, uintptr(unsafe.Pointer(&c)))
	for _, r := range reached {
		if errno == r {
			return nil
		}
	}
	return orNil(errno)
}

func openpty() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return master, slave, err
}

// terminal runs a command on a new terminal, its controlling one, and gives its exit code.
func terminal(argv []string, out, msg io.Writer) int {
	m, s, err := openpty()
	if err != nil {
		fmt.Fprintln(msg, "probe: terminal:", err)
		return 125
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s, s, s
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(msg, "probe: terminal:", err)
		return 126
	}
	s.Close()
	go func() { _, _ = io.Copy(out, m) }()
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode()
	}
	return 128
}
