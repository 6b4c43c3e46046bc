//go:build !darwin && !windows

package protect

import (
	"errors"
	"strconv"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

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
