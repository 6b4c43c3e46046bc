package conformance

import (
	"slices"
	"strings"
)

// What lists in a case may hold.
var (
	knownPlatforms = []string{"linux", "darwin", "windows"}
	knownBackends  = []string{"linux-native", "linux-bwrap", "macos-seatbelt", "windows-sandbox", "docker", "none", "policy"}
	knownModes     = []string{"strict", "compat", "permissive"}
	knownWith      = []string{"socket", "abstract", "tcp", "process", "descriptor"}
	knownDrivers   = []string{"sessions", "runs", "leak", "soak"}
)

// check looks at a case as a whole.
func (p *parsing) check() error {
	c := p.c
	p.line = 1
	switch {
	case !caseID(c.ID):
		return p.fail("id", "%q is no id such as LX-WRITE-01", c.ID)
	case c.Title == "":
		return p.fail("title", "it is missing")
	case !p.seen["header severity"]:
		return p.fail("severity", "it is missing")
	case c.Why == "":
		return p.fail("why", "it is missing: say why the case matters")
	case len(c.Rows) == 0:
		return p.fail("rows", "it is missing: name the requirements")
	case len(c.Platforms) == 0:
		return p.fail("platforms", "it is missing")
	case c.Command == "" && c.Skip == "" && c.Driver == "":
		return p.fail("command", "the section is missing")
	case c.Want == Denied && c.Twin == "" && c.Skip == "" && c.Driver == "":
		return p.fail("twin", "the section is missing: a sandbox in which nothing works denies everything")
	case c.Network != "" && c.Network != "off" && c.Network != "on":
		return p.fail("network", "%q is neither off nor on", c.Network)
	case c.Shown != "" && (c.Shown != "requires" || c.Requires == "" || c.Want != Denied):
		return p.fail("shown", "the only value is requires, for a deny case with that section")
	case c.Driver != "" && !slices.Contains(knownDrivers, c.Driver):
		return p.fail("driver", "%q is none of %s", c.Driver, strings.Join(knownDrivers, ", "))
	}
	return p.checkLists()
}

func (p *parsing) checkLists() error {
	c := p.c
	as := []string{}
	for _, a := range c.As {
		as = append(as, string(a))
	}
	for _, l := range []struct {
		key         string
		have, known []string
	}{{"platforms", c.Platforms, knownPlatforms}, {"backends", c.Backends, knownBackends}, {"modes", c.Modes, knownModes},
		{"with", c.With, knownWith}, {"as", as, []string{"root", "user"}}} {
		for _, w := range l.have {
			if !slices.Contains(l.known, w) {
				return p.fail(l.key, "%q is none of %s", w, strings.Join(l.known, ", "))
			}
		}
	}
	for _, r := range c.Rows {
		if !rowID(r) {
			return p.fail("rows", "%q is no requirement such as FS-01", r)
		}
	}
	for _, n := range c.Needs {
		if !oneName(n) {
			return p.fail("needs", "%q is no name of a program", n)
		}
	}
	for _, l := range c.Limits {
		if l.Backend != "*" && !slices.Contains(knownBackends, l.Backend) {
			return p.fail("limit", "%q is no backend", l.Backend)
		}
	}
	return nil
}
