package cell

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Possible tells whether cells can be made on this system at all.
const Possible = true

// strangers gives the first number outside of a mapped cell's people, and how many
// there are. No account has these numbers; in a cell inside a cell there are fewer.
func strangers() (first, n int) {
	const base, count = 0x70000000, 65536
	var inside, outside, size int64
	data, err := os.ReadFile("/proc/self/uid_map")
	if err == nil {
		_, err = fmt.Sscan(string(data), &inside, &outside, &size)
	}
	if err == nil && inside+size < base+count {
		return 10000, 50000
	}
	return base, count
}

// Command gives the command that makes a cell and runs Spec.Argv in it. program is
// this program, in a directory that everybody can search and that Show names. Run runs it.
func Command(ctx context.Context, program string, s Spec) (*exec.Cmd, error) {
	outer, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return nil, err
	}
	s.Outer, s.UID, s.GID = outer, 0, 0
	attr := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWNET,
		Pdeathsig:  syscall.SIGKILL,
		Setsid:     true,
	}
	root := os.Geteuid() == 0
	switch {
	case s.Users == Own && !root:
		s.UID, s.GID = os.Geteuid(), os.Getegid()
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: s.UID, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: s.GID, Size: 1}}
	case s.Users == Mapped && root:
		attr.Cloneflags |= unix.CLONE_NEWUSER
		first, n := strangers()
		s.Count = n
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: first, Size: n}}
		attr.GidMappings = attr.UidMappings
		attr.GidMappingsEnableSetgroups = true
		attr.Credential = &syscall.Credential{Uid: 0, Gid: 0}
	case s.Users == Real && root:
	default:
		return nil, fmt.Errorf("user %d cannot have a cell with users %q", os.Geteuid(), s.Users)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "probe", Name, string(text))
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", s.Env, attr
	return cmd, nil
}

// Main is the first process of a cell: it builds it, runs the command and gives its
// exit code. What is left of the cell ends with it.
func Main(args []string, msg io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(msg, "probe: cell takes one argument")
		return Failed
	}
	s, err := decode(args[0])
	if err == nil {
		err = fresh(s)
	}
	if err == nil {
		err = build(s)
	}
	if err != nil {
		fmt.Fprintln(msg, "probe: cell:", err)
		return Failed
	}
	code, err := command(s)
	if err != nil {
		fmt.Fprintln(msg, "probe: cell:", err)
		return Failed
	}
	return code
}

// fresh makes sure that this is the first process of namespaces of its own.
//
// SECURITY: without it the mounts below would be made on the host.
func fresh(s Spec) error {
	now, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return err
	}
	if os.Getpid() != 1 || now == s.Outer || now == "" {
		return fmt.Errorf("not in namespaces of its own")
	}
	return nil
}

// command runs the command one user and mount namespace further down.
//
// SECURITY: the kernel locks mounts that come from a more privileged namespace: what
// is read-only stays so, whatever capabilities the command has in its own.
func command(s Spec) (int, error) {
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	cmd.Dir, cmd.Env = s.Dir, append(os.Environ(), EnvInside+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC, Pdeathsig: syscall.SIGKILL}
	switch s.Users {
	case Mapped:
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: s.Count}}
		attr.GidMappings, attr.GidMappingsEnableSetgroups = attr.UidMappings, true
	case Own:
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: s.UID, HostID: 0, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: s.GID, HostID: 0, Size: 1}}
	}
	cmd.SysProcAttr = attr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	for { // the first process of a pid namespace inherits everybody's orphans
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case pid == cmd.Process.Pid && ws.Exited():
			return ws.ExitStatus(), nil
		case pid == cmd.Process.Pid && ws.Signaled():
			return 128 + int(ws.Signal()), nil
		}
	}
}
