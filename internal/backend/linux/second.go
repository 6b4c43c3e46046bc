// Package linux is what the two Linux backends share: the second layer on top
// of the namespaces (LNX-06), and the rows that say so.
package linux

import (
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/landlock"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/seccomp"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/report"
)

// SecondLayer adds the seccomp filter and the Landlock domain to a plan.
func SecondLayer(p *plan.Plan, s *spec.Spec) error {
	if p.Isolation.Direct {
		return nil
	}
	if err := filter(p, s); err != nil {
		return err
	}
	domain(p, s)
	sockets(p, s)
	p.Row("LNX-10", "our init runs from a sealed memfd, undumpable, under the command's own filter", report.Enforced, "")
	return nil
}

// filter compiles the system call filter.
func filter(p *plan.Plan, s *spec.Spec) error {
	if !s.Kernel.Seccomp {
		p.Row("LNX-06", "capabilities dropped, no new privileges", report.Advisory, "this kernel has no seccomp filters")
		return nil
	}
	prog, err := seccomp.Compile(seccomp.Options{Arch: s.GOARCH, Nested: s.Policy.Exec.Nested, Notify: p.Supervised})
	if err != nil {
		return err
	}
	p.Seccomp = prog.Bytes()
	why := ""
	if s.Policy.Exec.Nested {
		why = "exec.nested lets the command make user namespaces of its own"
		p.Row("LNX-06", "no new privileges, no capabilities, seccomp filter; user namespaces allowed", report.Advisory, why)
		return nil
	}
	p.Row("LNX-06", "no new privileges, no capabilities, seccomp filter", report.Enforced, "")
	return nil
}

// domain makes the Landlock ruleset: the same rules as the mounts, kept by
// another part of the kernel. With exec.nested it has scopes only, as any
// file-system ruleset forbids mount().
func domain(p *plan.Plan, s *spec.Spec) {
	abi := s.Kernel.LandlockABI
	if abi == 0 {
		p.Notices = append(p.Notices, report.Notice{Kind: "landlock:absent", Text: "Landlock is not available: " + s.Kernel.LandlockWhy})
		return
	}
	scopes := landlock.ScopeAbstractUnix | landlock.ScopeSignal
	rs, _ := landlock.ForScopes(abi, scopes, 0)
	if !s.Policy.Exec.Nested {
		rs, _ = landlock.For(abi, paths(s), landlock.Options{Scoped: scopes})
	}
	if rs.Empty() {
		return
	}
	l := &plan.Landlock{ABI: abi, Attr: rs.Attr(), Scoped: uint64(rs.Scoped)}
	for _, r := range rs.Paths {
		l.Rules = append(l.Rules, plan.LandlockRule{Path: r.Path, Access: uint64(r.Access)})
		if r.Access&landlock.MakeReg != 0 {
			l.Makes = append(l.Makes, r.Path)
		}
	}
	p.Landlock = l
}

// paths gives the rules of the domain. What is hidden or read-only below a
// writable place is kept by the mounts alone: Landlock can only grant.
func paths(s *spec.Spec) []landlock.PathRule {
	out := []landlock.PathRule{{Path: "/", Access: landlock.ReadOnlyDir, Dir: true}}
	for _, r := range s.Rules {
		if !r.Mount && !r.Create {
			continue
		}
		switch {
		case r.Given == "/dev":
			out = append(out,
				landlock.PathRule{Path: r.Path, Access: landlock.DeviceDir, Dir: true},
				landlock.PathRule{Path: r.Path + "/shm", Access: landlock.ReadWriteDir, Dir: true})
		case r.Given == "/proc": // a process writes its own entries: oom_score_adj, comm, timerslack_ns
			out = append(out, landlock.PathRule{Path: r.Path, Access: landlock.ReadOnlyDir | landlock.WriteFile | landlock.Truncate, Dir: true})
		case r.Access == spec.Private || r.Access == spec.Write:
			a := landlock.ReadWriteDir
			if r.Kind == spec.File {
				a = landlock.ReadWriteFile
			}
			out = append(out, landlock.PathRule{Path: r.Path, Access: a, Dir: r.Kind != spec.File})
		case r.Kind == spec.Socket && r.Access == spec.Read:
			out = append(out, landlock.PathRule{Path: r.Path, Access: landlock.Socket})
		}
	}
	return out
}

// sockets says how well the host's AF_UNIX sockets are out of reach (LNX-07).
func sockets(p *plan.Plan, s *spec.Spec) {
	var weak []string
	abstract := p.Landlock != nil && p.Landlock.Scoped&uint64(landlock.ScopeAbstractUnix) != 0
	if !abstract && !p.Isolation.Net {
		weak = append(weak, "abstract sockets of the host can be reached: that needs Landlock ABI 6 (Linux 6.12), or the network off")
	}
	if len(weak) > 0 {
		p.Row("LNX-07", "sockets that exist at the start are covered", report.Advisory, strings.Join(weak, "; "))
	} else {
		p.Row("LNX-07", "sockets that exist at the start are covered; abstract ones by scope or namespace", report.Enforced, "")
	}
	if s.Kernel.LandlockABI < resolveUnixABI {
		p.Row("LNX-07", plan.LaterSockets, report.Advisory, "a socket that is made on the host after the start, where the command can see it (in strict: the workspace and directories of arguments), can be reached: that needs Landlock ABI 9")
	}
}

// resolveUnixABI is the first Landlock ABI with a right to connect to a socket by path.
const resolveUnixABI = 9
