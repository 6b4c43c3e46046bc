package conformance

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// record sums an item's runs up. A run that could not be tried does not count
// beside one that was.
func (v *verifying) record(it *item) results.Record {
	r := results.Record{Platform: v.diagnosis.Platform, Backend: it.backend, Mode: it.mode, CaseID: it.c.ID, Status: results.Skip, Notes: it.skip}
	if it.skip != "" {
		return r
	}
	if len(it.runs) == 0 {
		r.Notes = "is for root alone, and was not run as root"
		if !it.c.runsAs(AsRoot) {
			r.Notes = "is for an ordinary user alone, and was not run as one"
		}
		return r
	}
	tried := slices.DeleteFunc(slices.Clone(it.runs), func(x results.Run) bool { return x.Status == results.Skip })
	if len(tried) == 0 {
		tried = it.runs
	}
	r.Status = ""
	var notes []string
	for _, x := range it.runs {
		if x.Notes != "" {
			notes = append(notes, "as "+x.As+": "+x.Notes)
		}
		r.DurationMS += x.DurationMS
	}
	for _, x := range tried {
		if w := results.Worse(r.Status, x.Status); w != r.Status || r.ExitCode == nil {
			r.Status, r.ExitCode = w, x.ExitCode
		}
	}
	r.Notes = strings.Join(notes, "; ")
	return r
}

// report puts everything together.
func (v *verifying) report(interrupted bool) *results.Report {
	o := v.o
	r := &results.Report{
		Kind: results.Kind, Version: results.Version, Tool: "qsandbox", ToolVersion: o.Version, Started: v.began.UTC(),
		DurationMS: time.Since(v.began).Milliseconds(), Matrix: o.Matrix, Interrupted: interrupted, Machines: []results.Machine{v.machine()}, Cases: []results.CaseInfo{},
		Records: []results.Record{}, Evidence: []results.Evidence{}, Degradations: []results.Degradation{}, Permissive: []results.Permissive{}, Declared: []string{}, Required: append([]string{}, o.Require...),
	}
	if v.words != nil {
		r.Tool = o.Template
	}
	seen := map[string]bool{}
	for _, it := range v.items {
		if !seen[it.c.ID] {
			seen[it.c.ID] = true
			r.Cases = append(r.Cases, it.c.info())
		}
		rec := v.record(it)
		if interrupted && it.skip == "" && len(it.runs) == 0 {
			rec.Notes = "verify was interrupted before it was tried"
		}
		r.Records = append(r.Records, rec)
		if len(it.runs) > 0 {
			slices.SortFunc(it.runs, func(a, b results.Run) int { return strings.Compare(a.As, b.As) })
			r.Evidence = append(r.Evidence, results.Evidence{Machine: "machine", Platform: v.diagnosis.Platform, Backend: it.backend, Mode: it.mode, CaseID: it.c.ID, Runs: it.runs})
		}
		v.notable(r, it)
	}
	if v.h.GOOS == "windows" {
		r.Declared = append(r.Declared, results.WindowsLimit)
	}
	r.Settle()
	return r
}

// notable notes degradations and permissive runs.
func (v *verifying) notable(r *results.Report, it *item) {
	for _, run := range it.runs {
		had := func(name string) (string, bool) {
			for _, e := range run.Events {
				if e.Name == name {
					return e.Reason, true
				}
			}
			return "", false
		}
		if reason, ok := had("sandbox:unavailable"); ok || run.Degraded {
			r.Degradations = append(r.Degradations, results.Degradation{CaseID: it.c.ID, Backend: it.backend, Mode: it.mode, Reason: reason, Event: ok})
		}
		if it.mode == "permissive" && run.ExitCode != nil && v.words == nil {
			_, warned := had("permissive:used")
			r.Permissive = append(r.Permissive, results.Permissive{CaseID: it.c.ID, Backend: it.backend, Warned: warned})
		}
	}
}

func (v *verifying) machine() results.Machine {
	m := results.Machine{Name: "machine", Run: fmt.Sprintf("%x-%08x", v.began.UnixNano(), rand.Uint32()), Platform: v.diagnosis.Platform, Kernel: v.h.Kernel().Release, User: v.h.User.Name, CPUs: runtime.NumCPU(), Backends: []results.Backend{}, Facts: []results.Fact{}}
	for _, b := range v.diagnosis.Backends {
		m.Backends = append(m.Backends, results.Backend{Name: b.Name, Answer: string(b.Answer), Version: b.ProgramVer, Reason: b.Reason})
	}
	for _, f := range v.diagnosis.Features {
		value := string(f.Answer)
		if f.Value != "" {
			value += " (" + f.Value + ")"
		}
		m.Facts = append(m.Facts, results.Fact{Name: f.Name, Value: value})
	}
	return m
}

// info is what a report says of a case.
func (c *Case) info() results.CaseInfo {
	expect := map[Want]string{Denied: "denied", Works: "works", Ends: fmt.Sprintf("exit %d", c.Exit), Refused: "refused " + c.Code}[c.Want]
	if c.Signal != "" {
		expect = "signal " + c.Signal
	}
	return results.CaseInfo{ID: c.ID, Title: c.Title, Severity: c.Severity.String(), Rows: c.Rows, Expect: expect, Why: c.Why, Source: c.Source, Assumes: c.Assumes}
}
