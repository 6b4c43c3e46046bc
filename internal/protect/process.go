package protect

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// process is the identity of a launcher. Start times and process numbers come again
// after a reboot, and numbers alone come again any time.
type process struct {
	Boot  string `json:"boot"`
	PIDNS string `json:"pidns"` // a number means nothing in another pid namespace
	PID   int    `json:"pid"`
	Start string `json:"start"` // /proc/<pid>/stat, field 22
}

// identify gives the identity of a process of this machine.
func identify(h host.Host, pid int) (process, error) {
	boot, err := h.ReadFile("/proc/sys/kernel/random/boot_id", 128)
	if err != nil {
		return process{}, err
	}
	ns, err := h.Readlink("/proc/self/ns/pid")
	if err != nil {
		return process{}, err
	}
	start, _, err := startOf(h, pid)
	return process{Boot: strings.TrimSpace(string(boot)), PIDNS: ns, PID: pid, Start: start}, err
}

// alive tells whether the process still runs. What cannot be told counts as alive,
// with the error: a run that goes on must not be looked at as a dead one.
func (p process) alive(h host.Host) (bool, error) {
	here, err := identify(h, os.Getpid())
	if err != nil {
		return true, err
	}
	if p.Boot != here.Boot {
		return false, nil
	}
	if p.PIDNS != here.PIDNS {
		return true, errors.New("its launcher is in another pid namespace")
	}
	start, zombie, err := startOf(h, p.PID)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err != nil || start == p.Start && !zombie, err
}

// startOf reads when a process started, in ticks since the boot.
func startOf(h host.Host, pid int) (start string, zombie bool, err error) {
	data, err := h.ReadFile("/proc/"+strconv.Itoa(pid)+"/stat", 4096)
	if err != nil {
		return "", false, err
	}
	text := string(data) // pid (name) state …; the name may hold anything
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return "", false, errors.New("/proc/<pid>/stat is not as expected")
	}
	return fields[19], fields[0] == "Z" || fields[0] == "X", nil
}
