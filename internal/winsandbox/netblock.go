package winsandbox

import (
	"slices"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
	"github.com/qiming-sandbox/qsandbox/report"
)

// How the network is blocked when the helper runs as an administrator (WIN-08): by
// filters of the Windows Filtering Platform, which live as long as the helper. A
// filter knows a process by its token alone: it has a security descriptor, and is meant
// for those whom that gives matchFilter.
//
// Restricting identifiers cannot mark our token: whether a filter asks them is not
// documented. A group that counts for denials alone can: the access check has always
// known those. So our token loses one group that every ordinary token has, and of two
// filters the heavier lets pass who has it, the lighter blocks the rest of this user.

// organization is "This Organization": it is in the tokens of all that sign in here, and
// hardly any list names it.
var organization = winacl.NewSID(5, 15)

// matchFilter is FWP_ACTRL_MATCH_FILTER (fwpmu.h).
const matchFilter winacl.Mask = 1

// filterRule is one of the two filters of each layer.
type filterRule struct {
	name   string
	block  bool
	weight uint8
	who    *winacl.Descriptor
}

// filterRules gives both filters for the token of a wish.
//
// SECURITY: both name the capabilities as well. Should a filter ask the restricting
// identifiers, too, they must say yes: of the second, else it would not be for our token;
// of the first, else it would not be for a run in the same workspace that has the network.
func filterRules(w TokenWish) []filterRule {
	only := func(list ...winacl.SID) *winacl.Descriptor {
		d := &winacl.Descriptor{Owner: winacl.System, Group: winacl.System, DACL: &winacl.ACL{}}
		for _, s := range list {
			d.DACL.Entries = append(d.DACL.Entries, winacl.ACE{Mask: matchFilter, SID: s})
		}
		return d
	}
	return []filterRule{
		{"qsandbox: others of this user", false, 15, only(append([]winacl.SID{organization}, w.Caps...)...)},
		{"qsandbox: no network in the sandbox", true, 1, only(append([]winacl.SID{w.User}, w.Caps...)...)},
	}
}

// Offline gives the wish of a run whose network is blocked by filters.
func (w TokenWish) Offline() TokenWish {
	w.DenyOnly = append(slices.Clone(w.DenyOnly), organization)
	return w
}

// rowOfNetwork says in every report what off is worth. filters is why there are none, or
// "".
func (o *Outcome) rowOfNetwork(r Request, filters string) {
	const env = "environment: dead proxies, offline switches, ssh and scp that refuse"
	switch {
	case r.Network == NetworkOn:
		o.row("NET-01", "the policy gives the host's network", report.Enforced, "")
	case filters == "":
		o.row("NET-01", "filters of the Windows Filtering Platform for the run's token; "+env, report.Advisory,
			"that a filter matches the token was not seen on a real Windows; names are still resolved by a service of Windows")
	default:
		o.row("NET-01", env, report.Advisory, "a program that opens a socket of its own is not stopped; no filters: "+filters)
	}
}
