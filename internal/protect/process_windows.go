package protect

import (
	"errors"
	"io/fs"
	"strconv"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

const stillActive = 259 // STILL_ACTIVE

// identify gives the identity of a process of this machine. It began at a time of the
// calendar, not so long after the boot, so that no two boots need to be told apart.
func identify(h host.Host, pid int) (process, error) {
	start, _, err := startOf(h, pid)
	return process{Boot: "any", PIDNS: "none", PID: pid, Start: start}, err
}

// startOf asks when a process began, in units of 100 ns since 1601.
func startOf(_ host.Host, pid int) (start string, ended bool, err error) {
	p, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return "", false, fs.ErrNotExist // MSDN, OpenProcess: no such process
	}
	if err != nil {
		return "", false, err
	}
	defer windows.CloseHandle(p)
	var code uint32
	var began, exit, kernel, user windows.Filetime
	if err := errors.Join(windows.GetExitCodeProcess(p, &code), windows.GetProcessTimes(p, &began, &exit, &kernel, &user)); err != nil {
		return "", false, err
	}
	return strconv.FormatUint(uint64(began.HighDateTime)<<32|uint64(began.LowDateTime), 10), code != stillActive, nil
}
