package winsandbox

import (
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
	"github.com/qiming-sandbox/qsandbox/report"
)

// verdict is what both filters do with a token: the heavier that is for it decides.
func verdict(rules []filterRule, t *winacl.Token, m winacl.Mapping, r winacl.Reading) (blocked bool) {
	best := -1
	for _, f := range rules {
		if int(f.weight) > best && winacl.Check(f.who, t, matchFilter, m, r) {
			best, blocked = int(f.weight), f.block
		}
	}
	return blocked
}

// TestFiltersAreForTheSandboxAlone: whichever way the filter engine reads restricting
// identifiers and its own right, our token is blocked, and nobody else's is.
func TestFiltersAreForTheSandboxAlone(t *testing.T) {
	user, other := winacl.NewSID(5, 21, 1, 1, 1, 1001), winacl.NewSID(5, 21, 1, 1, 1, 1002)
	logon := winacl.NewSID(5, 5, 0, 7)
	plain := TokenWish{User: user, Logon: logon, Caps: []winacl.SID{capability(1), capability(2)}}
	off := plain.Offline()
	if len(plain.DenyOnly) != 0 {
		t.Error("the plain wish was changed")
	}
	rules := filterRules(off)
	outside := func(u winacl.SID, groups ...winacl.SID) *winacl.Token {
		tok := &winacl.Token{User: u}
		for _, g := range append([]winacl.SID{winacl.Everyone, winacl.Authenticated}, groups...) {
			tok.Groups = append(tok.Groups, winacl.Group{SID: g})
		}
		return tok
	}
	fully := off.Model(organization, winacl.Admins)
	fully.WriteRestricted = false // the second check for everything
	foreign := plain
	foreign.Caps = []winacl.SID{capability(3)}
	unrestricted := off
	unrestricted.Restriction = Unrestricted
	for name, c := range map[string]struct {
		tok     *winacl.Token
		blocked bool
	}{
		"the run":                          {off.Model(organization, winacl.Admins, winacl.Users), true},
		"the run, asked twice":             {fully, true},
		"the run without WRITE_RESTRICTED": {unrestricted.Model(organization), true},
		"a run with network":               {plain.Model(organization), false},
		"a run with network elsewhere":     {foreign.Model(organization), false},
		"the user":                         {outside(user, organization, winacl.Admins), false},
		"another user":                     {outside(other, organization), false},
		"another user, no organization":    {outside(other), false},
		"a service":                        {outside(winacl.System, winacl.Admins), false},
	} {
		for _, m := range []winacl.Mapping{winacl.File, {Read: 0x20000, Write: 1, Execute: 0x20000, All: 0xF0001}, {Read: 1, Write: 1, Execute: 1, All: 1}} {
			for _, r := range winacl.Readings() {
				if got := verdict(rules, c.tok, m, r); got != c.blocked {
					t.Errorf("%s (%+v, reading %v): blocked %v", name, m, r, got)
				}
			}
		}
	}
}

// TestTokenThatKeepsAGroupIsRefused: the read-back looks at it.
func TestTokenThatKeepsAGroupIsRefused(t *testing.T) {
	w := TokenWish{Restriction: Unrestricted}.Offline()
	if err := w.Verify(TokenFacts{}); err != nil {
		t.Errorf("control: %v", err)
	}
	if err := w.Verify(TokenFacts{Counting: []winacl.SID{organization}}); err == nil || !strings.Contains(err.Error(), "S-1-5-15") {
		t.Errorf("%v", err)
	}
}

// TestEveryReportSaysWhatOffIsWorth: never more than advisory, with the reason.
func TestEveryReportSaysWhatOffIsWorth(t *testing.T) {
	for _, c := range []struct {
		n       Network
		filters string
		level   report.Level
		why     string
	}{
		{NetworkOn, "", report.Enforced, ""},
		{NetworkOff, "", report.Advisory, "not seen on a real Windows"},
		{NetworkOff, "the helper does not run as an administrator", report.Advisory, "administrator"},
	} {
		var o Outcome
		o.rowOfNetwork(Request{Network: c.n}, c.filters)
		if r := o.Rows[0]; len(o.Rows) != 1 || r.Requirement != "NET-01" || r.Level != c.level || !strings.Contains(r.Why, c.why) {
			t.Errorf("%+v", o.Rows)
		}
	}
}
