package host

import (
	"bufio"
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// readKernel asks the kernel what it offers. It starts no process: whether a
// sandbox can really be built is the backends' probe's question.
func readKernel() Kernel {
	k := builtIn()
	k.IDMap, k.GIDMap = idMap("/proc/self/uid_map"), idMap("/proc/self/gid_map")
	k.UserNS, k.UserNSWhy, k.UserNSFix = userNSGate()
	return k
}

// builtIn is what stays as it is while the kernel runs, and this process with it.
var builtIn = sync.OnceValue(func() (k Kernel) {
	var uts unix.Utsname
	if unix.Uname(&uts) == nil {
		k.Release = unix.ByteSliceToString(uts.Release[:])
	}
	k.LandlockABI, k.LandlockWhy = landlockABI()
	_, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	k.Seccomp = err == nil
	k.Notify = k.Seccomp && notify()
	k.PidMaxNS = atLeast(k.Release, 6, 14)
	return k
})

// notify asks whether the kernel knows the flags of a supervised filter: it looks
// at them before it reads the filter, of which there is none here (seccomp(2)).
func notify() bool {
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, 0)
	return errno == unix.EFAULT
}

// landlockABI asks for the highest ABI (landlock_create_ruleset(2)).
func landlockABI() (int, string) {
	const version = 1 // LANDLOCK_CREATE_RULESET_VERSION
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, version)
	switch errno {
	case 0:
		return int(abi), ""
	case unix.EOPNOTSUPP:
		return 0, "built in, but not in the kernel's lsm= boot list"
	case unix.ENOSYS:
		return 0, "not built into this kernel, or filtered by a container"
	}
	return 0, errno.Error()
}

// userNSGate looks at the switches that forbid user namespaces. It can say No
// with the gate's name; Yes is left to the probe, which tries.
func userNSGate() (Tri, string, string) {
	if v := readInt("/proc/sys/user/max_user_namespaces"); v == 0 {
		return No, "user namespaces are switched off (user.max_user_namespaces = 0)", "sysctl -w user.max_user_namespaces=15000"
	}
	if os.Geteuid() == 0 {
		return Unknown, "", ""
	}
	if v := readInt("/proc/sys/kernel/unprivileged_userns_clone"); v == 0 {
		return No, "user namespaces are for root only (kernel.unprivileged_userns_clone = 0)", "sysctl -w kernel.unprivileged_userns_clone=1"
	}
	if v := readInt("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"); v == 1 {
		return Unknown, "AppArmor restricts user namespaces to programs with a profile (kernel.apparmor_restrict_unprivileged_userns = 1)",
			"give qsandbox an AppArmor profile with the userns rule, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
	}
	return Unknown, "", ""
}

// readInt reads a number from a kernel file, -1 when there is none.
func readInt(path string) int {
	b, err := readFile(path, 4096)
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return -1
	}
	return n
}

func idMap(path string) []IDRange {
	b, _ := readFile(path, 64<<10)
	var out []IDRange
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		in, e1 := strconv.Atoi(f[0])
		outside, e2 := strconv.Atoi(f[1])
		n, e3 := strconv.Atoi(f[2])
		if e1 == nil && e2 == nil && e3 == nil {
			out = append(out, IDRange{in, outside, n})
		}
	}
	return out
}

func atLeast(release string, major, minor int) bool {
	var a, b int
	rest := release
	for i, dst := range []*int{&a, &b} {
		end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(rest)
		}
		*dst, _ = strconv.Atoi(rest[:end])
		if i == 0 && end < len(rest) {
			rest = rest[end+1:]
		}
	}
	return a > major || a == major && b >= minor
}

// unixSockets lists the paths of AF_UNIX sockets that exist now, as the kernel
// tells it (proc(5), /proc/net/unix). Abstract ones ("@…") are left out.
func unixSockets() ([]string, error) {
	b, err := readFile("/proc/net/unix", 16<<20)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []string
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(make([]byte, 4096), 1<<20)
	for sc.Scan() {
		// Num RefCount Protocol Flags Type St Inode Path
		line := sc.Text()
		i := 0
		for range 7 {
			for i < len(line) && line[i] != ' ' {
				i++
			}
			for i < len(line) && line[i] == ' ' {
				i++
			}
		}
		p := line[i:]
		if len(p) == 0 || p[0] != '/' || seen[p] {
			continue
		}
		seen[p] = true
		out = append(out, path.Clean(p))
	}
	return out, sc.Err()
}
