package seccomp

import "testing"

// vector is one call with its arguments and what must come of it.
type vector struct {
	call   string
	opts   Options // Arch is filled in by the test
	args   [6]uint64
	action Action
	errno  Errno
}

func args(a ...uint64) (out [6]uint64) {
	copy(out[:], a)
	return out
}

var (
	nested  = Options{Nested: true}
	notify  = Options{Notify: true}
	allow2  = Options{Openat2: Openat2Allow}
	notify2 = Options{Notify: true, Openat2: Openat2Notify}
)

// conditional holds vectors for the calls that have more than one row. Calls with
// one row get theirs from the table (see vectors). Numbers are written out on
// purpose: they come from man pages, not from numbers.go.
var conditional = []vector{
	{"chmod", Options{}, args(1, 0o4755), Refuse, EPERM},
	{"chmod", Options{}, args(1, 0o2755), Refuse, EPERM},
	{"chmod", Options{}, args(1, 0o1777), Allow, 0},
	{"fchmod", Options{}, args(3, 0o6777), Refuse, EPERM},
	{"fchmod", Options{}, args(3, 0o777), Allow, 0},
	{"fchmodat", Options{}, args(3, 1, 0o4000), Refuse, EPERM},
	{"fchmodat", Options{}, args(0o4000, 0o4000, 0o755), Allow, 0},
	{"fchmodat2", Options{}, args(3, 1, 0o2000, 0x100), Refuse, EPERM},
	{"fchmodat2", Options{}, args(3, 1, 0o755, 0xfff), Allow, 0},

	{"open", Options{}, args(1, 0o101, 0o4755), Refuse, EPERM},
	{"open", Options{}, args(1, 0, 0o4755), Allow, 0},
	{"open", Options{}, args(1, 0o101, 0o644), Allow, 0},
	{"open", notify, args(1, 0o101, 0o644), Notify, 0},
	{"open", notify, args(1, 0o101, 0o4755), Refuse, EPERM},
	{"open", notify, args(1, 2), Allow, 0},
	{"openat", Options{}, args(3, 1, 0o102, 0o2755), Refuse, EPERM},
	{"openat", Options{}, args(3, 1, 0o20200002, 0o4700), Refuse, EPERM}, // O_TMPFILE of amd64
	{"openat", Options{}, args(3, 1, 0o20040002, 0o4700), Refuse, EPERM}, // O_TMPFILE of arm64
	{"openat", Options{}, args(3, 1, 0, 0o7777), Allow, 0},
	{"openat", Options{}, args(3, 1, 0o102, 0o600), Allow, 0},
	{"openat", notify, args(3, 1, 0o102, 0o600), Notify, 0},
	{"openat", notify, args(3, 1, 0o102, 0o4600), Refuse, EPERM},
	{"openat", notify, args(3, 1, 0o1000, 0o7777), Allow, 0}, // O_TRUNC alone makes no name
	{"openat", notify, args(3, 1, 0o20200002, 0o600), Allow, 0},
	{"creat", Options{}, args(1, 0o4755), Refuse, EPERM},
	{"creat", Options{}, args(1, 0o644), Allow, 0},
	{"creat", notify, args(1, 0o644), Notify, 0},
	{"openat2", Options{}, args(3, 1, 1, 24), Refuse, ENOSYS},
	{"openat2", notify, args(3, 1, 1, 24), Refuse, ENOSYS},
	{"openat2", allow2, args(3, 1, 1, 24), Allow, 0},
	{"openat2", notify2, args(3, 1, 1, 24), Notify, 0},
	{"mknod", Options{}, args(1, 0o020666, 0x103), Refuse, EPERM},
	{"mknod", Options{}, args(1, 0o060660, 0x800), Refuse, EPERM},
	{"mknod", Options{}, args(1, 0o104755), Refuse, EPERM},
	{"mknod", Options{}, args(1, 0o4755), Refuse, EPERM}, // no format means a plain file
	{"mknod", Options{}, args(1, 0o010644), Allow, 0},
	{"mknod", Options{}, args(1, 0o140755), Allow, 0}, // a socket: its format holds the block device's bits
	{"mknod", notify, args(1, 0o100644), Notify, 0},
	{"mknodat", Options{}, args(3, 1, 0o020666, 0x103), Refuse, EPERM},
	{"mknodat", Options{}, args(3, 1, 0o060660, 0x800), Refuse, EPERM},
	{"mknodat", Options{}, args(3, 1, 0o102755), Refuse, EPERM},
	{"mknodat", Options{}, args(3, 1, 0o010644), Allow, 0},
	{"mknodat", notify, args(3, 1, 0o010644), Notify, 0},
	{"mkdir", Options{}, args(1, 0o2755), Allow, 0},
	{"mkdir", notify, args(1, 0o755), Notify, 0},
	{"mkdirat", Options{}, args(3, 1, 0o755), Allow, 0},
	{"mkdirat", notify, args(3, 1, 0o755), Notify, 0},
	{"rename", Options{}, args(1, 2), Allow, 0},
	{"rename", notify, args(1, 2), Notify, 0},
	{"renameat", Options{}, args(3, 1, 3, 2), Allow, 0},
	{"renameat", notify, args(3, 1, 3, 2), Notify, 0},
	{"renameat2", Options{}, args(3, 1, 3, 2, 2), Allow, 0},
	{"renameat2", notify, args(3, 1, 3, 2, 2), Notify, 0},
	{"link", Options{}, args(1, 2), Allow, 0},
	{"link", notify, args(1, 2), Notify, 0},
	{"linkat", Options{}, args(3, 1, 3, 2), Allow, 0},
	{"linkat", notify, args(3, 1, 3, 2), Notify, 0},
	{"symlink", Options{}, args(1, 2), Allow, 0},
	{"symlink", notify, args(1, 2), Notify, 0},
	{"symlinkat", Options{}, args(1, 3, 2), Allow, 0},
	{"symlinkat", notify, args(1, 3, 2), Notify, 0},

	{"ioctl", Options{}, args(0, 0x5412, 1), Refuse, EPERM},
	{"ioctl", Options{}, args(0, 0x5412|1<<32, 1), Refuse, EPERM},
	{"ioctl", Options{}, args(0, 0x541c, 1), Refuse, EPERM},
	{"ioctl", Options{}, args(0, 0x541d, 1), Refuse, EPERM},
	{"ioctl", Options{}, args(0, 0x5423, 1), Refuse, EPERM},
	{"ioctl", Options{}, args(0x5412, 0x5413, 0x5412), Allow, 0}, // TIOCGWINSZ
	{"ioctl", Options{}, args(0, 0x5401), Allow, 0},              // TCGETS
	{"socket", Options{}, args(1, 1), Allow, 0},
	{"socket", Options{}, args(2, 1), Allow, 0},
	{"socket", Options{}, args(10, 2), Allow, 0},
	{"socket", Options{}, args(16, 3, 0), Allow, 0},
	{"socket", Options{}, args(16, 3, 9), Refuse, EPROTONOSUPPORT},
	{"socket", Options{}, args(16, 3, 1<<32|12), Refuse, EPROTONOSUPPORT},
	{"socket", Options{}, args(0, 1), Refuse, EAFNOSUPPORT},
	{"socket", Options{}, args(17, 3), Refuse, EAFNOSUPPORT},
	{"socket", Options{}, args(38, 5), Refuse, EAFNOSUPPORT},
	{"socket", Options{}, args(40, 1), Refuse, EAFNOSUPPORT},
	{"socketpair", Options{}, args(1, 1), Allow, 0},
	{"socketpair", Options{}, args(30, 1), Refuse, EAFNOSUPPORT},

	{"clone", Options{}, args(0x01200011), Allow, 0}, // fork of glibc
	{"clone", Options{}, args(0x003d0f00), Allow, 0}, // pthread_create
	{"fcntl", Options{}, args(3, 1024, 1), Refuse, EPERM},
	{"fcntl", Options{}, args(3, 0x1_0000_0400, 1), Refuse, EPERM},
	{"fcntl", Options{}, args(3, 1030, 0), Allow, 0},
	{"setpriority", Options{}, args(2, 0, 19), Refuse, EPERM},
	{"setpriority", Options{}, args(0, 1, 19), Refuse, EPERM},
	{"setpriority", Options{}, args(1, 1, 19), Refuse, EPERM},
	{"setpriority", Options{}, args(0, 0x1_0000_0001, 19), Refuse, EPERM}, // the kernel reads an int
	{"setpriority", Options{}, args(0, 0, 19), Allow, 0},
	{"sched_setscheduler", Options{}, args(1, 5), Refuse, EPERM},
	{"sched_setscheduler", Options{}, args(0, 5), Allow, 0},
	{"sched_setparam", Options{}, args(1), Refuse, EPERM},
	{"sched_setparam", Options{}, args(2), Allow, 0},
	{"sched_setattr", Options{}, args(1), Refuse, EPERM},
	{"sched_setattr", Options{}, args(11), Allow, 0},
	{"sched_setaffinity", Options{}, args(1, 8), Refuse, EPERM},
	{"sched_setaffinity", Options{}, args(0, 8), Allow, 0},
	{"clone", Options{}, args(0x00000091), Allow, 0}, // 0x80 is in the signal's byte, no CLONE_NEWTIME
	{"clone", Options{}, args(0x10000011), Refuse, EPERM},
	{"clone", Options{}, args(0x00020011), Refuse, EPERM},
	{"clone", Options{}, args(0x02000011), Refuse, EPERM},
	{"clone", Options{}, args(0x40000011), Refuse, EPERM},
	{"clone", nested, args(0x10000011), Allow, 0},
	{"clone3", nested, args(1, 88), Refuse, ENOSYS},
	{"unshare", Options{}, args(0x200), Allow, 0},
	{"unshare", Options{}, args(0x40600), Allow, 0},
	{"unshare", Options{}, args(0x10000000), Refuse, EPERM},
	{"unshare", Options{}, args(0x00020200), Refuse, EPERM},
	{"unshare", Options{}, args(0x80), Refuse, EPERM},
	{"unshare", Options{}, args(0x00100000), Refuse, EPERM}, // a flag that a newer kernel may give a meaning
	{"unshare", nested, args(0x10020000), Allow, 0},
	{"personality", Options{}, args(0xffffffff), Allow, 0},
	{"personality", Options{}, args(0), Allow, 0},
	{"personality", Options{}, args(0x20008), Allow, 0},
	{"personality", Options{}, args(0x0040000), Refuse, EPERM}, // ADDR_NO_RANDOMIZE
	{"personality", Options{}, args(0x0400000), Refuse, EPERM}, // READ_IMPLIES_EXEC
	{"personality", Options{}, args(1<<32 | 0x0040000), Refuse, EPERM},
}

