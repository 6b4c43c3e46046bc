package host

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// readCgroups finds, per controller, a directory in which this process may make
// a child group (cgroups(7)). On version 2 that needs the controller to be
// delegated: listed in cgroup.subtree_control of a group that we may write.
func readCgroups() CgroupState {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return CgroupState{Why: err.Error()}
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	st := CgroupState{Dirs: map[string]string{}}
	for line := range strings.Lines(string(own)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		if f[1] == "" {
			addV2(&st, string(mounts), f[2])
			continue
		}
		for c := range strings.SplitSeq(f[1], ",") {
			addV1(&st, string(mounts), c, f[2])
		}
	}
	if len(st.Dirs) == 0 && st.Why == "" {
		st.Why = "no controller that this user may use (cgroup v2 needs delegation, v1 needs root)"
	}
	return st
}

func addV1(st *CgroupState, mounts, controller, group string) {
	switch controller {
	case "pids", "memory", "cpu":
	default:
		return
	}
	base := cgroupMount(mounts, "cgroup", controller)
	if base == "" {
		return
	}
	dir := filepath.Join(base, group)
	if unix.Access(dir, unix.W_OK) != nil {
		// A container shows its own group as the root of the mount.
		if dir = base; unix.Access(dir, unix.W_OK) != nil {
			return
		}
	}
	if _, have := st.Dirs[controller]; !have {
		st.Dirs[controller] = dir
		st.Version = max(st.Version, 1)
	}
}

// addV2 takes the group's parent: a child of our own group could not be given
// controllers while we are in it (the "no internal processes" rule).
func addV2(st *CgroupState, mounts, group string) {
	base := cgroupMount(mounts, "cgroup2", "")
	if base == "" {
		return
	}
	for dir := filepath.Join(base, group); len(dir) >= len(base); dir = filepath.Dir(dir) {
		have, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if err != nil || unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) != nil {
			continue
		}
		for _, c := range strings.Fields(string(have)) {
			st.Dirs[c] = dir
			st.Version = 2
		}
		if len(have) > 1 {
			return
		}
	}
}

func cgroupMount(mounts, fstype, option string) string {
	for line := range strings.Lines(mounts) {
		f := strings.Fields(line)
		if len(f) < 4 || f[2] != fstype {
			continue
		}
		if option == "" || hasOption(f[3], option) {
			return f[1]
		}
	}
	return ""
}

func hasOption(options, want string) bool {
	for o := range strings.SplitSeq(options, ",") {
		if o == want {
			return true
		}
	}
	return false
}
