package plan

import (
	"fmt"

	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Base fills what every backend's plan has in common.
func Base(name string, s *spec.Spec) *Plan {
	l := s.Policy.Limits
	p := &Plan{
		Backend: name, Mode: s.Policy.Mode.String(), Exe: s.Exe, Argv: s.Argv, Env: s.Env, Cwd: s.Cwd,
		User: s.User, Stdin: s.Stdin, TTY: s.TTY, Create: Creates(s), Notices: s.Notices,
		Limits: Limits{Timeout: l.Timeout, Grace: l.Grace, Memory: int64(l.Memory), Processes: l.Processes, CPUs: l.CPUs, Output: int64(l.Output), Tmp: int64(l.Tmp)},
	}
	for _, r := range s.Kernel.IDMap {
		p.Kernel.UIDMap = append(p.Kernel.UIDMap, IDRange{r.Inside, r.Size})
	}
	for _, r := range s.Kernel.GIDMap {
		p.Kernel.GIDMap = append(p.Kernel.GIDMap, IDRange{r.Inside, r.Size})
	}
	return p
}

// LaterSockets is the part of LNX-07 about sockets that are made after the start.
const LaterSockets = "sockets made on the host later"

// Row adds an enforcement row.
func (p *Plan) Row(req, mechanism string, level report.Level, why string) {
	p.Enforcement = append(p.Enforcement, report.Enforcement{Requirement: req, Mechanism: mechanism, Level: level, Why: why})
}

// LinuxRows says how a Linux backend keeps each requirement.
func (p *Plan) LinuxRows(s *spec.Spec) {
	if p.Isolation.Direct {
		p.DirectRows(s)
		return
	}
	const ns = "mount namespace"
	for _, r := range []string{"FS-01", "FS-02", "FS-03"} {
		p.Row(r, ns, report.Enforced, "")
	}
	p.Enforcement = append(p.Enforcement, s.Rows...)
	p.protectedRows(s)
	p.Row("FS-05", "checked when the policy is bound", report.Enforced, "")
	p.Row("FS-06", "identity compared by descriptor", report.Enforced, "")
	p.Row("FS-07", "nothing is left on the host", report.Enforced, "")
	p.Row("FS-09", "checked when the policy is bound", report.Enforced, "")
	if p.Isolation.User {
		p.Row("LNX-01", "user, mount, pid, uts, ipc and cgroup namespaces", report.Enforced, "")
	} else {
		p.Row("LNX-01", "mount, pid, uts, ipc and cgroup namespaces; no user namespace can be made here", report.Enforced, "")
	}
	p.Row("LNX-02", "private /tmp, /var/tmp, /dev, /proc", report.Enforced, "")
	if s.Policy.Mode == policy.Strict {
		p.Row("LNX-03", "empty root with system directories", report.Enforced, "")
	} else {
		p.Row("LNX-04", "read-only root", report.Enforced, "")
	}
	p.networkRow(s)
	if p.Isolation.PrivateMounts {
		p.Row("LNX-11", "private mount propagation; our init is PID 1", report.Enforced, "")
	} else {
		p.Row("LNX-11", "our init is PID 1", report.Advisory, "a mount made on the host during the run may appear inside: no mount namespace could be made around bwrap")
	}
	for _, r := range []string{"VAR-01", "VAR-02"} {
		p.Row(r, "environment made from the safe list", report.Enforced, "")
	}
	p.Row("VAR-03", "init without environment, undumpable; descriptors closed", report.Enforced, "")
	p.Row("PROC-01", "pipes or a terminal of our own", report.Enforced, "")
	p.Row("PROC-02", "pid namespace; init holds a pipe from the launcher", report.Enforced, "")
	p.limitRows()
}

// supervise decides whether a supervisor makes the calls that create names (FS-04),
// and says why not where the policy wants one.
func (p *Plan) supervise(s *spec.Spec) (why string) {
	strict := s.Policy.Mode == policy.Strict
	switch {
	case !strict && s.Policy.Filesystem.NewProtected != policy.PreventNew:
		return "nothing stops their creation during the run; the next host program could see one for a moment (filesystem.newProtected: prevent)"
	case s.Policy.Exec.Nested:
		return "with exec.nested a command can give every path another name: nothing can stop the creation of a name"
	case !s.Kernel.Notify || s.GOARCH != "amd64" && s.GOARCH != "arm64":
		return "nothing stops their creation during the run: that needs seccomp notification as Linux 5.19 has it"
	}
	p.Supervised = true
	return ""
}

// protectedRows says how what runs later on the host is kept (FS-04, FS-08).
func (p *Plan) protectedRows(s *spec.Spec) {
	p.Row("FS-04", "existing names: read-only mounts, directories above them pinned", report.Enforced, "")
	if why := p.supervise(s); why == "" {
		p.Row("FS-04", "new names: a supervisor makes the creating calls; repositories that the run makes are looked at after it", report.Enforced, "")
	} else {
		p.Row("FS-04", "new names: looked for after the run, moved away and reported", report.Detected, why)
	}
	if n := len(s.Protected.NotWalked); n > 0 {
		p.Row("FS-04", "bounded walk", report.Advisory, fmt.Sprintf("%d places were not walked; see the notices", n))
	}
	if len(s.Protected.Linked) > 0 {
		p.Row("FS-04", "second names", report.Advisory, SecondNames(s.Protected.Linked))
	}
	p.Row("FS-08", "linked worktree confirmed from both sides", report.Enforced, "")
}

// SecondNames says why protected files with other names are not kept in full; explain says the same.
func SecondNames(linked []string) string {
	return fmt.Sprintf("protected files that have another name (hard link), which no mount covers: %d, the first is %s", len(linked), linked[0])
}

func (p *Plan) networkRow(s *spec.Spec) {
	if n := s.Policy.Network; n.Mode != policy.NetworkOn && (len(n.LocalPorts) > 0 || n.Upstream != "") {
		p.Notices = append(p.Notices, report.Notice{Kind: "network:unused", Text: "network.localPorts and network.upstream have no effect in this version: no port of the host is reachable"})
	}
	switch s.Policy.Network.Mode {
	case policy.NetworkAllow:
		p.Row("NET-01", "network namespace", report.Enforced, "")
		const why = "this version has no allow-list proxy yet: with network.mode allow nothing can be reached, listed or not"
		p.Row("NET-02", "none", report.None, why)
		p.Notices = append(p.Notices, report.Notice{Kind: "network:allow-missing", Text: why})
		p.Row("LNX-09", "loopback of its own", report.Enforced, "")
	case policy.NetworkOn:
		p.Row("NET-01", "the policy gives the host's network", report.Enforced, "")
	default:
		p.Row("NET-01", "network namespace", report.Enforced, "")
		p.Row("LNX-09", "loopback of its own", report.Enforced, "")
	}
}

// DirectRows is the table of modes for permissive and none.
func (p *Plan) DirectRows(s *spec.Spec) {
	why := "mode permissive isolates nothing"
	if p.Backend == "none" {
		why = "no sandbox was used"
	}
	none := []string{"FS-01", "FS-02", "FS-03", "NET-01", "LNX-01", "LNX-02"}
	if s.GOOS == "darwin" {
		none = none[:4]
	}
	for _, r := range none {
		p.Row(r, "", report.None, why)
	}
	if s.Policy.Network.Mode != policy.NetworkOn {
		p.Notices = append(p.Notices, report.Notice{Kind: "network:no-effect", Text: "the network setting has no effect: " + why})
	}
	for _, r := range []string{"VAR-01", "VAR-02"} {
		p.Row(r, "environment made from the safe list", report.Enforced, "")
	}
	if s.GOOS == "darwin" {
		p.Row("VAR-03", "descriptors closed", report.Advisory, "other processes of the same user can be looked at")
		p.DarwinProcessRows()
		return
	}
	p.Row("VAR-03", "descriptors closed", report.Advisory, "without a pid namespace /proc shows other processes of the same user")
	p.Row("PROC-01", "pipes or a terminal of our own", report.Enforced, "")
	p.Row("PROC-02", "subreaper, then a walk over descendants", report.Advisory, "without a pid namespace a process can outlive the run when the launcher is killed")
	p.limitRows()
}

// limitRows says what keeps each limit that is set (PROC-03).
func (p *Plan) limitRows() {
	l, h := p.Limits, p.Limits.How
	if l.Timeout > 0 || l.Output > 0 {
		p.Row("PROC-03", "time and output are watched by the launcher", report.Enforced, "")
	}
	limit := func(on bool, what string, how string, level report.Level, why string) {
		if on {
			p.Row("PROC-03", what+": "+how, level, why)
		}
	}
	cg := func(c string) bool { return h.CgroupDir[c] != "" }
	switch {
	case h.PidMax:
		limit(l.Processes > 0, "processes", "kernel.pid_max of the pid namespace", report.Enforced, "")
	case cg("pids"):
		limit(l.Processes > 0, "processes", fmt.Sprintf("cgroup v%d", h.CgroupVer), report.Enforced, "")
	case h.NProc:
		limit(l.Processes > 0, "processes", "RLIMIT_NPROC in a user namespace", report.Enforced, "")
	default:
		limit(l.Processes > 0, "processes", "none", report.None, "no pids controller can be used, and RLIMIT_NPROC counts all processes of an account, and none of root")
	}
	switch {
	case cg("memory"):
		limit(l.Memory > 0, "memory", fmt.Sprintf("cgroup v%d", h.CgroupVer), report.Enforced, "")
	default:
		limit(l.Memory > 0, "memory", "RLIMIT_DATA", report.Advisory, "no memory controller can be used: the limit holds for each process, not for all together")
	}
	if cg("cpu") {
		limit(l.CPUs > 0, "cpus", fmt.Sprintf("cgroup v%d", h.CgroupVer), report.Enforced, "")
	} else {
		limit(l.CPUs > 0, "cpus", "none", report.None, "no cpu controller can be used")
	}
}

// LinuxLimits chooses what keeps each limit: the pid namespace's own bound,
// cgroups, else rlimits; never RLIMIT_AS (PROC-03).
func (p *Plan) LinuxLimits(s *spec.Spec, pidMax bool) {
	l, k := &p.Limits, s.Kernel
	l.How.CgroupDir, l.How.CgroupVer = map[string]string{}, s.Cgroup.Version
	use := func(controller string, wanted bool) bool {
		dir := s.Cgroup.Dirs[controller]
		if wanted && dir != "" {
			l.How.CgroupDir[controller] = dir
		}
		return wanted && dir != ""
	}
	switch {
	case l.Processes == 0:
	case pidMax && k.PidMaxNS && l.Processes >= spec.PidMaxFloor:
		l.How.PidMax = true
	case use("pids", true):
	case p.Isolation.User && s.User.UID != 0:
		l.How.NProc = true
	}
	if l.Memory > 0 && !use("memory", true) {
		l.How.Data = true
	}
	use("cpu", l.CPUs > 0)
}

// StrictGaps gives the rows that strict does not accept.
func (p *Plan) StrictGaps() []report.Enforcement { return report.Below(p.Enforcement) }
