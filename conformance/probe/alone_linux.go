package probe

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mostPIDs is how far process numbers go; Linux, include/linux/threads.h.
const mostPIDs = 1 << 22

// alone gives nil when every process that a signal could reach is this one, one above
// it, or the first: what is sent to all of them, or to the first, stays in the sandbox.
//
// SECURITY: the numbers are asked of the kernel one by one. /proc may be of another
// process namespace than the probe, or hide processes; below manyPIDs it is used only to let
// processes off, and one of which it says nothing is a stranger.
func alone(stranger int) error {
	if err := unix.Kill(stranger, 0); err != unix.ESRCH {
		return fmt.Errorf("process %d of the host can be named here: %v", stranger, err)
	}
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("/proc is of another process namespace: %q %v", self, err)
	}
	own := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !own[pid]; {
		own[pid] = true
		_, pid = leader(pid)
	}
	if !own[1] {
		return fmt.Errorf("the first process is not above this one")
	}
	for pid, end := 1, asked(highest()); pid < end; pid++ {
		if unix.Kill(pid, 0) == unix.ESRCH {
			continue
		}
		if of, _ := leader(pid); !own[of] {
			return fmt.Errorf("process %d is a stranger", pid)
		}
	}
	return listedAreOwn(own)
}

// manyPIDs are asked of the kernel one by one in any case. Four million, as many as a new
// process namespace may have, take seconds.
const manyPIDs = 1 << 16

// asked is where the asking may end: numbers are given one after the other, so above the
// last one there is nothing that began after this namespace was new, and the last one is
// told by the kernel for the caller's own namespace (/proc/loadavg, proc(5)). Where
// it is not told, all are asked. What has gone round is in the list of /proc.
func asked(highest int) int {
	data, err := os.ReadFile("/proc/loadavg")
	f := strings.Fields(string(data))
	if err != nil || len(f) != 5 {
		return highest
	}
	last, err := strconv.Atoi(f[4])
	if err != nil || last < os.Getpid() { // it has gone round
		return highest
	}
	return min(highest, max(manyPIDs, last+manyPIDs))
}

// listedAreOwn looks at what /proc lists, too: a number above those that were asked.
func listedAreOwn(own map[int]bool) error {
	list, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, e := range list {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid >= manyPIDs && !own[pid] {
			return fmt.Errorf("process %d is a stranger", pid)
		}
	}
	return nil
}

// leader gives the process of a thread, and the one above that; 0 for unknown.
func leader(pid int) (of, above int) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(line, ":")
		n, _ := strconv.Atoi(strings.TrimSpace(value))
		switch key {
		case "Tgid":
			of = n
		case "PPid":
			above = n
		}
	}
	return of, above
}

// highest is one more than the highest number that a process can have.
func highest() int {
	data, err := os.ReadFile("/proc/sys/kernel/pid_max")
	n, cerr := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || cerr != nil || n < 1 || n > mostPIDs {
		return mostPIDs
	}
	return n
}
