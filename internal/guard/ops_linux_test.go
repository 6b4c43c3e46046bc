package guard

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// op is one raw call; "@" in a path stands for the root.
type op struct {
	Nr     string
	Dir    int // AT_FDCWD, or which of the opened directories
	A, B   string
	Dir2   int
	Flags  uint32
	Mode   uint32
	Resolv uint64
}

const noPath = "\x00nil" // a pointer to nowhere

// playOps makes the operations of a file and prints a line for each.
func playOps(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var ops []op
	if err := json.Unmarshal(text, &ops); err != nil {
		return err
	}
	root, _ := os.Getwd()
	var dirs []int
	for _, d := range []string{"d", "d/e", ".", "f"} {
		fd, _ := unix.Open(d, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		dirs = append(dirs, fd)
	}
	unix.Umask(0o027)
	for i, o := range ops {
		fmt.Println(i, play(o, root, dirs))
	}
	return nil
}

func play(o op, root string, dirs []int) string {
	dir := func(n int) uintptr {
		if n >= 0 && n < len(dirs) {
			return uintptr(dirs[n])
		}
		return uintptr(n)
	}
	ptr := func(s string) uintptr {
		if s == noPath {
			return 8
		}
		b, _ := unix.BytePtrFromString(strings.ReplaceAll(s, "@", root))
		keep = append(keep, b)
		return uintptr(unsafe.Pointer(b))
	}
	var r uintptr
	var e unix.Errno
	switch o.Nr {
	case "open":
		r, _, e = unix.Syscall6(unix.SYS_OPENAT, dir(o.Dir), ptr(o.A), uintptr(o.Flags), uintptr(o.Mode), 0, 0)
	case "openat2":
		how := unix.OpenHow{Flags: uint64(o.Flags), Mode: uint64(o.Mode), Resolve: o.Resolv}
		r, _, e = unix.Syscall6(unix.SYS_OPENAT2, dir(o.Dir), ptr(o.A), uintptr(unsafe.Pointer(&how)), unix.SizeofOpenHow, 0, 0)
	case "mkdir":
		_, _, e = unix.Syscall(unix.SYS_MKDIRAT, dir(o.Dir), ptr(o.A), uintptr(o.Mode))
	case "mknod":
		_, _, e = unix.Syscall6(unix.SYS_MKNODAT, dir(o.Dir), ptr(o.A), uintptr(o.Mode), 0, 0, 0)
	case "symlink":
		_, _, e = unix.Syscall(unix.SYS_SYMLINKAT, ptr(o.A), dir(o.Dir), ptr(o.B))
	case "link":
		_, _, e = unix.Syscall6(unix.SYS_LINKAT, dir(o.Dir), ptr(o.A), dir(o.Dir2), ptr(o.B), uintptr(o.Flags), 0)
	case "rename":
		_, _, e = unix.Syscall6(unix.SYS_RENAMEAT2, dir(o.Dir), ptr(o.A), dir(o.Dir2), ptr(o.B), uintptr(o.Flags), 0)
	case "unlink":
		_, _, e = unix.Syscall(unix.SYS_UNLINKAT, dir(o.Dir), ptr(o.A), uintptr(o.Flags))
	case "chdir":
		e = errno(unix.Chdir(strings.ReplaceAll(o.A, "@", root)))
	}
	keep = keep[:0]
	if e != 0 {
		return unix.ErrnoName(e) + fmt.Sprint(int(e))
	}
	if strings.HasPrefix(o.Nr, "open") {
		defer unix.Close(int(r))
		return opened(int(r))
	}
	return "ok"
}

var keep []*byte

// opened tells what can be seen of a descriptor.
func opened(fd int) string {
	var st unix.Stat_t
	unix.Fstat(fd, &st)
	fl, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	cl, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	unix.Write(fd, []byte("w"))
	return fmt.Sprintf("fd %o %o %o uid %d cloexec %d", st.Mode, st.Nlink, fl&^unix.O_NOFOLLOW, st.Uid, cl)
}

var (
	opNames = []string{"a", "b", "f", "d", "l", "n", "x"}
	opPaths = []string{"d/", "d/e/", "./", "../ws/", "@/", "@/d/", "ld/", "le/../", "d/../d/", "d/e/../../", "/proc/self/cwd/", "/../@/", "labs/", "lloop/", "f/", "no/", "//d//", "lself/", "/proc/thread-self/cwd/d/", "/dev/fd/0/", "d/.//e/./", "ro/"}
	opTails = []string{"", "", "", "", "", "", "/", "//", "/.", "/..", "/x"}
	opLinks = []string{"a", "../f", "@/f", "d", "missing", "ln", "@/d/new", "/dev/null", "/proc/self/cwd/f", ".", "d/e/", "../../../../../@/b"}
)

func randomOps(rng *rand.Rand, n int) (ops []op) {
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	path := func() string {
		switch rng.IntN(60) {
		case 0:
			return ""
		case 1:
			return noPath
		case 2:
			return strings.Repeat("y", 256)
		case 3:
			return strings.Repeat("d/../", 900) + "a"
		case 4:
			return pick([]string{".", "..", "/", "d/.", "d/..", "lloop", "/dev/null", "/proc/self/fd/0", "/dev/stdin"})
		}
		p := pick(opNames) + pick(opTails)
		for rng.IntN(2) == 0 {
			p = pick(opPaths) + p
		}
		return p
	}
	dir := func() int {
		if d := rng.IntN(16); d < 5 {
			return d // 4 is not open, and 3 a file
		}
		return unix.AT_FDCWD
	}
	for range n {
		o := op{Dir: dir(), Dir2: dir(), A: path(), B: path(), Mode: uint32(rng.IntN(0o2000))}
		switch rng.IntN(12) {
		case 0, 1, 2, 3:
			o.Nr, o.Flags = "open", unix.O_CREAT|uint32([]int{0, 1, 1, 2, 3}[rng.IntN(5)])|unix.O_CLOEXEC*uint32(rng.IntN(2))
			for _, f := range []uint32{unix.O_EXCL, unix.O_TRUNC, unix.O_APPEND, unix.O_NOFOLLOW, unix.O_DIRECTORY, unix.O_NONBLOCK, unix.O_SYNC, unix.O_NOATIME, unix.O_NOCTTY} {
				if rng.IntN(6) == 0 {
					o.Flags |= f
				}
			}
			if rng.IntN(12) == 0 {
				o.Flags = unix.O_TMPFILE | uint32(rng.IntN(3))
			}
			if o.Flags&unix.O_ACCMODE != unix.O_RDWR {
				o.Flags |= unix.O_NONBLOCK // FIFOs would wait, in the control too
			}
		case 4:
			o.Nr, o.Flags = "openat2", unix.O_CREAT*uint32(rng.IntN(2))|unix.O_NONBLOCK|uint32(rng.IntN(3))|unix.O_CLOEXEC
			o.Mode *= o.Flags & unix.O_CREAT >> 6
			o.Resolv = []uint64{0, 0, unix.RESOLVE_BENEATH, unix.RESOLVE_IN_ROOT, unix.RESOLVE_NO_SYMLINKS, unix.RESOLVE_NO_MAGICLINKS, unix.RESOLVE_BENEATH | unix.RESOLVE_IN_ROOT}[rng.IntN(7)]
		case 5:
			o.Nr = "mkdir"
		case 6:
			o.Nr, o.Mode = "mknod", o.Mode&0o777|uint32([]int{0, unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK, unix.S_IFDIR}[rng.IntN(5)])
		case 7:
			o.Nr, o.A = "symlink", pick(opLinks)
		case 8:
			o.Nr, o.Flags = "link", uint32([]int{0, 0, unix.AT_SYMLINK_FOLLOW, 4}[rng.IntN(4)])
		case 9:
			o.Nr, o.Flags = "rename", uint32([]int{0, 0, 0, 1, 2, 3}[rng.IntN(6)])
		case 10:
			o.Nr, o.Flags = "unlink", uint32(rng.IntN(2))*unix.AT_REMOVEDIR
		case 11:
			o.Nr, o.A = "chdir", pick([]string{"@", "@/d", "@/d/e", "@", "no"})
		}
		if !strings.HasPrefix(o.Nr, "open") && (strings.HasPrefix(o.A, "/") || strings.HasPrefix(o.B, "/dev")) && o.Nr != "symlink" {
			continue // nothing of the machine is removed, jail or not
		}
		ops = append(ops, o)
	}
	return ops
}

// prepare makes the tree that operations start from.
func (r *rig) prepare() {
	r.dir("d/e")
	r.file("f", "f")
	r.dir("ro")
	os.Chmod(filepath.Join(r.root, "ro"), 0o555)
	for name, text := range map[string]string{"ld": "d", "le": "d/e", "labs": r.root + "/d", "lloop": "lloop", "lself": "/proc/self/cwd"} {
		os.Symlink(text, filepath.Join(r.root, name))
		r.own(filepath.Join(r.root, name))
	}
}

// listing shows a tree.
func (r *rig) listing() string {
	var b strings.Builder
	filepath.WalkDir(r.root, func(path string, e os.DirEntry, err error) error {
		var st unix.Stat_t
		if unix.Lstat(path, &st) != nil {
			return nil
		}
		text, _ := os.Readlink(path)
		size := st.Size
		if st.Mode&unix.S_IFMT != unix.S_IFREG {
			size = 0
		}
		fmt.Fprintf(&b, "%s %o %d %d %d %s\n", strings.TrimPrefix(path, r.root), st.Mode, st.Uid, st.Gid, size, strings.ReplaceAll(text, r.root, "@"))
		return nil
	})
	return b.String()
}

// TestSameAsTheKernel makes random operations with and without the Guard: each must
// give the same error or descriptor, and the same tree must come out.
func TestSameAsTheKernel(t *testing.T) {
	rounds := 4
	if n, err := strconv.Atoi(os.Getenv("QSANDBOX_GUARD_ROUNDS")); err == nil {
		rounds = n
	}
	if testing.Short() {
		rounds = 1
	}
	ways(t, func(t *testing.T, r *rig) {
		for seed := range rounds {
			r.compare(randomOps(rand.New(rand.NewPCG(uint64(seed), 7)), 400))
		}
	})
}

func (r *rig) compare(ops []op) {
	r.t.Helper()
	text, _ := json.Marshal(ops)
	file := filepath.Join(filepath.Dir(r.root), "ops")
	os.WriteFile(file, text, 0o644)
	var outs, trees [2]string
	for i, notify := range []bool{false, true} {
		os.Chmod(filepath.Join(r.root, "ro"), 0o755)
		list, _ := os.ReadDir(filepath.Dir(r.root))
		for _, e := range list {
			if e.Name() != "ops" {
				os.RemoveAll(filepath.Join(filepath.Dir(r.root), e.Name()))
			}
		}
		r.dir("")
		r.prepare()
		out, err := r.order(order{Notify: notify, Ops: file})
		if err != nil {
			r.t.Fatal(err)
		}
		outs[i], trees[i] = out, r.listing()
	}
	r.differ(ops, outs, trees)
}

func (r *rig) differ(ops []op, outs, trees [2]string) {
	r.t.Helper()
	a, b := strings.Split(outs[0], "\n"), strings.Split(outs[1], "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			r.t.Fatalf("operation %d %.300s: the kernel says %q, the guard %q", i, fmt.Sprintf("%+v", ops[min(i, len(ops)-1)]), a[i], b[i])
		}
	}
	if len(a) != len(b) || trees[0] != trees[1] {
		r.t.Fatalf("the trees differ:\n%s\nand\n%s", trees[0], trees[1])
	}
}