// nestedOnly are the calls that exec.nested opens and that are refused with EPERM otherwise.
var nestedOnly = []string{
	"setns", "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "fsopen",
	"fsconfig", "fsmount", "fspick", "mount_setattr", "sethostname", "setdomainname",
}

// vectors returns all test vectors: those above, and one for each call with a single row.
func vectors() []vector {
	out := append([]vector{}, conditional...)
	for _, name := range nestedOnly {
		out = append(out, vector{name, Options{}, args(1, 2, 3, 4, 5), Refuse, EPERM}, vector{name, nested, args(1, 2, 3, 4, 5), Allow, 0})
	}
	all := Table()
	for i, r := range all {
		if (i == 0 || all[i-1].Call != r.Call) && (i == len(all)-1 || all[i+1].Call != r.Call) {
			out = append(out, vector{r.Call, Options{}, args(0x5412, 0o6777, 0x7e020000, 0o6777), r.Action, r.Errno})
		}
	}
	return out
}

// match is the meaning of the table, written plainly: the index of the row that
// decides, or -1. The compiler is tested against it.
func match(table []Rule, o Options, nr uint32, a [6]uint64) int {
next:
	for i, r := range table {
		if n, ok := r.Number(o.Arch); !ok || n != nr || !r.Gate.open(o) {
			continue
		}
		for _, c := range r.When {
			if !c.holds(a[c.Arg]) {
				continue next
			}
		}
		return i
	}
	return -1
}

