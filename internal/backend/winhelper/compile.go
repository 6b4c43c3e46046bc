// Package winhelper is the windows-sandbox backend: the command is started by
// qiming-sandbox-helper, which makes the token, the lists and the job. Compile only
// writes its command line, so plans for Windows are made on every system.
package winhelper

import (
	"fmt"
	"slices"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/helpercmd"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Name is the backend's name.
const Name = "windows-sandbox"

// maxLine is what CreateProcess takes, with some room for quoting.
const maxLine = 30000

// Backend implements backend.Backend.
type Backend struct{ backend.Trial }

// Name gives "windows-sandbox".
func (Backend) Name() string { return Name }

// Compile writes the helper's command line.
func (Backend) Compile(s *spec.Spec, sup backend.Support) (*plan.Plan, error) {
	p := plan.Base(Name, s)
	p.Isolation.Direct = !s.Isolated()
	c := Command(s, helpercmd.Serve)
	args := c.Args()
	length := 0
	for _, a := range args {
		length += len(a) + 3
	}
	if length > maxLine {
		e := fault.New(fault.PolicyUnenforceable, "compile the policy", "",
			fmt.Sprintf("the helper's command line would have %d characters, and Windows takes 32,766; use fewer paths, or fewer patterns in filesystem.denyWrite", length))
		e.Backend = Name
		return nil, e
	}
	p.Outer = &plan.Outer{Program: sup.Path}
	for _, a := range args {
		p.Outer.Args = append(p.Outer.Args, plan.OuterArg{Text: a})
	}
	rows(p, s, c.WriteRestricted())
	return backend.Finish(p, s)
}

// Command is the helper's command line for a spec (WIN-03).
//
// The seed's caller leaves serve without write restriction, since grandchildren could
// not make pipes. The token's default list lets them (WIN-04), so ours asks for it.
func Command(s *spec.Spec, sub helpercmd.Sub) helpercmd.Command {
	l := s.Policy.Limits
	c := helpercmd.Command{
		Sub: sub, Mode: s.Policy.WindowsMode, Cwd: s.Cwd, Audit: s.Policy.Windows.Audit, NewNames: "caller", TTY: s.TTY && sub == helpercmd.Serve,
		Policy: helpercmd.Policy{Type: s.Policy.WindowsMode, Mode: s.Policy.Mode, Network: s.Policy.Network.Mode == policy.NetworkOn},
		Memory: int64(l.Memory), Processes: l.Processes, CPUs: l.CPUs, PassEnv: passed(s), Argv: s.Argv,
	}
	if sub == helpercmd.Run { // of serve the launcher watches both
		c.Timeout, c.Output = l.Timeout, int64(l.Output)
	}
	if s.Policy.WindowsMode == policy.ReadOnly {
		c.Policy.Network = false // its policy has no such field
	} else {
		c.Policy.WritableRoots = roots(s)
		c.DenyWrite = denied(s)
	}
	switch {
	case s.Policy.Mode == policy.Permissive && sub == helpercmd.Run:
		c.Wish = helpercmd.NotRestricted
	case s.Policy.Mode != policy.Permissive && sub == helpercmd.Serve:
		c.Wish = helpercmd.Restricted
	}
	return c
}

// roots are the writable directories, the workspace first; strict has it alone.
func roots(s *spec.Spec) []string {
	out := []string{s.Workspace.Path}
	if s.Policy.Mode == policy.Strict {
		return out
	}
	for _, r := range s.Rules {
		if r.Access == spec.Write && !r.Pin && (r.Kind == spec.Dir || r.Create) && !slices.Contains(out, r.Path) {
			out = append(out, r.Path)
		}
	}
	return out
}

// denied is what stays read-only inside a root. Missing paths are left out: there is
// nothing whose list could be edited.
func denied(s *spec.Spec) []string {
	var out []string
	for _, r := range s.Rules {
		if r.Access < spec.Write && r.Access != spec.Private && r.Mount && r.Kind != spec.Missing && inRoot(s, r.Path) {
			out = append(out, r.Path)
		}
	}
	return out
}

func inRoot(s *spec.Spec, path string) bool {
	for _, root := range roots(s) {
		if root != path && within(root, path) {
			return true
		}
	}
	return false
}

// within knows both separators: a plan for Windows may be made elsewhere.
func within(root, path string) bool {
	if len(path) <= len(root) || path[:len(root)] != root {
		return false
	}
	return path[len(root)] == '/' || path[len(root)] == '\\'
}

// passed names the variables of the plan that are not on the safe list: the spec has
// judged them, and the helper would hold them back. SECURITY: names only; values are
// in the helper's environment, not on the process list.
func passed(s *spec.Spec) []string {
	var out []string
	for _, kv := range s.Env {
		for i := range len(kv) {
			if kv[i] == '=' && i > 0 {
				if !policy.IsSafeKey("windows", kv[:i]) {
					out = append(out, kv[:i])
				}
				break
			}
		}
	}
	return out
}
