package launch

import "testing"

func TestGroupRoom(t *testing.T) {
	const v1, v2 = "/sys/fs/cgroup/pids", "/sys/fs/cgroup"
	for name, c := range map[string]struct {
		files   map[string]string
		left    int
		limited bool
	}{
		"nothing to read":        {map[string]string{}, 0, false},
		"no limit":               {map[string]string{"/proc/self/cgroup": "0::/u/s\n", v2 + "/u/s/pids.max": "max\n", v2 + "/u/s/pids.current": "9\n"}, 0, false},
		"version 2":              {map[string]string{"/proc/self/cgroup": "0::/u/s\n", v2 + "/u/s/pids.max": "30\n", v2 + "/u/s/pids.current": "9\n"}, 21, true},
		"the group above":        {map[string]string{"/proc/self/cgroup": "0::/u/s\n", v2 + "/u/s/pids.max": "max\n", v2 + "/u/pids.max": "10\n", v2 + "/u/pids.current": "9\n"}, 1, true},
		"the tighter of the two": {map[string]string{"/proc/self/cgroup": "0::/u/s\n", v2 + "/u/s/pids.max": "10\n", v2 + "/u/s/pids.current": "4\n", v2 + "/u/pids.max": "100\n", v2 + "/u/pids.current": "9\n"}, 6, true},
		"a container's own root": {map[string]string{"/proc/self/cgroup": "0::/\n", v2 + "/pids.max": "7\n", v2 + "/pids.current": "7\n"}, 0, true},
		"version 1":              {map[string]string{"/proc/self/cgroup": "9:memory:/m\n8:pids:/p\n0::/\n", v1 + "/p/pids.max": "50", v1 + "/p/pids.current": "20", "/sys/fs/cgroup/memory/m/pids.max": "1"}, 30, true},
		"version 1, host's path": {map[string]string{"/proc/self/cgroup": "8:pids:/docker/abc\n", v1 + "/pids.max": "5", v1 + "/pids.current": "2"}, 3, true},
		"more than allowed":      {map[string]string{"/proc/self/cgroup": "0::/u\n", v2 + "/u/pids.max": "5", v2 + "/u/pids.current": "8"}, -3, true},
		"outside the namespace":  {map[string]string{"/proc/self/cgroup": "0::/../x\n", v2 + "/../x/pids.max": "5", v2 + "/../x/pids.current": "1"}, 4, true},
		"garbage":                {map[string]string{"/proc/self/cgroup": "8:pids\nx\n8:pids:rel\n"}, 0, false},
	} {
		left, limited := groupRoom(func(p string) string { return c.files[p] })
		if left != c.left || limited != c.limited {
			t.Errorf("%s: %d %v, want %d %v", name, left, limited, c.left, c.limited)
		}
	}
}

// BenchmarkGroupRoom is what the look costs at the first start of a process.
func BenchmarkGroupRoom(b *testing.B) {
	for b.Loop() {
		groupRoom(readSmall)
	}
}
