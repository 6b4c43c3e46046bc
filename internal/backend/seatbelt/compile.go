// Package seatbelt is the macos-seatbelt backend: a profile of the sandbox
// profile language, kept by the kernel for the command and all that it starts,
// applied by sandbox-exec(1).
//
// The profile is checked on every system by the evaluator of package sbpl. That is
// a model: rows say modelled until the same answers were had from a real Mac
// (MAC-05).
package seatbelt

import (
	"errors"
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/sbpl"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Name is the backend's name.
const Name = "macos-seatbelt"

// Program applies a profile and executes the command.
//
// SECURITY: this path alone, never PATH: a request or the workspace could choose it.
const Program = "/usr/bin/sandbox-exec"

// Backend implements backend.Backend.
type Backend struct{ backend.Trial }

// Name gives "macos-seatbelt".
func (Backend) Name() string { return Name }

// Compile turns a spec into a profile.
func (Backend) Compile(s *spec.Spec, _ backend.Support) (*plan.Plan, error) {
	prof, err := profile(s)
	if err != nil {
		return nil, err
	}
	text, err := prof.Text()
	if err != nil {
		return nil, unwritable(err)
	}
	p := plan.Base(Name, s)
	p.Profile = &plan.Profile{Text: text, Tmp: ParamTmp, Run: ParamRun, Dir: ParamDir, TTY: ParamTTY}
	p.Outer = &plan.Outer{Program: Program}
	p.Env = withoutTmp(s)
	if !s.Isolated() {
		p.Isolation.Direct = true
		p.DirectRows(s)
		return backend.Finish(p, s)
	}
	rows(p, s)
	return backend.Finish(p, s)
}

// withoutTmp leaves TMPDIR out: the launcher names the directory that it makes.
func withoutTmp(s *spec.Spec) []string {
	if !s.Isolated() {
		return s.Env
	}
	out := make([]string, 0, len(s.Env))
	for _, kv := range s.Env {
		if !strings.HasPrefix(kv, "TMPDIR=") {
			out = append(out, kv)
		}
	}
	return out
}

func unwritable(err error) error {
	var u *sbpl.Unescapable
	e := fault.Wrap(fault.PolicyUnenforceable, "write the profile", "", err)
	if errors.As(err, &u) {
		e = fault.New(fault.PolicyUnenforceable, "write the profile", u.Value, "a name of macOS is UTF-8 without NUL; this one cannot be put into a profile, so nothing is run")
	}
	e.Backend = Name
	return e
}

const unproven = "shown by our evaluator of the profile language, not yet by a real Mac"

// rows says how each requirement is kept.
//
// SECURITY: modelled, never enforced, for what only the evaluator shows (MAC-05).
func rows(p *plan.Plan, s *spec.Spec) {
	const how = "seatbelt profile"
	for _, r := range []string{"FS-01", "FS-02", "FS-03"} {
		p.Row(r, how, report.Modelled, unproven)
	}
	p.Enforcement = append(p.Enforcement, s.Rows...)
	p.Row("FS-04", "existing names: writing, renaming and removing them, and the directories above, is denied", report.Modelled, unproven)
	p.Row("FS-04", "new names outside of git folders: their creation is denied by name", report.Modelled, unproven)
	p.Row("FS-04", "new names in git folders: looked for after the run, moved away and reported", report.Detected,
		"git makes these names itself at init, clone and worktree add")
	if n := len(s.Protected.NotWalked); n > 0 {
		p.Row("FS-04", "bounded walk", report.Advisory, "some places were not walked; see the notices")
	}
	p.Row("FS-05", "checked when the policy is bound", report.Enforced, "")
	p.Row("FS-06", "rules name real paths, and the kernel judges where a link lands", report.Modelled, unproven)
	p.Row("FS-07", "the run's own directory is removed; after a crash by the next start", report.Modelled, "not tried on a real Mac")
	p.Row("FS-08", "linked worktree confirmed from both sides", report.Modelled, unproven)
	p.Row("FS-09", "checked when the policy is bound", report.Enforced, "")
	for _, r := range []string{"MAC-01", "MAC-02", "MAC-03"} {
		p.Row(r, how, report.Modelled, unproven)
	}
	p.Row("MAC-04", "values are quoted and read back; file of mode 0600 in a directory of mode 0700", report.Modelled, "not tried on a real Mac")
	network(p, s)
	for _, r := range []string{"VAR-01", "VAR-02"} {
		p.Row(r, "environment made from the safe list", report.Enforced, "")
	}
	p.Row("VAR-03", "arguments and environment of other processes cannot be asked for; descriptors closed", report.Modelled, unproven)
	p.DarwinProcessRows()
	if s.Policy.Limits.Tmp > 0 {
		p.Row("PROC-03", "size of the temporary directory: none", report.None, "macOS has no file system in memory for one process")
	}
}

func network(p *plan.Plan, s *spec.Spec) {
	switch s.Policy.Network.Mode {
	case policy.NetworkOn:
		p.Row("NET-01", "the policy gives the host's network", report.Enforced, "")
	case policy.NetworkAllow:
		const why = "this version has no allow-list proxy yet: with network.mode allow nothing can be reached, listed or not"
		p.Row("NET-01", "seatbelt profile", report.Modelled, unproven)
		p.Row("NET-02", "none", report.None, why)
		p.Notices = append(p.Notices, report.Notice{Kind: "network:allow-missing", Text: why})
	default:
		p.Row("NET-01", "seatbelt profile", report.Modelled, unproven)
	}
}
