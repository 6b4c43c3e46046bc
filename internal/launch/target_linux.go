package launch

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/inside"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
)

// target says what is started, and in which namespaces.
//
// SECURITY: the environment is empty. What the launcher holds must not be seen
// in /proc/1/environ, and what a request asks for must not reach a program of
// ours: LD_PRELOAD would run its code outside (VAR-02, VAR-03).
func (l *launcher) target() (path string, argv []string, attr *syscall.ProcAttr) {
	sys := &syscall.SysProcAttr{Setsid: true} // signals of the caller's terminal are not for us
	attr = &syscall.ProcAttr{Dir: "/", Env: []string{}, Sys: sys}
	iso := l.plan.Isolation
	switch {
	case l.plan.Outer != nil:
		if iso.PrivateMounts {
			// Go makes / private after unshare(CLONE_NEWNS): no mount of the host
			// reaches the namespace that bwrap starts from (LNX-11).
			sys.Unshareflags = unix.CLONE_NEWNS
			if iso.User {
				l.newUserNS(sys)
			}
		}
		return l.plan.Outer.Program, []string{"bwrap"}, attr
	case iso.Direct:
		return inside.InitPath, l.initArgs(inside.InitName), attr
	}
	sys.Cloneflags = namespaces(iso) &^ unix.CLONE_NEWUSER
	if iso.User {
		l.newUserNS(sys)
		// The capabilities of the new user namespace must outlive the exec of the
		// stage when the user is not root in it; the init drops them all.
		for c := range unix.CAP_LAST_CAP + 1 {
			sys.AmbientCaps = append(sys.AmbientCaps, uintptr(c))
		}
		if os.Geteuid() == 0 {
			sys.AmbientCaps = nil
		}
	}
	return "/proc/self/exe", l.initArgs(inside.StageName), attr
}

// initArgs are the arguments of the init, or of the stage that hands them on to it. The
// id of the run is there so that the next start finds the tree of a launcher that was
// killed (FS-07); it is no secret.
func (l *launcher) initArgs(name string) []string {
	if run := l.plan.Limits.How.Group; run != "" {
		return []string{name, run}
	}
	return []string{name}
}

// newUserNS asks for a user namespace in which every id keeps its number.
func (l *launcher) newUserNS(sys *syscall.SysProcAttr) {
	sys.Cloneflags |= unix.CLONE_NEWUSER
	sys.UidMappings = idMap(l.plan.Kernel.UIDMap, os.Geteuid())
	sys.GidMappings = idMap(l.plan.Kernel.GIDMap, os.Getegid())
	sys.GidMappingsEnableSetgroups = os.Geteuid() == 0
}

func idMap(ranges []plan.IDRange, self int) []syscall.SysProcIDMap {
	if os.Geteuid() != 0 || len(ranges) == 0 {
		return []syscall.SysProcIDMap{{ContainerID: self, HostID: self, Size: 1}}
	}
	var out []syscall.SysProcIDMap
	for _, r := range ranges {
		out = append(out, syscall.SysProcIDMap{ContainerID: r.First, HostID: r.First, Size: r.Size})
	}
	return out
}

// openOuter opens what the outer program gets by descriptor: its arguments and
// the paths that it binds. Neither the command nor its environment is ever on
// the process list of the host.
func (l *launcher) openOuter(argv *[]string) error {
	next := len(l.child)
	var args bytes.Buffer
	for _, a := range l.plan.Outer.Args {
		text := a.Text
		if a.Open != "" {
			fd, err := openChecked(a)
			if err != nil {
				return err
			}
			l.extra = append(l.extra, fd)
			text = strconv.Itoa(next + len(l.extra) - 1)
		}
		args.WriteString(text)
		args.WriteByte(0)
	}
	fd, err := argsFile(args.Bytes())
	if err != nil {
		return l.wrap("hand arguments over", err)
	}
	l.extra = append(l.extra, fd)
	*argv = append(*argv, "--args", strconv.Itoa(next+len(l.extra)-1), "--")
	*argv = append(*argv, l.initArgs(inside.InitPath)...)
	return nil
}

// argsFile is a memfd, not a pipe: a pipe would hold only 64 KiB.
func argsFile(data []byte) (int, error) {
	fd, err := unix.MemfdCreate("arguments", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, err
	}
	if _, err = unix.Write(fd, data); err == nil {
		_, err = unix.Seek(fd, 0, 0)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// openChecked opens a path without following links and compares its identity.
//
// SECURITY: what was checked is what is mounted, also when a directory is
// swapped for a link during start-up (FS-06).
func openChecked(a plan.OuterArg) (int, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: noLinks}
	fd, err := unix.Openat2(unix.AT_FDCWD, a.Open, &how)
	if err != nil {
		return -1, fault.Wrap(fault.LaunchFailed, "open", a.Open, err).WithHint("it changed while the sandbox was being built")
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return -1, fault.Wrap(fault.LaunchFailed, "open", a.Open, err)
	}
	if a.ID.Ino != 0 && (uint64(st.Dev) != a.ID.Dev || st.Ino != a.ID.Ino) {
		unix.Close(fd)
		return -1, fault.Wrap(fault.LaunchFailed, "open", a.Open, unix.ESTALE).WithHint("it changed while the sandbox was being built")
	}
	return fd, nil
}
