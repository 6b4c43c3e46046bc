package keeper

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// On Linux the keeper runs in its tests alone: linux-native and linux-bwrap have
// an init in a pid namespace.

// rssUnit is what ru_maxrss counts in: KiB (getrusage(2)).
const rssUnit = 1

// processes reads /proc (proc(5)).
func processes() ([]proc, error) {
	dir, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var out []proc
	for _, e := range dir {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		text := string(data)
		open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
		if err != nil || open < 0 || end < open {
			continue
		}
		f := strings.Fields(text[end+1:])
		if len(f) < 20 {
			continue
		}
		ppid, _ := strconv.Atoi(f[1])
		pgid, _ := strconv.Atoi(f[2])
		out = append(out, proc{pid: pid, ppid: ppid, pgid: pgid, start: f[19], gone: f[0] == "Z" || f[0] == "X", name: text[open+1 : end]})
	}
	return out, nil
}

// watch looks at the process list every few milliseconds.
func watch(t *tree, _ int) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				t.look()
			}
		}
	}()
	return func() { close(done) }
}

// waitEnd waits until a child has ended and does not take its number (waitid(2)).
func waitEnd(pid int) {
	_ = unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
}

func openPTY(rows, cols uint16) (master, slave *os.File, name string, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, "", err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		unix.Close(fd)
		return nil, nil, "", err
	}
	return finishPTY(fd, "/dev/pts/"+strconv.Itoa(n), rows, cols)
}

// dup2 has another name on arm64.
func dup2(from, to int) error { return unix.Dup3(from, to, 0) }
