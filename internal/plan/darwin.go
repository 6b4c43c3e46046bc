package plan

import "github.com/qiming-sandbox/qsandbox/report"

// DarwinProcessRows says how processes and limits are kept on macOS, with a
// sandbox and without: there is no pid namespace and no cgroup.
func (p *Plan) DarwinProcessRows() {
	p.Row("PROC-01", "pipes or a terminal of our own", report.Modelled, "tried on Linux with the same code, not on a real Mac")
	p.Row("PROC-02", "a keeper ends the command's group and every descendant it saw, also when the launcher dies", report.Advisory,
		"a process that leaves its group and parents faster than they are looked at can outlive the run")
	l := p.Limits
	if l.Timeout > 0 || l.Output > 0 {
		p.Row("PROC-03", "time and output are watched by the launcher", report.Enforced, "")
	}
	if l.Processes > 0 {
		p.Row("PROC-03", "processes: none", report.None, "macOS counts the processes of a user, not those of a tree")
	}
	if l.Memory > 0 {
		p.Row("PROC-03", "memory: none", report.None, "macOS has no limit on the memory of a tree")
	}
	if l.CPUs > 0 {
		p.Row("PROC-03", "cpus: none", report.None, "macOS has no limit on the processors of a tree")
	}
}
