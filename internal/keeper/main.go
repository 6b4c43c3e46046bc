//go:build darwin || linux

package keeper

import (
	"bufio"
	"encoding/json"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Name is argv[0] of a keeper.
const Name = "qsandbox-keeper"

// Descriptors of a keeper.
const (
	fdControl = 3
	fdStatus  = 4
	fdJob     = 5
	fdTTY     = 6
)

// Control bytes: a signal for the command's group, or with all for the whole tree.
const all = 0x80

// exitFailed is a keeper's own exit code when it could not do its work.
const exitFailed = 125

// Main is the program of a keeper. It never returns.
func Main() {
	// SECURITY: signals that anybody sends to end the keeper are taken and thrown away.
	signal.Notify(make(chan os.Signal, 16))
	closeOnExec()
	k := &keeper{status: os.NewFile(fdStatus, "status"), control: os.NewFile(fdControl, "control")}
	job := os.NewFile(fdJob, "job")
	j, err := readJob(job)
	job.Close()
	if err != nil {
		k.tell(failedAt("read the job", err))
		os.Exit(exitFailed)
	}
	os.Exit(k.run(j))
}

type keeper struct {
	status, control *os.File
	tree            *tree
	pid             int
}

func (k *keeper) tell(e event) {
	line, err := json.Marshal(e)
	if err == nil {
		_, _ = k.status.Write(append(line, '\n'))
	}
}

func (k *keeper) run(j Job) int {
	noCore()
	pid, step, err := start(j)
	if err != nil {
		k.tell(failedAt(step, err))
		return exitFailed
	}
	k.pid = pid
	closeOutput()
	k.tree = newTree(pid)
	stop := watch(k.tree, pid)
	defer stop()
	go k.listen()
	if j.Wrapper != "" && !k.pastWrapper(j.Wrapper) {
		var st syscall.WaitStatus
		waitFor(pid, &st, nil)
		k.tree.end()
		k.tell(event{Kind: evFailed, Step: j.Wrapper + " could not apply the sandbox or execute the command"})
		return exitFailed
	}
	k.tell(event{Kind: evStarted, PID: pid})
	k.tell(k.wait())
	return 0
}

// wait waits for the command, ends what it left behind, and tells how it ended.
func (k *keeper) wait() event {
	var st syscall.WaitStatus
	var ru syscall.Rusage
	k.ended() // not waited for yet: its number is still its own
	k.tree.look()
	waitFor(k.pid, &st, &ru)
	k.tree.end()
	return event{Kind: evExited, PID: k.pid, Status: int(st), MaxRSS: int64(ru.Maxrss) / rssUnit,
		User: ru.Utime.Nano() / 1000, System: ru.Stime.Nano() / 1000}
}

// ended waits until the command has ended, without taking its number.
func (k *keeper) ended() {
	for {
		list, err := processes()
		alive := err != nil
		for _, p := range list {
			alive = alive || p.pid == k.pid && !p.gone
		}
		if !alive {
			return
		}
		waitEnd(k.pid)
	}
}

func waitFor(pid int, st *syscall.WaitStatus, ru *syscall.Rusage) {
	for {
		if _, err := syscall.Wait4(pid, st, 0, ru); err != syscall.EINTR {
			return
		}
	}
}

// wrapperLimit bounds the time from the wrapper's start to the command.
const wrapperLimit = 20 * time.Second

// pastWrapper waits until the wrapper has become the command; false when it ended
// before. As it has not been waited for, its last name is still there.
func (k *keeper) pastWrapper(wrapper string) bool {
	until := time.Now().Add(wrapperLimit)
	for pause := 200 * time.Microsecond; time.Now().Before(until); pause = min(2*pause, 10*time.Millisecond) {
		list, err := processes()
		for _, p := range list {
			switch {
			case p.pid != k.pid:
			case p.name != wrapper && p.name != "":
				return true
			case p.gone:
				return false
			}
		}
		if err != nil {
			return true // the list cannot be had; the command's own end will tell
		}
		time.Sleep(pause)
	}
	k.tree.end()
	return false
}

// listen passes signals on. When the launcher is gone, all ends.
func (k *keeper) listen() {
	in := bufio.NewReader(k.control)
	for {
		b, err := in.ReadByte()
		switch sig := syscall.Signal(b &^ all); {
		case err != nil:
			k.tree.end()
			os.Exit(exitFailed)
		case b == all|byte(syscall.SIGKILL):
			k.tree.end()
		case b&all != 0:
			k.tree.signal(sig)
		default:
			_ = syscall.Kill(-k.pid, sig)
		}
	}
}

// start starts the command in a session of its own.
func start(j Job) (pid int, step string, err error) {
	attr := &syscall.ProcAttr{Dir: string(j.Dir), Env: texts(j.Env), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true}}
	if j.TTY {
		attr.Files = []uintptr{fdTTY, fdTTY, fdTTY}
		attr.Sys.Setctty, attr.Sys.Ctty = true, 0
	}
	pid, err = syscall.ForkExec(string(j.Path), texts(j.Argv), attr)
	unix.Close(fdTTY)
	return pid, "execute " + string(j.Path), err
}

// closeOutput lets go of the command's streams, so that they end with the command.
func closeOutput() {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = dup2(null, fd)
	}
	unix.Close(null)
}

// closeOnExec marks all descriptors but the command's own.
//
// SECURITY: what the launcher's caller left open must not reach the command (PROC-01).
func closeOnExec() {
	for fd := fdControl; fd <= fdTTY; fd++ {
		unix.CloseOnExec(fd)
	}
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		for fd := fdTTY + 1; fd < 4096; fd++ {
			unix.CloseOnExec(fd)
		}
	}
	for _, e := range names {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > fdTTY {
			unix.CloseOnExec(fd)
		}
	}
}

// noCore switches core dumps off for the command (PROC-03).
func noCore() {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}
