package seccomp

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// names reads testdata: one name a line, with what follows it.
func names(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if line := sc.Text(); line != "" && line[0] != '#' {
			name, rest, _ := strings.Cut(line, " ")
			out[name] = rest
		}
	}
	if len(out) < 200 {
		t.Fatalf("%s: only %d names", file, len(out))
	}
	return out
}

// TestTableCoversTheKernel: each call that the kernel's headers list is in the
// table with that number, and nothing else is.
func TestTableCoversTheKernel(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		want := names(t, "syscalls_"+arch+".txt")
		seen := map[string]bool{}
		for _, r := range Table() {
			nr, ok := r.Number(arch)
			if s := want[r.Call]; ok && s != strconv.Itoa(int(nr)) || !ok && s != "" {
				t.Errorf("%s: %s is %d (present: %v) in the table, %q in the kernel", arch, r.Call, int32(nr), ok, s)
			}
			if ok && nr > Newest {
				t.Errorf("%s: %s is %d, above Newest", arch, r.Call, nr)
			}
			seen[r.Call] = true
		}
		for name := range want {
			if !seen[name] {
				t.Errorf("%s: %s is not in the table", arch, name)
			}
		}
	}
}

// TestRowsAreWellFormed holds each call's rows to the form that the compiler relies on.
func TestRowsAreWellFormed(t *testing.T) {
	closed := map[string]bool{}
	all := Table()
	for i, r := range all {
		last := i == len(all)-1 || all[i+1].Call != r.Call
		if closed[r.Call] {
			t.Errorf("%s: its rows do not stand together", r.Call)
		}
		closed[r.Call] = last
		if last && (len(r.When) > 0 || r.Gate != Always) {
			t.Errorf("%s: the last row must match always", r.Call)
		}
		if !last && len(r.When) == 0 && r.Gate == Always {
			t.Errorf("%s: a row that always matches hides the ones after it", r.Call)
		}
		if !last && (all[i+1].AMD64 != r.AMD64 || all[i+1].ARM64 != r.ARM64) {
			t.Errorf("%s: rows differ in number", r.Call)
		}
		if (r.Action == Refuse) != (r.Errno != 0) {
			t.Errorf("%s: an errno belongs to a refusal and only there (%v, %v)", r.Call, r.Action, r.Errno)
		}
		if r.Action == Kill || r.Reason == "" {
			t.Errorf("%s: row without action or reason", r.Call)
		}
		checkConds(t, r)
	}
}

func checkConds(t *testing.T, r Rule) {
	t.Helper()
	for _, c := range r.When {
		ok := c.Arg < 6
		switch c.Op {
		case Eq:
			ok = ok && c.Mask == 0 && c.Set == nil
		case MaskedEq:
			ok = ok && c.Mask != 0 && c.Value&^c.Mask == 0 && c.Set == nil
		case AnyBits:
			ok = ok && c.Mask != 0 && c.Value == 0 && c.Set == nil
		case In:
			ok = ok && len(c.Set) > 0 && c.Mask == 0 && c.Value == 0
		default:
			ok = false
		}
		if !ok {
			t.Errorf("%s: malformed condition %+v", r.Call, c)
		}
	}
}

// TestDockerColumn: a row says why it differs from Docker's default profile if,
// and only if, it does.
func TestDockerColumn(t *testing.T) {
	docker := names(t, "docker_allowed.txt")
	for _, r := range Table() {
		rest, allowed := docker[r.Call]
		partly := rest == "?"
		var differs bool
		switch {
		case partly && (r.Call == "personality" || r.Call == "clone" && r.Gate == Always):
			differs = false // the same conditions as Docker's: see the vectors
		case partly:
			differs = r.Action == Refuse // socket
		case r.Call == "clone3":
			differs = r.Errno != ENOSYS
		case allowed:
			differs = r.Action != Allow
		default:
			differs = r.Action != Refuse || r.Errno != EPERM
		}
		if r.Call == "clone" && r.Gate == IfNested {
			differs = true
		}
		if differs != (r.Docker != "") {
			t.Errorf("%s (%v %v %q): differs from Docker: %v, reason given: %q", r.Call, r.Action, r.Errno, r.Gate, differs, r.Docker)
		}
	}
}

// TestRequirement spells LNX-06 out again, so that no edit of the table can drop a part of it.
func TestRequirement(t *testing.T) {
	never := strings.Fields(`add_key request_key keyctl bpf perf_event_open userfaultfd io_uring_setup io_uring_enter
		io_uring_register open_by_handle_at pidfd_getfd clone3 mount umount2 pivot_root move_mount open_tree
		open_tree_attr fsopen fsconfig fsmount fspick mount_setattr setns chroot kexec_load kexec_file_load
		init_module finit_module delete_module reboot swapon swapoff openat2`)
	for _, r := range Table() {
		for _, name := range never {
			if r.Call == name && r.Gate == Always && r.Action != Refuse {
				t.Errorf("%s must be refused", name)
			}
			if r.Call == name && (r.Call == "clone3" || strings.HasPrefix(name, "io_uring")) && r.Errno != ENOSYS {
				t.Errorf("%s must give ENOSYS", name)
			}
		}
	}
}

// TestText: the names that documentation prints.
func TestText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Refuse.String(), "refuse"}, {EAFNOSUPPORT.String(), "EAFNOSUPPORT"}, {Errno(5).String(), "errno 5"}, {Errno(0).String(), ""},
		{Cond{Arg: 1, Op: Eq, Value: 0x5412}.String(), "arg1 == 0x5412"},
		{Cond{Arg: 2, Op: AnyBits, Mask: 0xc00}.String(), "arg2 & 0xc00 != 0"},
		{Cond{Arg: 0, Op: MaskedEq, Mask: 0xf000, Value: 0x2000}.String(), "arg0 & 0xf000 == 0x2000"},
		{Cond{Arg: 0, Op: In, Set: []uint32{1, 2}}.String(), "arg0 in [0x1 0x2]"},
		{IfNested.String(), "nested"}, {Always.String(), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
