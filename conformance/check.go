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
	knownDrivers   = []string{driveSessions, driveRuns, driveLeak, driveSoakSession, driveSoakRuns, ownSandbox, ownHidden, ownClosed, ownOpen}
)

// Ways to show that an attempt works without a sandbox, other than in a cell.
const (
	byRequires = "requires" // that section makes the very attempt outside; it only looks
	byDecoys   = "decoys"   // it touches nothing but the place's decoys: on systems without cells it is made on them
)

// byEffect says that a deny case is judged by what is to be seen outside.
const byEffect = "effect"

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
	case c.Shown != "" && c.Shown != byRequires && c.Shown != byDecoys || c.Shown != "" && c.Want != Denied:
		return p.fail("shown", "the values are requires and decoys, for a deny case")
	case c.Shown == byRequires && c.Requires == "":
		return p.fail("shown", "the section requires is missing")
	case c.Shown == byDecoys && slices.Contains(c.Platforms, "linux"):
		return p.fail("shown", "decoys is for systems on which no cell can be made")
	case len(c.Limits) > 0 && c.Want != Denied:
		return p.fail("limit", "only what should be denied can be a known limit")
	case c.Available != "" && c.Want != Denied:
		return p.fail("available", "it is for the control of a deny case")
	case c.Judged != "" && (c.Judged != byEffect || c.Effect == "" || c.Want != Denied):
		return p.fail("judged", "the only value is effect, for a deny case with that section")
	case c.Judges != "" && c.Judges != "qsandbox":
		return p.fail("judges", "the only value is qsandbox")
	case c.Driver != "" && (c.Want != Works || c.Command+c.Twin+c.Policy+c.Setup+c.Requires+c.Control+c.Effect+c.After+c.Cleanup+c.Stdin != ""):
		return p.fail("driver", "a case with a driver expects works and has no sections")
	case (c.Driver == driveSessions || c.Driver == driveRuns || c.Driver == driveLeak) && c.Count < 2:
		return p.fail("count", "the driver %s wants at least 2", c.Driver)
	case c.own() && (len(c.Backends) != 1 || c.Backends[0] != "policy" || len(c.Modes) > 0):
		return p.fail("driver", "the account's own policy says backend and mode: write backends: policy, and no modes")
	case c.Full > 0 && c.Full < c.Count:
		return p.fail("full", "it is less than count")
	case c.Driver != "" && !slices.Contains(knownDrivers, c.Driver):
		return p.fail("driver", "%q is none of %s", c.Driver, strings.Join(knownDrivers, ", "))
	}
	if err := p.checkOnHost(); err != nil {
		return err
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
