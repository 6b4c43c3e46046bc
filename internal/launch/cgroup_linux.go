package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// makeCgroup makes the groups that a plan needs; nil when no limit needs one. ours is how
// many processes of ours will be in them, besides the command's.
func makeCgroup(l plan.Limits, ours int) (*cgroup, error) {
	if len(l.How.CgroupDir) == 0 {
		return nil, nil
	}
	g := &cgroup{version: l.How.CgroupVer}
	for controller, base := range l.How.CgroupDir {
		dir := filepath.Join(base, groupPrefix+l.How.Group)
		if !slices.Contains(g.dirs, dir) {
			if err := os.Mkdir(dir, 0o755); err != nil {
				g.remove()
				return nil, err
			}
			g.dirs = append(g.dirs, dir)
		}
		if controller == "memory" {
			g.memory = filepath.Join(dir, map[int]string{1: "memory.oom_control", 2: "memory.events"}[g.version])
		}
	}
	if err := g.limit(l, ours); err != nil {
		g.remove()
		return nil, err
	}
	return g, nil
}

// limit sets the limits. One that cannot be set is an error: the plan said that it holds.
func (g *cgroup) limit(l plan.Limits, ours int) error {
	settings := g.settings(l, ours)
	for controller, base := range l.How.CgroupDir {
		for _, s := range settings[controller] {
			file := filepath.Join(base, groupPrefix+l.How.Group, s[0])
			if err := os.WriteFile(file, []byte(s[1]), 0); err != nil && s[2] == "" {
				return err
			}
		}
	}
	return nil
}

// adopt puts a process into the groups. On version 1 the kernel waits for a grace period
// of RCU, 3 to 15 ms, as on version 2 (see joining).
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

const groupPrefix = "qsandbox-"

// settings gives file, value, and "optional" per controller. The count of
// processes is by ours more than asked.
func (g *cgroup) settings(l plan.Limits, ours int) map[string][][3]string {
	mem, cpu := fmt.Sprint(l.Memory), fmt.Sprint(int64(l.CPUs*100000))
	if g.version == 2 {
		return map[string][][3]string{
			"pids":   {{"pids.max", fmt.Sprint(l.Processes + ours), ""}},
			"memory": {{"memory.max", mem, ""}, {"memory.swap.max", "0", "optional"}, {"memory.oom.group", "1", "optional"}},
			"cpu":    {{"cpu.max", cpu + " 100000", ""}},
		}
	}
	return map[string][][3]string{
		"pids":   {{"pids.max", fmt.Sprint(l.Processes + ours), ""}},
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
