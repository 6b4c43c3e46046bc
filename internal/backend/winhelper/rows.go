package winhelper

import (
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// What holds rests on a model of Windows' access check; see docs/windows.md.
const (
	modelled   = "computed by our model of the access check; not verified on a real Windows"
	emulated   = "tried under Wine only; not verified on a real Windows"
	readsAll   = "a write-restricted token reads whatever its user can read"
	noRestrict = "without WRITE_RESTRICTED nothing keeps the command from writing what its user can write"
)

// rows says how each requirement is kept, as far as it is known.
func rows(p *plan.Plan, s *spec.Spec, restricted bool) {
	files(p, s, restricted)
	network(p, s)
	for _, r := range []string{"VAR-01", "VAR-02"} {
		p.Row(r, "environment made from the safe list, again by the helper", report.Enforced, "")
	}
	p.Row("VAR-03", "only the three streams are inherited", report.Advisory, "processes of the same user can be opened for reading")
	p.Row("PROC-01", "pipes, or a pseudo console", report.Modelled, emulated)
	p.Row("PROC-02", "job object that ends with the helper", report.Modelled, emulated)
	limits(p)
}

func files(p *plan.Plan, s *spec.Spec, restricted bool) {
	const how = "write-restricted token, capability identifiers in access-control lists"
	switch {
	case !s.Isolated():
		for _, r := range []string{"FS-01", "FS-02", "FS-03", "FS-04"} {
			p.Row(r, "", report.None, "mode permissive isolates nothing")
		}
	case !restricted:
		for _, r := range []string{"FS-01", "FS-02", "FS-04"} {
			p.Row(r, "", report.None, noRestrict)
		}
		p.Row("FS-03", "", report.None, readsAll)
	default:
		p.Row("FS-01", how, report.Modelled, modelled)
		p.Row("FS-02", how, report.Modelled, modelled)
		p.Row("FS-03", "", report.None, readsAll)
		p.Row("FS-04", "existing names: denials, directories above them kept in place", report.Modelled, modelled)
		p.Row("FS-04", "new names: looked for at the end of the run, moved away, reported", report.Detected, "not prevented; "+emulated)
		p.Row("WIN-07", "audit of the directories beside the command's", report.Advisory, "directories deeper down that anybody may write stay writable")
	}
	p.Enforcement = append(p.Enforcement, s.Rows...)
	p.Row("FS-05", "checked when the policy is bound, and by the helper", report.Enforced, "")
	p.Row("FS-06", "lists are edited by handles that follow no link", report.Modelled, emulated)
	p.Row("FS-07", "journal of every entry; qiming-sandbox-helper acl revoke", report.Advisory, "in workspace-write the entries stay, so that the next run need not make them again")
	p.Row("FS-09", "checked when the policy is bound, and by the helper", report.Enforced, "")
}

// network says in every report what it is worth (§6-4, WIN-08).
func network(p *plan.Plan, s *spec.Spec) {
	const why = "programs are told that there is no network; one that opens a socket of its own is not stopped"
	switch {
	case s.Policy.Network.Mode == policy.NetworkOn && s.Policy.WindowsMode == policy.WorkspaceWrite:
		p.Row("NET-01", "the policy gives the host's network", report.Enforced, "")
		return
	case !s.Isolated():
		p.Row("NET-01", "", report.None, "mode permissive isolates nothing")
		return
	case s.Policy.Network.Mode == policy.NetworkOn:
		p.Notices = append(p.Notices, report.Notice{Kind: "network:read-only", Text: "windowsMode read-only has no network setting: it is off, as far as programs listen"})
	case s.Policy.Network.Mode == policy.NetworkAllow:
		const none = "windows-sandbox has no allow-list: the network is off, as far as programs listen"
		p.Row("NET-02", "", report.None, none)
		p.Notices = append(p.Notices, report.Notice{Kind: "network:allow-missing", Text: none})
	}
	p.Row("NET-01", "environment: dead proxies, offline switches, ssh and scp that refuse; as an administrator also filters", report.Advisory, why)
	p.Notices = append(p.Notices, report.Notice{Kind: "network:best-effort", Text: "the network is only discouraged: " + why})
}

func limits(p *plan.Plan) {
	l := p.Limits
	if l.Timeout > 0 || l.Output > 0 {
		p.Row("PROC-03", "time and output are watched by the launcher", report.Enforced, "")
	}
	for _, r := range []struct {
		on   bool
		what string
	}{{l.Memory > 0, "memory"}, {l.Processes > 0, "processes"}, {l.CPUs > 0, "cpus"}} {
		if r.on {
			p.Row("PROC-03", r.what+": job object", report.Modelled, "not verified on a real Windows")
		}
	}
}
