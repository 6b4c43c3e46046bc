package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/plan"
)

// cgroup is the set of groups of one sandbox, one per hierarchy on version 1.
type cgroup struct {
	dirs    []string
	memory  string // file that counts out-of-memory kills
	version int
}

// makeCgroup makes the groups that a plan needs; nil when no limit needs one. A limit
// that cannot be set is an error: the plan said that it holds.
func makeCgroup(l plan.Limits) (*cgroup, error) {
	if len(l.How.CgroupDir) == 0 {
		return nil, nil
	}
	g := &cgroup{version: l.How.CgroupVer}
	name := groupPrefix + l.How.Group
	settings := g.settings(l)
	done := map[string]bool{}
	for controller, base := range l.How.CgroupDir {
		dir := filepath.Join(base, name)
		if !done[dir] {
			if err := os.Mkdir(dir, 0o755); err != nil {
				g.remove()
				return nil, err
			}
			g.dirs, done[dir] = append(g.dirs, dir), true
		}
		for _, s := range settings[controller] {
			err := os.WriteFile(filepath.Join(dir, s[0]), []byte(s[1]), 0)
			if err != nil && s[2] == "" {
				g.remove()
				return nil, err
			}
		}
		if controller == "memory" {
			g.memory = filepath.Join(dir, map[int]string{1: "memory.oom_control", 2: "memory.events"}[g.version])
		}
	}
	return g, nil
}

// adopt puts a process into the groups. On version 1 the kernel waits for a grace period
// of RCU, 3 to 15 ms, as on version 2 (cgroup_attach_lock in kernel/cgroup/cgroup.c).
func (g *cgroup) adopt(pid int) error {
	if g == nil {
		return nil
	}
	for _, dir := range g.dirs {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			return err
		}
	}
	return nil
}

// RemoveGroup takes away what is left of a run's group after its launcher was
// killed. The name comes from the run's own record, never from a pattern (FS-07).
func RemoveGroup(dirs map[string]string, group string) {
	g := &cgroup{}
	for _, base := range dirs {
		g.dirs = append(g.dirs, filepath.Join(base, groupPrefix+group))
	}
	g.remove()
}

const groupPrefix = "qsandbox-"

// settings gives file, value, and "optional" per controller. The count of
// processes is one more than asked: the init is in the group too.
func (g *cgroup) settings(l plan.Limits) map[string][][3]string {
	mem, cpu := fmt.Sprint(l.Memory), fmt.Sprint(int64(l.CPUs*100000))
	if g.version == 2 {
		return map[string][][3]string{
			"pids":   {{"pids.max", fmt.Sprint(l.Processes + 1), ""}},
			"memory": {{"memory.max", mem, ""}, {"memory.swap.max", "0", "optional"}, {"memory.oom.group", "1", "optional"}},
			"cpu":    {{"cpu.max", cpu + " 100000", ""}},
		}
	}
	return map[string][][3]string{
		"pids":   {{"pids.max", fmt.Sprint(l.Processes + 1), ""}},
		"memory": {{"memory.limit_in_bytes", mem, ""}, {"memory.memsw.limit_in_bytes", mem, "optional"}},
		"cpu":    {{"cpu.cfs_period_us", "100000", ""}, {"cpu.cfs_quota_us", cpu, ""}},
	}
}

// outOfMemory tells whether the kernel killed something in the group.
func (g *cgroup) outOfMemory() bool {
	if g == nil || g.memory == "" {
		return false
	}
	b, _ := os.ReadFile(g.memory)
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] == "oom_kill" && f[1] != "0" {
			return true
		}
	}
	return false
}

// remove takes the groups away. The last process may still be on its way out.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	for _, dir := range g.dirs {
		for i := range 50 {
			if err := os.Remove(dir); err == nil || os.IsNotExist(err) {
				break
			}
			time.Sleep(time.Duration(i) * time.Millisecond)
		}
	}
}
