package launch

import (
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// groupOnce looks once at the limits on processes of the caller's cgroups (pids.max),
// which count threads as RLIMIT_NPROC does. Errors: LAUNCH_FAILED.
var groupOnce = sync.OnceValue(func() error {
	left, limited := groupRoom(readSmall)
	switch {
	case !limited:
		return nil
	case left < spareThreads+startsUp:
		e := fault.Wrap(fault.LaunchFailed, "start the sandbox", "", unix.EAGAIN)
		e.Hint = "the limit on processes and threads of your cgroup (pids.max) is nearly used up: end some, or raise it (systemd: TasksMax)"
		return e
	case left < scarce:
		KeepThreads(spareThreads)
	}
	return nil
})

// groupRoom gives how many processes the caller's cgroup and those above it, as far as
// they can be seen, still allow. What cannot be read sets no limit (cgroups(7)).
func groupRoom(read func(path string) string) (left int, limited bool) {
	for line := range strings.Lines(read("/proc/self/cgroup")) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		bases := []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}
		if f[1] != "" { // version 1
			bases = []string{"/sys/fs/cgroup/" + f[1]}
		}
		if f[1] != "" && f[1] != "pids" {
			continue
		}
		for _, base := range bases {
			for group := strings.TrimSuffix(f[2], "/"); ; group = group[:strings.LastIndexByte(group, '/')] {
				if n, ok := groupLeft(read, base+group); ok && (!limited || n < left) {
					left, limited = n, true
				}
				if group == "" || group[0] != '/' {
					break
				}
			}
		}
	}
	return left, limited
}

func groupLeft(read func(path string) string, dir string) (left int, limited bool) {
	most, err := strconv.Atoi(strings.TrimSpace(read(dir + "/pids.max")))
	if err != nil { // "max", or no such file
		return 0, false
	}
	now, err := strconv.Atoi(strings.TrimSpace(read(dir + "/pids.current")))
	return most - now, err == nil
}

// readSmall reads a file of the kernel's, "" for none.
func readSmall(path string) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	b := make([]byte, os.Getpagesize())
	n, _ := unix.Read(fd, b)
	return string(b[:max(n, 0)])
}
