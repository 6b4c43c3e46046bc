//go:build unix

package conformance

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup lets a command lead a process group, which ends as a whole.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// as lets a command run as another account.
func as(cmd *exec.Cmd, uid, gid int) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), Groups: []uint32{}}}
}

// inheritable opens a file as a careless parent would: children get it too.
func inheritable(path string) (int, error) { return syscall.Open(path, syscall.O_RDONLY, 0) }

func closeFD(fd int) {
	if fd > 2 {
		_ = syscall.Close(fd)
	}
}

func effectiveUID() int { return os.Geteuid() }
