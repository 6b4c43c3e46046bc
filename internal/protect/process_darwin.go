package protect

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// identify gives the identity of a process of this machine (sysctl(3)). There are no
// pid namespaces.
func identify(h host.Host, pid int) (process, error) {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return process{}, err
	}
	start, _, err := startOf(h, pid)
	return process{Boot: boot, PID: pid, Start: start}, err
}

// startOf reads when a process started.
func startOf(_ host.Host, pid int) (start string, dead bool, err error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	switch {
	case errors.Is(err, unix.EIO), errors.Is(err, unix.ESRCH), err == nil && int(k.Proc.P_pid) != pid:
		return "", false, fs.ErrNotExist // EIO is x/sys's word for an empty answer
	case err != nil:
		return "", false, err
	}
	return fmt.Sprintf("%d.%06d", k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec), k.Proc.P_stat == zombie, nil
}
