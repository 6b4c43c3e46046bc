package launch

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/inside"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
)

// prelude is what the raw child does before the mounts: what os.StartProcess
// does for the second start. Descriptors come in slots, as their numbers are
// known only when the image is made.
type prelude struct {
	fds  []inside.Slot // what shall become the descriptors from 0 on
	sync inside.Slot   // root: a pipe that says that the id maps are written
	tell inside.Slot   // its other end, which is the launcher's alone
}

// mapsWritten is the byte that says that the id maps are written.
const mapsWritten = 1

func lowerPrelude(b *inside.Builder, p *plan.Plan, fds int) prelude {
	call := func(label string, nr uintptr, args ...inside.Arg) *inside.Call {
		return b.Call(inside.Setup, label, nr, args...)
	}
	pre := prelude{fds: make([]inside.Slot, fds)}
	for i := range pre.fds {
		pre.fds[i] = b.NewSlot()
	}
	pre.sync, pre.tell = b.NewSlot(), b.NewSlot()
	lowerMaps(b, p.Isolation.User, pre)
	call("start a session", unix.SYS_SETSID)
	for i := range pre.fds {
		call("move descriptors", unix.SYS_FCNTL, inside.FromSlot(pre.fds[i]), inside.Imm(unix.F_DUPFD_CLOEXEC), inside.Int(len(pre.fds))).To(pre.fds[i])
	}
	for i := range pre.fds {
		call("place descriptors", unix.SYS_DUP3, inside.FromSlot(pre.fds[i]), inside.Int(i), inside.Int(0))
	}
	// SECURITY: nothing else that the launcher holds gets past the exec (VAR-03).
	call("close descriptors", unix.SYS_CLOSE_RANGE, inside.Int(len(pre.fds)), inside.Imm(1<<32-1), inside.Imm(unix.CLOSE_RANGE_CLOEXEC))
	return pre
}

// lowerMaps writes the part about the id maps of a new user namespace. The map of an ordinary user's own id can be
// written inside; root's, of many ids, must come from outside (user_namespaces(7)).
func lowerMaps(b *inside.Builder, user bool, pre prelude) {
	if !user {
		return
	}
	if os.Geteuid() != 0 {
		writeFile(b, pre.sync, "/proc/self/setgroups", "deny")
		writeFile(b, pre.sync, "/proc/self/uid_map", selfMap(os.Geteuid()))
		writeFile(b, pre.sync, "/proc/self/gid_map", selfMap(os.Getegid()))
		return
	}
	const label = "wait for the id maps"
	// SECURITY: the child has a copy of the writing end, too. Kept open, it
	// would wait for ever when the launcher is killed now (PROC-02).
	b.Call(inside.Setup, label, unix.SYS_CLOSE, inside.FromSlot(pre.tell))
	buf := inside.Buf(8)
	b.Call(inside.Setup, label, unix.SYS_READ, inside.FromSlot(pre.sync), buf, inside.Int(1))
	b.Compare(inside.Setup, label, buf, inside.Bytes([]byte{mapsWritten, 0, 0, 0, 0, 0, 0, 0}), 8) // not so at the end of file
}

func selfMap(id int) string { return fmt.Sprintf("%d %d 1", id, id) }

func writeFile(b *inside.Builder, fd inside.Slot, path, text string) {
	label := "write " + path
	b.Call(inside.Setup, label, unix.SYS_OPENAT, inside.Int(unix.AT_FDCWD), inside.Str(path), inside.Imm(unix.O_WRONLY|unix.O_CLOEXEC)).To(fd)
	b.Call(inside.Setup, label, unix.SYS_WRITE, inside.FromSlot(fd), inside.Str(text), inside.Int(len(text)))
	b.Call(inside.Setup, label, unix.SYS_CLOSE, inside.FromSlot(fd))
}

// lowerExec ends the raw child's program: it becomes the init, with an empty
// environment.
func lowerExec(b *inside.Builder, args []string) {
	argv := b.Strings(args)
	b.Call(inside.Setup, "start the init", unix.SYS_EXECVEAT, inside.Int(inside.FDInit), inside.Str(""), inside.Ref(argv), inside.Ref(b.Strings(nil)), inside.Imm(unix.AT_EMPTY_PATH))
}

// clone starts the raw child. It costs no second start of our own binary, and
// nothing that grows with our heap.
func (l *launcher) clone() error {
	slots := map[inside.Slot]int{}
	for i, f := range append(l.child[:], l.extra...) {
		slots[l.pre.fds[i]] = f
	}
	return l.cloneMapped(l.image, namespaces(l.plan.Isolation), l.plan.Isolation.User, l.pre, slots, l.child[inside.FDStatus])
}

// cloneMapped starts the program Setup of an image in a raw child, and writes the
// id maps of its user namespace where that is ours to do.
func (l *launcher) cloneMapped(im *inside.Image, flags uintptr, user bool, pre prelude, slots map[inside.Slot]int, status int) error {
	rootMaps := user && os.Geteuid() == 0
	var w int
	if rootMaps {
		r, wr, err := pipe(0)
		if err != nil {
			return l.wrap("open descriptors", err)
		}
		defer unix.Close(r)
		defer unix.Close(wr)
		w, slots[pre.sync], slots[pre.tell] = wr, r, wr
	}
	var child *inside.Child
	err := l.inGroup(func(group int) (err error) {
		child, err = inside.Clone(im, flags, slots, status, group)
		return err
	})
	if err != nil {
		return l.wrap("make namespaces", err)
	}
	l.raw, l.outer = child, child.PID
	if !rootMaps {
		return nil
	}
	if err := writeMaps(child.PID, l.plan); err != nil {
		return l.wrap("write id maps", err)
	}
	_, err = unix.Write(w, []byte{mapsWritten})
	return err
}

// writeMaps gives the child's user namespace identity maps: every id keeps its
// number, so that owners look right inside (user_namespaces(7)). A map of more
// than one id must be written by a process of the parent namespace.
func writeMaps(pid int, p *plan.Plan) error {
	for _, m := range []struct {
		file   string
		ranges []plan.IDRange
	}{{"gid_map", p.Kernel.GIDMap}, {"uid_map", p.Kernel.UIDMap}} {
		var text []byte
		if len(m.ranges) == 0 {
			m.ranges = []plan.IDRange{{First: os.Geteuid(), Size: 1}}
		}
		for _, r := range m.ranges {
			text = fmt.Appendf(text, "%d %d %d\n", r.First, r.First, r.Size)
		}
		if err := writeKernel("/proc/"+strconv.Itoa(pid)+"/"+m.file, text); err != nil {
			return err
		}
	}
	return nil
}

// writeKernel writes a kernel file with one call.
func writeKernel(path string, text []byte) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Write(fd, text)
	return err
}

// namespaces gives clone(2)'s flags.
func namespaces(iso plan.Isolation) (flags uintptr) {
	for _, ns := range []struct {
		on   bool
		flag uintptr
	}{
		{iso.User, unix.CLONE_NEWUSER}, {iso.Mount, unix.CLONE_NEWNS}, {iso.PID, unix.CLONE_NEWPID}, {iso.UTS, unix.CLONE_NEWUTS},
		{iso.IPC, unix.CLONE_NEWIPC}, {iso.Cgroup, unix.CLONE_NEWCGROUP}, {iso.Net, unix.CLONE_NEWNET},
	} {
		if ns.on {
			flags |= ns.flag
		}
	}
	return flags
}
