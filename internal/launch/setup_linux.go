package launch

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/inside"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
)

// The mount attributes that every mount of the host gets: setuid bits and
// device nodes of the host have no business inside.
const safeAttr = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV

// openat2 resolve flags: what was checked outside has no links in it, so a link
// met now was put there since (FS-06).
const noLinks = unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// setup lowers a plan's mounts to system calls.
//
// The new root is built on top of the old one, by descriptor: absolute paths
// still lead to the old root, paths relative to the root slot to the new one.
// In the end pivot_root(".", ".") swaps the two and the old one is detached.
type setup struct {
	b     *inside.Builder
	root  inside.Slot // the new root
	src   inside.Slot
	tree  inside.Slot
	dst   inside.Slot
	stat  inside.Arg // buffer for fstat
	limit plan.Limits

	covers map[uint32]inside.Slot // empty, read-only directories that are mounted already, by mode
	null   *inside.Slot           // /dev/null as a cover that is mounted already
}

// lowerSetup writes program Setup.
func lowerSetup(b *inside.Builder, p *plan.Plan) {
	s := &setup{b: b, root: b.NewSlot(), src: b.NewSlot(), tree: b.NewSlot(), dst: b.NewSlot(), stat: inside.Buf(256), limit: p.Limits, covers: map[uint32]inside.Slot{}}
	// SECURITY: nothing that is mounted on the host later may appear inside (LNX-11).
	s.call("make mounts private", unix.SYS_MOUNT, inside.Int(0), inside.Str("/"), inside.Int(0), inside.Imm(unix.MS_REC|unix.MS_PRIVATE), inside.Int(0))
	for _, m := range p.Mounts {
		s.mount(m)
	}
	s.call("change root", unix.SYS_PIVOT_ROOT, inside.Str("."), inside.Str("."))
	s.call("detach the old root", unix.SYS_UMOUNT2, inside.Str("."), inside.Imm(unix.MNT_DETACH))
	s.call("enter the new root", unix.SYS_CHDIR, inside.Str("/"))
	if p.Isolation.Net {
		s.loopback()
	}
	if p.Isolation.User && os.Geteuid() != 0 {
		// The exec of the init takes an ordinary user's capabilities away, and
		// without one the bounding set cannot be emptied any more (LNX-06).
		dropBounding(func(label string, nr uintptr, args ...inside.Arg) *inside.Call { return s.call(label, nr, args...) })
	}
}

func (s *setup) call(label string, nr uintptr, args ...inside.Arg) *inside.Call {
	return s.b.Call(inside.Setup, label, nr, args...)
}

func (s *setup) mount(m plan.Mount) {
	switch m.Kind {
	case plan.RootHost:
		s.rootHost(m)
	case plan.RootEmpty:
		s.newTmpfs("root", 0, 0o755, safeAttr)
		s.adoptRoot()
	case plan.Bind:
		s.bind(m)
	case plan.Tmpfs:
		s.makePlace(m)
		s.newTmpfs(m.Dst, m.Size, m.Mode, safeAttr)
		s.attach(m)
	case plan.HideDir:
		s.hideDir(m)
	case plan.HideFile:
		s.hideFile(m)
	case plan.Dev:
		s.dev(m)
	case plan.Proc:
		s.proc(m)
	case plan.Symlink:
		s.call("link "+m.Dst, unix.SYS_SYMLINKAT, inside.Str(m.Target), inside.FromSlot(s.root), inside.Str(rel(m.Dst))).Tolerate(uintptr(unix.EEXIST))
	case plan.Seal:
		s.setattr("make read-only "+m.Dst, inside.FromSlot(s.root), rel(m.Dst), 0, unix.MOUNT_ATTR_RDONLY)
	}
}

// rel makes an absolute path relative to the root slot.
func rel(path string) string {
	if r := strings.TrimPrefix(path, "/"); r != "" {
		return r
	}
	return "."
}

