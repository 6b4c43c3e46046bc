package launch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// endLimit bounds how long EndGroup waits for the last process to be gone.
const endLimit = 20 * time.Second

// EndGroup ends what is left of a run whose launcher was killed, and takes its groups
// away. The name comes from the run's own record, never from a pattern (FS-07). No error
// means that nothing of the run is left in a group; without groups nothing is known, and
// the init ends the tree by itself.
func EndGroup(dirs map[string]string, group string) error {
	g := &cgroup{}
	for _, base := range dirs {
		if dir := filepath.Join(base, groupPrefix+group); !slices.Contains(g.dirs, dir) {
			g.dirs = append(g.dirs, dir)
		}
	}
	g.unthrottle()
	for until := time.Now().Add(endLimit); g.killAll() > 0; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(until) {
			return errors.New("processes of the run do not end")
		}
	}
	g.remove()
	for _, dir := range g.dirs {
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			return errors.New(dir + " cannot be removed")
		}
	}
	return nil
}

// unthrottle lifts the limit on processor time: what was killed needs some to end, and
// a group that has used up its share gets none for most of each period.
func (g *cgroup) unthrottle() {
	if g == nil {
		return
	}
	for _, dir := range g.dirs {
		for file, text := range map[string]string{"cpu.cfs_quota_us": "-1", "cpu.max": "max"} {
			_ = writeKernel(filepath.Join(dir, file), []byte(text)) // where the controller is another, there is no such file
		}
	}
}

// killAll kills every process in the groups and tells how many there were.
func (g *cgroup) killAll() (n int) {
	for _, dir := range g.dirs {
		members := processesOf(dir)
		if n += len(members); len(members) > 0 && writeKernel(filepath.Join(dir, "cgroup.kill"), []byte("1")) != nil {
			killMembers(dir, members)
		}
	}
	return n
}

// killMembers is for version 1, which cannot kill a group.
//
// SECURITY: a number may be another process's by now. The descriptor is of one process,
// and that one was in the group after it was opened.
func killMembers(dir string, members []int) {
	fds := map[int]int{}
	for _, pid := range members[:min(len(members), 256)] { // descriptors are few; the caller comes again
		if fd, err := unix.PidfdOpen(pid, 0); err == nil {
			fds[pid] = fd
		}
	}
	still := processesOf(dir)
	for pid, fd := range fds {
		if slices.Contains(still, pid) {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		unix.Close(fd)
	}
}

func processesOf(dir string) (pids []int) {
	b, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	for f := range strings.FieldsSeq(string(b)) {
		if pid, err := strconv.Atoi(f); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}
