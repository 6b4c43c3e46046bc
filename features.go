package qsandbox

import (
	"slices"
	"strconv"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/denylog"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// features looks at what the backends of this system build on.
func features(h host.Host, asked map[string]probed) []Feature {
	k := h.Kernel()
	list := []Feature{}
	if k.Release != "" {
		list = append(list, Feature{Name: "kernel", Answer: AnswerYes, Value: k.Release})
	}
	if h.GOOS == "darwin" {
		return append(list, darwinPrograms(h)...)
	}
	if h.GOOS != "linux" {
		return list
	}
	return append(list,
		windowsSubsystem(h),
		userNamespaces(k, asked),
		appArmor(h),
		maskedProc(h),
		Feature{Name: "Landlock", Answer: yes(k.LandlockABI > 0), Value: abi(k.LandlockABI), Reason: k.LandlockWhy},
		Feature{Name: "seccomp", Answer: yes(k.Seccomp)},
		Feature{Name: "pid_max per namespace", Answer: yes(k.PidMaxNS), Reason: because(!k.PidMaxNS, "needs Linux 6.14; processes are limited by a cgroup or RLIMIT_NPROC")},
		cgroups(h.Cgroup()),
	)
}

// darwinPrograms are the programs of macOS that a run needs, or can use.
func darwinPrograms(h host.Host) (list []Feature) {
	for _, p := range []struct{ path, without string }{
		{"/usr/bin/sandbox-exec", "nothing can be sandboxed without it; it is a part of macOS"},
		{denylog.Program, "refusals are then guessed from the command's messages alone; reading the log also needs an administrator"},
	} {
		f := Feature{Name: p.path, Answer: yes(h.Exists(p.path))}
		f.Reason = because(f.Answer == AnswerNo, p.without)
		list = append(list, f)
	}
	return list
}

func yes(b bool) Answer {
	if b {
		return AnswerYes
	}
	return AnswerNo
}

func because(b bool, why string) string {
	if b {
		return why
	}
	return ""
}

func abi(n int) string {
	if n == 0 {
		return ""
	}
	return "ABI " + strconv.Itoa(n)
}

// windowsSubsystem tells WSL1, which has no namespaces at all, from WSL2, which
// is a Linux like others (/proc/version).
func windowsSubsystem(h host.Host) Feature {
	f := Feature{Name: "real Linux kernel", Answer: AnswerYes}
	data, err := h.ReadFile("/proc/version", 4096)
	v := strings.ToLower(string(data))
	switch {
	case err != nil:
		f.Answer, f.Reason = AnswerUnknown, err.Error()
	case !strings.Contains(v, "microsoft"):
	case strings.Contains(v, "wsl2") || strings.Contains(v, "microsoft-standard"):
		f.Value = "WSL2"
	default:
		f.Answer, f.Value = AnswerNo, "WSL1"
		f.Reason, f.Remedy = "WSL1 has no namespaces", "wsl --set-version <distribution> 2"
	}
	return f
}

// userNamespaces takes the probes' word, which tried, over the switches'.
func userNamespaces(k host.Kernel, asked map[string]probed) Feature {
	f := Feature{Name: "user namespaces", Answer: AnswerUnknown, Reason: k.UserNSWhy, Remedy: k.UserNSFix}
	if k.UserNS == host.No {
		f.Answer = AnswerNo
		return f
	}
	for _, p := range asked {
		switch {
		case p.err == nil && p.support.Available && p.support.UserNS:
			return Feature{Name: f.Name, Answer: AnswerYes}
		case p.err == nil && p.support.Available:
			f.Answer = AnswerNo
			f.Reason = "root can do without: a sandbox was built without one"
		case p.err == nil && p.Name() == "linux-native":
			f.Answer, f.Reason = AnswerNo, p.support.Reason
		}
	}
	return f
}

// appArmor looks at the switch of Ubuntu 23.10 and later.
func appArmor(h host.Host) Feature {
	f := Feature{Name: "no AppArmor restriction", Answer: AnswerYes}
	data, err := h.ReadFile("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 64)
	if err == nil && strings.TrimSpace(string(data)) == "1" {
		f.Answer = AnswerNo
		f.Reason = "user namespaces of ordinary users are restricted to programs with a profile (kernel.apparmor_restrict_unprivileged_userns = 1)"
		f.Remedy = "give qsandbox a profile with the userns rule"
	}
	return f
}

// maskedProc finds what a container runtime covers in /proc. While anything is
// covered, the kernel mounts no new proc in a user namespace.
func maskedProc(h host.Host) Feature {
	f := Feature{Name: "/proc not masked", Answer: AnswerYes}
	data, err := h.ReadFile("/proc/self/mountinfo", 4<<20)
	if err != nil {
		f.Answer, f.Reason = AnswerUnknown, err.Error()
		return f
	}
	var masked []string
	for line := range strings.Lines(string(data)) {
		// 36 35 98:0 /root /mount/point opts ... - fstype source opts (proc_pid_mountinfo(5))
		left, right, _ := strings.Cut(line, " - ")
		at, kind := strings.Fields(left), strings.Fields(right)
		if len(at) < 5 || len(kind) == 0 || !strings.HasPrefix(at[4], "/proc/") || kind[0] == "autofs" || kind[0] == "binfmt_misc" {
			continue
		}
		masked = append(masked, at[4])
	}
	if len(masked) > 0 {
		slices.Sort(masked)
		f.Answer, f.Value = AnswerNo, strings.Join(slices.Compact(masked), " ")
		f.Reason = "a container runtime covers parts of /proc, so that no new one can be mounted in a user namespace"
		f.Remedy = "docker run --security-opt systempaths=unconfined"
	}
	return f
}

func cgroups(g host.CgroupState) Feature {
	f := Feature{Name: "cgroup controllers", Answer: yes(len(g.Dirs) > 0), Reason: g.Why}
	var names []string
	for c := range g.Dirs {
		names = append(names, c)
	}
	slices.Sort(names)
	if len(names) > 0 {
		f.Value = "v" + strconv.Itoa(g.Version) + ": " + strings.Join(names, " ")
	} else if f.Remedy == "" {
		f.Remedy = "run under a delegated group: systemd-run --user --scope -p Delegate=yes qsandbox …"
	}
	return f
}