// rootHost clones the whole tree and makes it read-only with one call, instead
// of one remount per mount.
func (s *setup) rootHost(m plan.Mount) {
	s.openTree("clone /", inside.Int(unix.AT_FDCWD), "/", unix.AT_RECURSIVE, s.tree)
	s.setattr("make / read-only", inside.FromSlot(s.tree), "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, safeAttr|unix.MOUNT_ATTR_RDONLY)
	s.adoptRoot()
}

// adoptRoot puts the detached tree over / and makes it the base of what follows.
func (s *setup) adoptRoot() {
	s.call("attach the new root", unix.SYS_MOVE_MOUNT, inside.FromSlot(s.tree), inside.Str(""), inside.Int(unix.AT_FDCWD), inside.Str("/"), inside.Imm(unix.MOVE_MOUNT_F_EMPTY_PATH))
	s.root, s.tree = s.tree, s.root
	s.call("enter the new root", unix.SYS_FCHDIR, inside.FromSlot(s.root))
}

func (s *setup) bind(m plan.Mount) {
	s.open("open "+m.Src, inside.Int(unix.AT_FDCWD), m.Src, noLinks, s.src)
	s.same("check "+m.Src, s.src, m.ID)
	s.call("clone "+m.Src, unix.SYS_OPEN_TREE, inside.FromSlot(s.src), inside.Str(""), inside.Imm(unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.AT_RECURSIVE|unix.OPEN_TREE_CLOEXEC)).To(s.tree)
	s.close(s.src)
	attr := uint64(safeAttr)
	if m.ReadOnly {
		attr |= unix.MOUNT_ATTR_RDONLY
	}
	s.setattr("protect "+m.Dst, inside.FromSlot(s.tree), "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr)
	s.makePlace(m)
	s.attach(m)
}

// hideDir covers a directory with an empty one. Those that nobody can write are
// one file system: to make and to end a file system is most of what a cover costs.
func (s *setup) hideDir(m plan.Mount) {
	attr := uint64(safeAttr | unix.MOUNT_ATTR_NOEXEC)
	if m.ReadOnly {
		attr |= unix.MOUNT_ATTR_RDONLY
	}
	s.makePlace(m)
	have, known := s.covers[m.Mode]
	if known && m.ReadOnly {
		s.again("cover "+m.Dst, have)
		s.attach(m)
		return
	}
	s.newTmpfs(m.Dst, 1<<20, m.Mode, attr)
	if !m.ReadOnly {
		s.attach(m)
		return
	}
	s.covers[m.Mode] = s.tree
	s.attachKept(m)
}

// hideFile covers a file with /dev/null on a mount that allows no devices, so
// that opening it fails with EACCES.
func (s *setup) hideFile(m plan.Mount) {
	if m.Make {
		return // in a fresh file system there is nothing to hide
	}
	if s.null != nil {
		s.again("cover "+m.Dst, *s.null)
		s.attach(m)
		return
	}
	s.openTree("cover "+m.Dst, inside.Int(unix.AT_FDCWD), "/dev/null", 0, s.tree)
	s.setattr("cover "+m.Dst, inside.FromSlot(s.tree), "", unix.AT_EMPTY_PATH, safeAttr|unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOEXEC)
	null := s.tree
	s.null = &null
	s.attachKept(m)
}

// again clones a mount that is attached already, with its attributes. Before Linux
// 6.15 a detached one cannot be cloned (open_tree(2)).
func (s *setup) again(label string, from inside.Slot) {
	s.openTree(label, inside.FromSlot(from), "", unix.AT_EMPTY_PATH, s.tree)
}

// attachKept attaches the tree slot and keeps its descriptor, for again.
func (s *setup) attachKept(m plan.Mount) {
	s.move(m)
	s.close(s.dst)
	s.tree = s.b.NewSlot()
}

// attach puts the tree slot on a destination, after a look at what is there.
func (s *setup) attach(m plan.Mount) {
	s.move(m)
	s.close(s.tree)
	s.close(s.dst)
}

func (s *setup) move(m plan.Mount) {
	s.open("open "+m.Dst+" in the new root", inside.FromSlot(s.root), rel(m.Dst), noLinks|unix.RESOLVE_IN_ROOT, s.dst)
	if !m.Make {
		s.same("check "+m.Dst, s.dst, m.ID)
	}
	s.call("mount on "+m.Dst, unix.SYS_MOVE_MOUNT, inside.FromSlot(s.tree), inside.Str(""), inside.FromSlot(s.dst), inside.Str(""), inside.Imm(unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH))
}

// makePlace makes the directories, and the file or directory, to mount on. On a
// read-only part of the path mkdir fails and the open that follows tells.
func (s *setup) makePlace(m plan.Mount) {
	if !m.Make {
		return
	}
	path := rel(m.Dst)
	for i, c := range path {
		if c == '/' {
			s.call("make "+path[:i], unix.SYS_MKDIRAT, inside.FromSlot(s.root), inside.Str(path[:i]), inside.Imm(0o755)).Ignore()
		}
	}
	if m.Dir {
		s.call("make "+m.Dst, unix.SYS_MKDIRAT, inside.FromSlot(s.root), inside.Str(path), inside.Imm(0o755)).Ignore()
		return
	}
	s.touch(path)
}

func (s *setup) touch(path string) {
	s.call("make "+path, unix.SYS_OPENAT, inside.FromSlot(s.root), inside.Str(path), inside.Imm(unix.O_CREAT|unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW), inside.Imm(0o600)).To(s.src)
	s.close(s.src)
}

// open gets a path descriptor without following links.
func (s *setup) open(label string, dir inside.Arg, path string, resolve uint64, to inside.Slot) {
	var how [24]byte // struct open_how, openat2(2)
	binary.LittleEndian.PutUint64(how[0:], unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW)
	binary.LittleEndian.PutUint64(how[16:], resolve)
	s.call(label, unix.SYS_OPENAT2, dir, inside.Str(path), inside.Bytes(how[:]), inside.Imm(24)).To(to)
}

// same compares what is open with what was looked at outside.
//
// SECURITY: without it a directory swapped during start-up would be mounted (FS-06).
func (s *setup) same(label string, slot inside.Slot, id spec.ID) {
	if id == (spec.ID{}) {
		return
	}
	var want [16]byte // st_dev and st_ino are the first two words of struct stat on 64-bit Linux
	binary.LittleEndian.PutUint64(want[0:], id.Dev)
	binary.LittleEndian.PutUint64(want[8:], id.Ino)
	s.call(label, unix.SYS_FSTAT, inside.FromSlot(slot), s.stat)
	s.b.Compare(inside.Setup, label, s.stat, inside.Bytes(want[:]), 16)
}

func (s *setup) openTree(label string, dir inside.Arg, path string, flags uint64, to inside.Slot) *inside.Call {
	return s.call(label, unix.SYS_OPEN_TREE, dir, inside.Str(path), inside.Imm(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|flags)).To(to)
}

// setattr sets mount attributes (mount_setattr(2)); it never clears one, so what
// the host has read-only stays so.
func (s *setup) setattr(label string, dir inside.Arg, path string, flags, set uint64) {
	var attr [32]byte // struct mount_attr
	binary.LittleEndian.PutUint64(attr[0:], set)
	s.call(label, unix.SYS_MOUNT_SETATTR, dir, inside.Str(path), inside.Imm(flags), inside.Bytes(attr[:]), inside.Imm(32))
}

// newTmpfs makes a detached file system in memory in the tree slot.
func (s *setup) newTmpfs(name string, size int64, mode uint32, attr uint64) {
	label := "make a file system for " + name
	s.call(label, unix.SYS_FSOPEN, inside.Str("tmpfs"), inside.Imm(unix.FSOPEN_CLOEXEC)).To(s.src)
	s.fsconfig(label, unix.FSCONFIG_SET_STRING, "mode", fmt.Sprintf("%04o", mode))
	if size > 0 {
		s.fsconfig(label, unix.FSCONFIG_SET_STRING, "size", fmt.Sprint(size))
	}
	s.call(label, unix.SYS_FSCONFIG, inside.FromSlot(s.src), inside.Imm(unix.FSCONFIG_CMD_CREATE), inside.Int(0), inside.Int(0), inside.Int(0))
	s.call(label, unix.SYS_FSMOUNT, inside.FromSlot(s.src), inside.Imm(unix.FSMOUNT_CLOEXEC), inside.Imm(attr)).To(s.tree)
	s.close(s.src)
}

func (s *setup) fsconfig(label string, cmd uint64, key, value string) {
	s.call(label, unix.SYS_FSCONFIG, inside.FromSlot(s.src), inside.Imm(cmd), inside.Str(key), inside.Str(value), inside.Int(0))
}

func (s *setup) close(slot inside.Slot) {
	s.call("close", unix.SYS_CLOSE, inside.FromSlot(slot))
}

// loopback brings lo up in a fresh network namespace (LNX-09, netdevice(7)).
func (s *setup) loopback() {
	var req [40]byte // struct ifreq: name, then flags
	copy(req[:], "lo")
	binary.LittleEndian.PutUint16(req[16:], unix.IFF_UP|unix.IFF_RUNNING)
	const label = "bring the loopback up"
	s.call(label, unix.SYS_SOCKET, inside.Imm(unix.AF_INET), inside.Imm(unix.SOCK_DGRAM|unix.SOCK_CLOEXEC), inside.Int(0)).To(s.src)
	s.call(label, unix.SYS_IOCTL, inside.FromSlot(s.src), inside.Imm(unix.SIOCSIFFLAGS), inside.Bytes(req[:])).Tolerate(uintptr(unix.EEXIST))
	s.close(s.src)
}
