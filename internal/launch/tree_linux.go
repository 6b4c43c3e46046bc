package launch

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// killTree sends SIGKILL to every descendant of pid, not to pid itself, and
// tells how many there were. Children are stopped by their parents' death
// order: deepest last, so that none is adopted away while we look; the caller
// repeats until none is left.
func killTree(pid int) int {
	n := 0
	for _, c := range children(pid) {
		_ = unix.Kill(c, unix.SIGKILL)
		n += 1 + killTree(c)
	}
	return n
}

// children lists direct children (proc(5), /proc/pid/task/tid/children).
func children(pid int) []int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	var out []int
	for _, f := range bytes.Fields(b) {
		if c, err := strconv.Atoi(string(f)); err == nil {
			out = append(out, c)
		}
	}
	return out
}

// endOuter ends an outer program that is still building its sandbox, and waits for it.
//
// SECURITY: bwrap's child waits for its parent's word before it does anything, on a
// descriptor of which it has a copy. Were the parent killed before that, the child
// would wait for ever: so the parent is stopped, the children are killed, then the
// parent (PROC-02).
func endOuter(pid int) {
	_ = unix.Kill(pid, unix.SIGSTOP)
	var st unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &st, unix.WUNTRACED, nil)
		if err == nil && st.Stopped() {
			break
		}
		if err != unix.EINTR {
			return // it has ended
		}
	}
	killTree(pid)
	_ = unix.Kill(pid, unix.SIGKILL)
	waitPID(pid)
}
