package qsandbox

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/internal/supervise"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// What could be seen of denials (OBS-04), for Report.DenialView.
const (
	seenStderr   = "guessed from the command's own messages on stderr; a program that hides its errors, words them differently or sends them elsewhere (2>&1) hides its denials"
	seenTerminal = "guessed from what the command showed on its terminal; a program that hides its errors or words them differently hides its denials"
	seenNames    = "; protected names in writable places were looked at after the run"
	seenMore     = "; there were more than are listed"
)

// judgeLimit bounds the looking at one path that a message names (LNX-12).
const judgeLimit = time.Second

// judge gives what asks the plan about the command's messages; nil where nothing is
// refused, because there is no sandbox.
func (r *run) judge(s *spec.Spec) supervise.Judge {
	if !s.Isolated() || r.report.Backend == "none" {
		return nil
	}
	late := false // a file system hangs: judge by name alone
	return func(n supervise.Hint) (report.Denial, bool) {
		real := n.Subject
		if filepath.IsAbs(real) && !late {
			err := r.host.Within(judgeLimit, func() error { real = landedAt(r.host, n.Subject); return nil })
			if late = err != nil; late {
				real = n.Subject
			}
		}
		for _, op := range n.Operations {
			v := verdictOn(s, spec.Op(op), real, n)
			if v.Allowed || n.Missing && !v.Absent {
				continue
			}
			d := report.Denial{Operation: op, Subject: n.Subject, Rule: v.Rule + ", from " + v.Origin, Remedy: remedy(s, spec.Op(op), real, v)}
			if d.Subject == "" {
				d.Subject = "(a host that the message does not name)"
			}
			return d, true
		}
		return report.Denial{}, false
	}
}

// landedAt follows links as far as the path exists.
func landedAt(h host.Host, p string) string {
	real, _ := landing(h, p, maxLinks)
	return real
}

// verdictOn is what the plan says, and of a directory that must stay where it is that
// it cannot be renamed or removed (FS-04).
func verdictOn(s *spec.Spec, op spec.Op, real string, n supervise.Hint) spec.Verdict {
	v := spec.Decide(s, spec.Query{Op: op, Path: real, Host: real})
	if !n.Busy || !v.Allowed {
		return v
	}
	for _, r := range s.Rules {
		if r.Pin && r.Path == real {
			return spec.Verdict{Rule: "pinned " + r.Path, Origin: r.Origin, Why: "it cannot be renamed or replaced"}
		}
	}
	return v
}

// remedy says what a person can do. What holds secrets is never offered lightly: the
// text may be read by the very program that was refused.
func remedy(s *spec.Spec, op spec.Op, path string, v spec.Verdict) string {
	switch {
	case op == spec.OpConnect:
		return connectRemedy(s, path)
	case strings.HasPrefix(v.Origin, "credential "):
		return "hidden on purpose, as it holds credentials: give the command credentials of its own; filesystem.readable would hand it these"
	case strings.HasPrefix(v.Origin, "protected: "):
		return "it would be run or obeyed outside the sandbox later: change it outside, or list " + strings.TrimPrefix(v.Origin, "protected: ") + " in filesystem.allowProtected if the command may be trusted with that"
	case strings.HasPrefix(v.Origin, "private caches"):
		return "caches of other workspaces are not for this one"
	case strings.HasPrefix(v.Origin, "private "):
		return "the sandbox has its own " + strings.TrimPrefix(v.Origin, "private ") + ": put the file into the workspace"
	case strings.HasPrefix(v.Origin, "filesystem."):
		return "the policy says so: see " + v.Origin
	case v.Origin == "mode" && op != spec.OpWrite:
		return "strict shows only the workspace and system directories: list it in filesystem.readable, or use mode compat"
	case op == spec.OpWrite && systemPath(path):
		return "system directories are better left alone: let the command write to the workspace; --writable (filesystem.writable) would open it"
	case op == spec.OpWrite:
		return "if it is meant to: --writable PATH, or filesystem.writable"
	}
	return ""
}

func connectRemedy(s *spec.Spec, target string) string {
	switch {
	case filepath.IsAbs(target):
		return "if it is meant to: list the socket in network.unixSockets; whoever answers there acts outside the sandbox"
	case s.Policy.Network.Mode == policy.NetworkOff && target == "":
		return "if it is meant to: network.mode allow with the host in network.allow, or --network on"
	case s.Policy.Network.Mode == policy.NetworkOff:
		return "if it is meant to: network.mode allow with it in network.allow, or --network on"
	}
	return "if it is meant to: list it in network.allow (network.deny wins)"
}

// systemPath tells the system's directories from places where people keep work.
func systemPath(path string) bool {
	parts := strings.Split(path, string(filepath.Separator))
	return len(parts) < 3 || slices.Contains([]string{"etc", "usr", "bin", "sbin", "lib", "lib32", "lib64", "boot", "dev", "proc", "sys", "run", "var", "opt", "System", "Library"}, parts[1])
}

// viewed says in the report what could be seen of denials.
func (r *run) viewed(s *spec.Spec, terminal bool) {
	if r.judge(s) == nil {
		return
	}
	r.report.DenialView = seenStderr
	if terminal {
		r.report.DenialView = seenTerminal
	}
	if len(s.Protected.Roots) > 0 {
		r.report.DenialView += seenNames
	}
}

// heard puts what the command told of into the report, once.
func (r *run) heard(s *supervise.Session) {
	if r.report.Exit != nil || r.report.Error != nil {
		return
	}
	list, more := s.Denials()
	r.report.Denials = append(r.report.Denials, list...)
	if more {
		r.report.DenialView += seenMore
	}
}
