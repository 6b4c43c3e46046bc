package results

import (
	"fmt"
	"slices"
	"strings"
)

// Gate is one condition that a report must meet (CNF-05).
type Gate struct {
	Name   string `json:"name"`
	Exit   int    `json:"exit"` // of "report gate" when this one alone fails
	Holds  bool   `json:"holds"`
	Detail string `json:"detail"`
}

// Exit codes of "report gate". Several failures together are 1, a report that
// cannot be read is 2.
const (
	ExitCritical   = 11
	ExitMajor      = 12
	ExitEnvLeak    = 13
	ExitDegraded   = 14
	ExitPermissive = 15
	ExitWindows    = 16
	ExitInvalid    = 17
	ExitEmpty      = 18
	ExitRequired   = 19
)

// WindowsLimit is the limit that a report with Windows results must declare (§6-4
// of the test plan): the network can only be advised against there.
const WindowsLimit = "windows: network off is advisory (environment and stubs), not kept by the kernel"

// majorShare is the share of major cases that must pass.
const majorShare = 0.99

// Gates judges a report.
func (r *Report) Gates() []Gate {
	return []Gate{r.tried(), r.required(), r.valid(), r.share("critical", 1, ExitCritical), r.share("major", majorShare, ExitMajor),
		r.envLeaks(), r.degraded(), r.permissive(), r.windows(), r.finished()}
}

// GateExit gives 0, the code of the one gate that fails, or 1 for several.
func GateExit(gates []Gate) int {
	code := 0
	for _, g := range gates {
		switch {
		case g.Holds:
		case code == 0:
			code = g.Exit
		default:
			return 1
		}
	}
	return code
}

func (r *Report) tried() Gate {
	n := 0
	for _, rec := range r.Records {
		if rec.Status == Pass || rec.Status == Fail {
			n++
		}
	}
	return Gate{"something was tried", ExitEmpty, n > 0, fmt.Sprintf("%d records are a pass or a failure", n)}
}

// required wants something to be tried on each backend that was asked for.
func (r *Report) required() Gate {
	var bad []string
	for _, b := range r.Required {
		if !slices.ContainsFunc(r.Records, func(rec Record) bool { return rec.Backend == b && (rec.Status == Pass || rec.Status == Fail) }) {
			bad = append(bad, b)
		}
	}
	g := Gate{"required backends were tried", ExitRequired, len(bad) == 0, list(slices.Clone(r.Required), "none is required")}
	if !g.Holds {
		g.Detail = "nothing was tried on " + list(bad, "")
	}
	return g
}

func (r *Report) valid() Gate {
	var bad []string
	for _, rec := range r.Records {
		if rec.Status == Invalid {
			bad = append(bad, rec.CaseID)
		}
	}
	return Gate{"no case is invalid", ExitInvalid, len(bad) == 0, list(bad, "every control worked")}
}

// share wants a part of the cases of a severity to pass.
func (r *Report) share(severity string, least float64, exit int) Gate {
	of := map[string]string{}
	for _, c := range r.Cases {
		of[c.ID] = c.Severity
	}
	tried, passed, limits, skips := 0, 0, 0, 0
	var bad []string
	for _, rec := range r.Records {
		if of[rec.CaseID] != severity {
			continue
		}
		switch rec.Status {
		case KnownLimit:
			limits++
		case Skip:
			skips++
		case Pass:
			tried, passed = tried+1, passed+1
		case Fail, Invalid:
			tried++
			bad = append(bad, rec.CaseID+" ("+rec.Backend+", "+rec.Mode+")")
		}
	}
	g := Gate{Name: fmt.Sprintf("%s cases: %g %% pass", severity, least*100), Exit: exit}
	// Of nothing every share passes: where there are cases, one must have been tried.
	g.Holds = float64(passed) >= least*float64(tried) && (tried+limits > 0 || skips == 0)
	g.Detail = fmt.Sprintf("%d of %d", passed, tried)
	switch {
	case len(bad) > 0:
		g.Detail += ": " + list(bad, "")
	case !g.Holds:
		g.Detail = fmt.Sprintf("none was tried, %d were skipped", skips)
	}
	return g
}

func (r *Report) envLeaks() Gate {
	n := r.Metrics.EnvLeak
	return Gate{"no variable leaks", ExitEnvLeak, n == 0, fmt.Sprintf("env_leak_count is %d", n)}
}

func (r *Report) degraded() Gate {
	var bad []string
	for _, d := range r.Degradations {
		if !d.Event || strings.TrimSpace(d.Reason) == "" {
			bad = append(bad, d.CaseID)
		}
	}
	return Gate{"each degradation has its event and reason", ExitDegraded, len(bad) == 0, list(bad, fmt.Sprintf("%d degradations", len(r.Degradations)))}
}

func (r *Report) permissive() Gate {
	var bad []string
	for _, p := range r.Permissive {
		if !p.Warned {
			bad = append(bad, p.CaseID)
		}
	}
	return Gate{"each permissive run has its warning", ExitPermissive, len(bad) == 0, list(bad, fmt.Sprintf("%d permissive runs", len(r.Permissive)))}
}

func (r *Report) windows() Gate {
	g := Gate{Name: "the Windows network limit is declared", Exit: ExitWindows, Holds: true, Detail: "no results of Windows"}
	for _, rec := range r.Records {
		if rec.Backend == "windows-sandbox" && (rec.Status == Pass || rec.Status == Fail || rec.Status == KnownLimit) {
			g.Holds = slices.Contains(r.Declared, WindowsLimit)
			g.Detail = "declared_limits names it"
			if !g.Holds {
				g.Detail = "declared_limits lacks: " + WindowsLimit
			}
			break
		}
	}
	return g
}

// list names a few of many.
func list(ids []string, none string) string {
	if len(ids) == 0 {
		return none
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	const most = 12
	if len(ids) > most {
		return strings.Join(ids[:most], ", ") + fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return strings.Join(ids, ", ")
}
