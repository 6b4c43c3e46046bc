package qsandbox

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// describe turns the parts of a run into plain data.
func describe(rep *report.Report, s *spec.Spec, p *plan.Plan, opt PlanOptions) *Plan {
	v := &Plan{
		Version: PlanVersion, Platform: s.GOOS + rep.Platform[strings.IndexByte(rep.Platform, '/'):],
		Backend: p.Backend, Mode: p.Mode, Degraded: rep.Degraded, Reason: rep.Reason, Trace: rep.Trace,
		Command: p.Argv, Program: p.Exe, Workspace: s.Workspace.Path, Cwd: p.Cwd, Cache: s.Cache,
		User:  PlanUser{Name: p.User.Name, UID: p.User.UID, GID: p.User.GID, Switch: p.User.Switch},
		Stdin: stdinName(p), Env: variables(p.Env, opt.Values), Namespaces: namespaces(p.Isolation),
		Create: append([]string{}, p.Create...), Mounts: mounts(p), Outer: outer(p.Outer),
		Seccomp: len(p.Seccomp) / 8, Landlock: landlockOf(p.Landlock), Limits: limits(p),
		Enforcement: rep.Enforcement, Notices: rep.Notices,
	}
	if p.Profile != nil {
		v.Profile = p.Profile.Text
		v.Env = append(v.Env, PlanVariable{Name: "TMPDIR"})
		v.Outer.Args = append(v.Outer.Args, "-f", "file:profile")
		for _, name := range []string{p.Profile.Tmp, p.Profile.Run, p.Profile.Dir, p.Profile.TTY} {
			v.Outer.Args = append(v.Outer.Args, "-D", name+"=made:"+name)
		}
		v.Outer.Args = append(append(v.Outer.Args, "--", p.Exe), p.Argv[1:]...)
	}
	return v
}

func stdinName(p *plan.Plan) string {
	switch {
	case p.TTY:
		return "terminal"
	case p.Stdin == spec.StdinPipe:
		return "pipe"
	}
	return "none"
}

// variables lists an environment. SECURITY: values are shown only when asked for.
func variables(env []string, v Values) []PlanVariable {
	out := make([]PlanVariable, 0, len(env))
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		e := PlanVariable{Name: name}
		if v == ShowValues {
			e.Value = &value
		}
		out = append(out, e)
	}
	return out
}

func namespaces(i plan.Isolation) []string {
	out := []string{}
	for _, n := range []struct {
		on   bool
		name string
	}{{i.User, "user"}, {i.Mount, "mount"}, {i.PID, "pid"}, {i.UTS, "uts"}, {i.IPC, "ipc"}, {i.Cgroup, "cgroup"}, {i.Net, "net"}} {
		if n.on {
			out = append(out, n.name)
		}
	}
	return out
}

func mounts(p *plan.Plan) []PlanMount {
	out := make([]PlanMount, 0, len(p.Mounts))
	for _, m := range p.Mounts {
		v := PlanMount{Kind: string(m.Kind), Dst: m.Dst, ReadOnly: m.ReadOnly, Target: m.Target, Origin: m.Origin}
		switch m.Kind {
		case plan.Bind:
			v.Src = m.Src
		case plan.Tmpfs:
			v.Size = m.Size
		case plan.HideFile, plan.HideDir, plan.Symlink, plan.Seal, plan.RootEmpty:
			v.ReadOnly = true // what is left open for filling is sealed at the end
		}
		out = append(out, v)
	}
	return out
}

func outer(o *plan.Outer) *PlanOuter {
	if o == nil {
		return nil
	}
	v := &PlanOuter{Program: o.Program, Args: make([]string, 0, len(o.Args)), Hidden: o.ByFD}
	for _, a := range o.Args {
		if a.Open != "" {
			a.Text = "fd:" + a.Open
		}
		v.Args = append(v.Args, a.Text)
	}
	return v
}

func landlockOf(l *plan.Landlock) *PlanLandlock {
	if l == nil {
		return nil
	}
	v := &PlanLandlock{ABI: l.ABI, Paths: []string{}, Scoped: l.Scoped != 0}
	for _, r := range l.Rules {
		v.Paths = append(v.Paths, r.Path)
	}
	return v
}

// limits lists every limit with what keeps it (PROC-03).
func limits(p *plan.Plan) []PlanLimit {
	l := p.Limits
	const launcher = "the launcher"
	if p.Backend == "windows-sandbox" {
		const job = "job object"
		return []PlanLimit{
			limit("timeout", l.Timeout > 0, l.Timeout.String(), launcher),
			{Name: "limits.grace", Value: l.Grace.Round(time.Microsecond).String(), How: "nothing here: a job ends at once"},
			limit("memory", l.Memory > 0, size(l.Memory), job), limit("processes", l.Processes > 0, strconv.Itoa(l.Processes), job),
			limit("cpus", l.CPUs > 0, strconv.FormatFloat(l.CPUs, 'g', -1, 64), job), limit("output", l.Output > 0, size(l.Output), launcher),
			limit("tmp", l.Tmp > 0, size(l.Tmp), "nothing here"),
		}
	}
	return []PlanLimit{
		limit("timeout", l.Timeout > 0, l.Timeout.String(), launcher),
		{Name: "limits.grace", Value: l.Grace.Round(time.Microsecond).String(), How: launcher},
		limit("memory", l.Memory > 0, size(l.Memory), keeper(l, "memory", l.How.Data, "RLIMIT_DATA, for each process")),
		limit("processes", l.Processes > 0, strconv.Itoa(l.Processes), processKeeper(l)),
		limit("cpus", l.CPUs > 0, strconv.FormatFloat(l.CPUs, 'g', -1, 64), keeper(l, "cpu", false, "")),
		limit("output", l.Output > 0, size(l.Output), launcher),
		limit("tmp", l.Tmp > 0 && !p.Isolation.Direct && p.Profile == nil, size(l.Tmp), "size of the private /tmp and /dev/shm, each"),
	}
}

func limit(name string, on bool, value, how string) PlanLimit {
	if !on {
		value, how = "none", ""
	}
	return PlanLimit{Name: "limits." + name, Value: value, How: how}
}

func size(n int64) string { return policy.Size(n).String() }

func processKeeper(l plan.Limits) string {
	if l.How.PidMax {
		return "kernel.pid_max of the pid namespace"
	}
	return keeper(l, "pids", l.How.NProc, "RLIMIT_NPROC in a user namespace")
}

// keeper names the cgroup of a controller, else the other means, else nothing.
func keeper(l plan.Limits, controller string, other bool, what string) string {
	if dir := l.How.CgroupDir[controller]; dir != "" {
		return "cgroup v" + strconv.Itoa(l.How.CgroupVer) + " below " + filepath.Clean(dir)
	}
	if other {
		return what
	}
	return "nothing here"
}