// TestVectors: every vector gives what it must, on both architectures, whatever
// is in the high halves of the arguments; and every row decides at least one.
func TestVectors(t *testing.T) {
	table := Table()
	decided := map[int]bool{}
	for _, arch := range []string{"amd64", "arm64"} {
		for _, v := range vectors() {
			v.opts.Arch = arch
			nr, ok := numberOf(table, v.call, arch)
			if !ok {
				continue
			}
			p, d := mustCompile(t, v.opts), Data{Nr: nr, Arch: auditOf(t, arch), Args: v.args}
			want := verdict(v.action, v.errno)
			if got := Eval(p, d); got != want {
				t.Errorf("%s %s%#x %+v: %#x, want %#x", arch, v.call, v.args, v.opts, got, want)
			}
			for i := range d.Args {
				d.Args[i] ^= 0xdeadbeef << 32
			}
			if got := Eval(p, d); got != want {
				t.Errorf("%s %s%#x: %#x with other high halves, want %#x", arch, v.call, v.args, got, want)
			}
			decided[match(table, v.opts, nr, v.args)] = true
			twin := Data{Nr: mustNumber(t, table, "getpid", arch), Arch: d.Arch, Args: d.Args}
			if got := Eval(p, twin); got != RetAllow {
				t.Errorf("%s: getpid with the arguments of %s: %#x", arch, v.call, got)
			}
		}
	}
	for i, r := range table {
		if !decided[i] {
			t.Errorf("no vector is decided by row %d: %s %v %v %v", i, r.Call, r.When, r.Action, r.Gate)
		}
	}
}

func numberOf(table []Rule, call, arch string) (uint32, bool) {
	for _, r := range table {
		if r.Call == call {
			return r.Number(arch)
		}
	}
	return 0, false
}

func mustNumber(t *testing.T, table []Rule, call, arch string) uint32 {
	t.Helper()
	nr, ok := numberOf(table, call, arch)
	if !ok {
		t.Fatalf("%s has no %s", arch, call)
	}
	return nr
}

func mustCompile(t *testing.T, o Options) Program {
	t.Helper()
	p, err := Compile(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func auditOf(t *testing.T, name string) uint32 {
	t.Helper()
	a, ok := archOf(name)
	if !ok {
		t.Fatalf("unknown architecture %q", name)
	}
	return a.audit
}
