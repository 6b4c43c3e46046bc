package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// Merge joins the reports of many machines. A machine keeps its name, with a number
// when two have the same. A skip gives way to what another machine of the same
// platform could try. Two reports that mean different things by one case id cannot
// be joined.
func Merge(reports ...*Report) (*Report, error) {
	if len(reports) == 0 {
		return nil, fault.New(fault.UsageInvalid, "merge reports", "", "name one report or more")
	}
	out := &Report{Kind: Kind, Version: Version, Tool: reports[0].Tool, ToolVersion: reports[0].ToolVersion, Started: reports[0].Started}
	m := merging{out: out, cases: map[string]CaseInfo{}, names: map[string]bool{}, runs: map[string]bool{}}
	for _, r := range reports {
		if err := m.add(r); err != nil {
			return nil, err
		}
	}
	m.settleSkips()
	out.Settle()
	return out, nil
}

type merging struct {
	out   *Report
	cases map[string]CaseInfo
	names map[string]bool
	runs  map[string]bool
}

func (m *merging) add(r *Report) error {
	out := m.out
	if r.Tool != out.Tool {
		return fault.New(fault.UsageInvalid, "merge reports", r.Tool, "one report judges "+out.Tool+", another "+r.Tool+": merge reports of one sandbox")
	}
	if !slices.Contains(strings.Split(out.ToolVersion, ", "), r.ToolVersion) {
		out.ToolVersion += ", " + r.ToolVersion
	}
	if r.Started.Before(out.Started) {
		out.Started = r.Started
	}
	out.DurationMS = max(out.DurationMS, r.DurationMS)
	out.Interrupted = out.Interrupted || r.Interrupted
	if r.Matrix == Quick { // the whole is no more than its parts
		out.Matrix = Quick
	}
	for _, c := range r.Cases {
		have, ok := m.cases[c.ID]
		if ok && (have.Severity != c.Severity || have.Title != c.Title || have.Expect != c.Expect) {
			return fault.New(fault.UsageInvalid, "merge reports", c.ID, "the reports mean different things by this case: make them with one version")
		}
		if !ok {
			m.cases[c.ID] = c
			out.Cases = append(out.Cases, c)
		}
	}
	rename := map[string]string{}
	for _, machine := range r.Machines {
		if m.runs[machine.Run] {
			return fault.New(fault.UsageInvalid, "merge reports", machine.Name, "two of the reports hold the same run of verify, "+machine.Run+", which would count twice")
		}
		m.runs[machine.Run] = true
		name := m.free(machine.Name)
		rename[machine.Name] = name
		machine.Name = name
		out.Machines = append(out.Machines, machine)
	}
	for _, e := range r.Evidence {
		e.Machine = cmp.Or(rename[e.Machine], e.Machine)
		out.Evidence = append(out.Evidence, e)
	}
	out.Records = append(out.Records, r.Records...)
	out.Degradations = append(out.Degradations, r.Degradations...)
	out.Permissive = append(out.Permissive, r.Permissive...)
	for _, b := range r.Required {
		if !slices.Contains(out.Required, b) {
			out.Required = append(out.Required, b)
		}
	}
	for _, d := range r.Declared {
		if !slices.Contains(out.Declared, d) {
			out.Declared = append(out.Declared, d)
		}
	}
	return nil
}

// free gives a machine's name, with a number when it is taken.
func (m *merging) free(name string) string {
	got := name
	for n := 2; m.names[got]; n++ {
		got = fmt.Sprintf("%s-%d", name, n)
	}
	m.names[got] = true
	return got
}

// settleSkips drops the skips of cases that another machine has tried, and all but
// one of skips with the same reason.
func (m *merging) settleSkips() {
	tried, skipped := map[key]bool{}, map[key]bool{}
	for _, r := range m.out.Records {
		if r.Status != Skip {
			tried[r.key()] = true
		}
	}
	m.out.Records = slices.DeleteFunc(m.out.Records, func(r Record) bool {
		if r.Status != Skip {
			return false
		}
		seen := skipped[r.key()]
		skipped[r.key()] = true
		return seen || tried[r.key()]
	})
}

// Change is one difference between two reports.
type Change struct {
	Platform string `json:"platform"`
	Backend  string `json:"backend"`
	Mode     string `json:"mode"`
	CaseID   string `json:"case_id"`
	Old      Status `json:"old"` // "" when the case is new
	New      Status `json:"new"` // "" when it is gone
	Notes    string `json:"notes,omitempty"`
	Worse    bool   `json:"worse"`
}

// Diff says what changed from one report to another, what got worse first. A pass
// that became a skip, or is gone, got worse.
func Diff(old, next *Report) []Change {
	was, is := worst(old), worst(next)
	out := []Change{}
	for k, n := range is {
		if o := was[k]; o.Status != n.Status {
			out = append(out, Change{k.platform, k.backend, k.mode, k.caseID, o.Status, n.Status, n.Notes, gotWorse(o.Status, n.Status)})
		}
	}
	for k, o := range was {
		if _, ok := is[k]; !ok {
			out = append(out, Change{k.platform, k.backend, k.mode, k.caseID, o.Status, "", "", o.Status == Pass})
		}
	}
	slices.SortFunc(out, func(a, b Change) int {
		if a.Worse != b.Worse {
			if a.Worse {
				return -1
			}
			return 1
		}
		return compareKey(key{a.Platform, a.Backend, a.Mode, a.CaseID}, key{b.Platform, b.Backend, b.Mode, b.CaseID})
	})
	return out
}

func gotWorse(old, next Status) bool {
	if old == "" {
		return next == Fail || next == Invalid
	}
	return old != next && Worse(old, next) == next
}

// worst gives one record for each key: the worst, when several machines have it.
func worst(r *Report) map[key]Record {
	out := map[key]Record{}
	for _, rec := range r.Records {
		if have, ok := out[rec.key()]; !ok || have.Status != rec.Status && Worse(have.Status, rec.Status) == rec.Status {
			out[rec.key()] = rec
		}
	}
	return out
}
