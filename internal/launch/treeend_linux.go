package launch

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/inside"
)

// EndRun ends what is left of a run whose launcher was killed: its tree, and its groups
// where it had any. No error means that nothing of the run is left that this process
// can see. dirs are those of host.Cgroup, run is the run's id.
func EndRun(dirs map[string]string, run string) error {
	return errors.Join(EndGroup(dirs, run), endTree(run))
}

// endTree ends the init of a run and waits until it is gone.
//
// SECURITY: an init whose launcher is gone ends by itself, but not at once. It is done
// with only when no other process of its namespace is left (pid_namespaces(7)), and the
// descriptor becomes readable after that (pidfd_open(2)).
func endTree(run string) error {
	for until := time.Now().Add(endLimit); ; {
		inits := initsOf(run)
		if len(inits) == 0 {
			return nil
		}
		for fd, kind := range inits {
			if kind == initOfRun {
				_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			}
			waitFD(fd, time.Until(until))
			unix.Close(fd)
		}
		if time.Now().After(until) {
			return errors.New("an init that may be the run's does not end")
		}
	}
}

// waitFD waits until a descriptor is readable, or as long as is given.
func waitFD(fd int, d time.Duration) {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for until := time.Now().Add(d); ; {
		_, err := unix.Poll(poll, int(max(time.Until(until), 0)/time.Millisecond))
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// initKind is what a process is to a run that has to end.
type initKind int

const (
	initOfNone  initKind = iota
	initOfRun            // ours, with the run's id
	initUnknown          // the first of some namespace that is ending and has lost its arguments: it is waited for, never killed
)

// initsOf finds the inits of a run, by descriptor.
func initsOf(run string) map[int]initKind {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	found := map[int]initKind{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || kindOf(pid, run) == initOfNone {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if kind := kindOf(pid, run); kind != initOfNone { // the number may be another process's by now
			found[fd] = kind
		} else {
			unix.Close(fd)
		}
	}
	return found
}

// kindOf looks at a process.
//
// SECURITY: the kernel says which process is the first of a namespace. To kill it ends
// nothing outside of that, and nothing inside can become one, whatever it calls itself.
func kindOf(pid int, run string) initKind {
	dir := "/proc/" + strconv.Itoa(pid)
	args, err := os.ReadFile(dir + "/cmdline")
	if err != nil {
		return initOfNone
	}
	named := string(args) == inside.InitName+"\x00"+run+"\x00" || string(args) == inside.InitPath+"\x00"+run+"\x00"
	if !named && len(args) > 0 {
		return initOfNone
	}
	status, err := os.ReadFile(dir + "/status")
	first, ending := firstBelow(status)
	switch {
	case err != nil || !first:
		return initOfNone
	case named:
		return initOfRun
	case ending:
		return initUnknown
	}
	return initOfNone
}

// firstBelow reads /proc/<pid>/status (proc_pid_status(5)): whether a process is the
// first of a namespace below ours (its numbers are listed from ours down), and whether
// it has no memory any more. A zombie is neither: its namespace is empty.
func firstBelow(status []byte) (first, ending bool) {
	ending = true
	for line := range bytes.Lines(status) {
		name, value, _ := strings.Cut(string(line), ":")
		f := strings.Fields(value)
		switch {
		case name == "State" && len(f) > 0 && (f[0] == "Z" || f[0] == "X"):
			return false, false
		case name == "NSpid":
			first = len(f) > 1 && f[len(f)-1] == "1"
		case name == "VmSize":
			ending = false
		}
	}
	return first, ending && first
}
