package winsandbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// Restriction says whether the token asks restricting identifiers about writing. The
// zero value is the stricter one.
type Restriction uint8

// The restrictions.
const (
	WriteRestricted Restriction = iota
	Unrestricted                // no restricting identifiers: nothing keeps the command from writing what its user can
)

// TokenWish is the token that a run asks for (WIN-04): DISABLE_MAX_PRIVILEGE and
// LUA_TOKEN always, and with WRITE_RESTRICTED these restricting identifiers.
type TokenWish struct {
	User        winacl.SID
	Logon       winacl.SID
	Caps        []winacl.SID
	Restriction Restriction
	DenyOnly    []winacl.SID // groups that count for denials alone, beside Administrators
}

// Restricting lists the restricting identifiers, in order.
func (w TokenWish) Restricting() []winacl.SID {
	if w.Restriction == Unrestricted {
		return nil
	}
	return append(slices.Clone(w.Caps), w.Logon, winacl.Everyone)
}

// DefaultDACL is the list of objects that the command makes without a list of their
// own: pipes, events, shared memory, processes. Both checks must pass on them, else a child
// could not open its parent's pipe, which is why the first helper could not restrict `serve`.
//
// SECURITY: the capabilities are what the second check finds. The logon session is not in
// it, although it is among the restricting identifiers: it is in the token of every sandbox
// of this user, and each could then write into the processes of all others.
func (w TokenWish) DefaultDACL() *winacl.ACL {
	l := &winacl.ACL{}
	for _, s := range append([]winacl.SID{w.User, winacl.System}, w.Caps...) {
		if !s.IsZero() {
			l.Entries = append(l.Entries, winacl.ACE{Type: winacl.Allow, Mask: winacl.GenericAll, SID: s})
		}
	}
	return l
}

// Model gives the token as the access check sees it, for a user with these groups.
// LUA_TOKEN makes Administrators count for denials alone.
func (w TokenWish) Model(groups ...winacl.SID) *winacl.Token {
	t := &winacl.Token{User: w.User, Restricting: w.Restricting(), WriteRestricted: w.Restriction == WriteRestricted, Default: w.DefaultDACL()}
	for _, g := range append([]winacl.SID{winacl.Everyone, winacl.Authenticated, w.Logon}, groups...) {
		st := winacl.Enabled
		if g == winacl.Admins || slices.Contains(w.DenyOnly, g) {
			st = winacl.DenyOnly
		}
		t.Groups = append(t.Groups, winacl.Group{SID: g, Standing: st})
	}
	return t
}

// Token facts that were read back from Windows after the token was made.
type TokenFacts struct {
	Restricting []winacl.SID
	Restricted  bool         // IsTokenRestricted, or restricting identifiers that count for writing
	Privileges  []string     // enabled ones
	Admins      bool         // Administrators is there and counts for grants
	Counting    []winacl.SID // groups of DenyOnly that still count for grants
	CouldNot    []string     // what could not be read
	Probe       ProbeResult
}

// ProbeResult is what the system's own AccessCheck said about the new token on
// descriptors of ours. It shows on the machine itself how WRITE_RESTRICTED is read.
type ProbeResult struct {
	Done        bool
	DeniesData  bool // WRITE_DATA on something that only the user may write is refused
	DeniesMeta  bool // and so are DELETE, WRITE_DAC and WRITE_OWNER (the wide reading)
	AllowsOwn   bool // what names a capability can be written
	AllowsReads bool // what only the user may read can be read
}

// Verify compares the token with what was asked.
//
// SECURITY: Windows says "done" also where a token was not restricted (inside other
// sandboxes, under emulators). A token that is not as asked never runs anything.
func (w TokenWish) Verify(f TokenFacts) error {
	var bad []string
	add := func(on bool, format string, a ...any) {
		if on {
			bad = append(bad, fmt.Sprintf(format, a...))
		}
	}
	for _, c := range f.CouldNot {
		add(true, "%s", c)
	}
	for _, p := range f.Privileges {
		add(!strings.EqualFold(p, "SeChangeNotifyPrivilege"), "it still has %s", p)
	}
	add(f.Admins, "Administrators still counts")
	for _, s := range f.Counting {
		add(true, "the group %s still counts", s)
	}
	if w.Restriction == WriteRestricted {
		add(!f.Restricted, "Windows does not call it restricted")
		for _, s := range w.Restricting() {
			add(!slices.Contains(f.Restricting, s), "the restricting identifier %s is missing", s)
		}
		for _, s := range f.Restricting {
			add(!slices.Contains(w.Restricting(), s), "the restricting identifier %s was not asked for", s)
		}
		add(f.Probe.Done && !f.Probe.DeniesData, "the system's own check lets it write what no capability opens")
		add(f.Probe.Done && !f.Probe.AllowsOwn, "the system's own check refuses what a capability opens")
		add(f.Probe.Done && !f.Probe.AllowsReads, "the system's own check refuses reading")
	}
	if len(bad) == 0 {
		return nil
	}
	return fault.New(fault.SandboxUnavailable, "restrict the token", "",
		strings.Join(bad, "; ")+"; nothing was run. Inside another sandbox or under an emulator tokens cannot be restricted")
}
