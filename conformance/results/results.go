// Package results is the form of sandbox-report.json: records, metrics, gates, and
// joining and comparing reports of many machines. It runs nothing.
package results

import (
	"cmp"
	"slices"
	"time"
)

// Version is the version of the JSON form. docs/schema/sandbox-report.schema.json
// describes it.
const Version = 1

// Kind marks a file as a report of this kind.
const Kind = "sandbox-report"

// Status is what came of one case.
type Status string

// The statuses. Skip and invalid are never a pass (CNF-03).
const (
	Pass       Status = "pass"
	Fail       Status = "fail"
	Skip       Status = "skip"        // it could not be tried here; notes say why
	Invalid    Status = "invalid"     // the control failed: the case shows nothing
	KnownLimit Status = "known-limit" // it fails, and the case says why that is known
)

// Statuses lists them, worst first.
func Statuses() []Status { return []Status{Fail, Invalid, KnownLimit, Skip, Pass} }

// Worse gives the worse of two.
func Worse(a, b Status) Status {
	list := append([]Status{""}, Statuses()...)
	slices.Reverse(list)
	if slices.Index(list, a) >= slices.Index(list, b) && a != "" || b == "" {
		return a
	}
	return b
}

// Report is one file. Records are as CNF-04 has them; what else is known of each
// is in Evidence.
type Report struct {
	Kind         string        `json:"kind"`
	Version      int           `json:"version"`
	Tool         string        `json:"tool"` // "qsandbox", or the command that was judged
	ToolVersion  string        `json:"tool_version"`
	Started      time.Time     `json:"started"`
	DurationMS   int64         `json:"duration_ms"`
	Matrix       Matrix        `json:"matrix,omitempty"`      // quick: only a part was asked for
	Interrupted  bool          `json:"interrupted,omitempty"` // a signal ended verify before all was tried
	Machines     []Machine     `json:"machines"`
	Cases        []CaseInfo    `json:"cases"`
	Records      []Record      `json:"records"`
	Evidence     []Evidence    `json:"evidence"`
	Degradations []Degradation `json:"degradations"`
	Permissive   []Permissive  `json:"permissive_runs"`
	Required     []string      `json:"required_backends"` // those of which something must have been tried
	Declared     []string      `json:"declared_limits"`   // e.g. that Windows can only advise against the network
	Summary      Summary       `json:"summary"`
	Metrics      Metrics       `json:"metrics"`
}

// Machine is where records were made.
type Machine struct {
	Name     string    `json:"name"` // of no meaning beyond this file
	Run      string    `json:"run"`  // of one call of verify; no two have the same
	Platform string    `json:"platform"`
	Kernel   string    `json:"kernel"`
	User     string    `json:"user"`
	CPUs     int       `json:"cpus"`
	Backends []Backend `json:"backends"`
	Facts    []Fact    `json:"facts"`
}

// Backend is what a probe said.
type Backend struct {
	Name    string `json:"name"`
	Answer  string `json:"answer"`
	Version string `json:"version,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Fact is one thing of the system that backends build on.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// CaseInfo says what a case id means.
type CaseInfo struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Severity string   `json:"severity"`
	Rows     []string `json:"rows"`
	Expect   string   `json:"expect"`
	Why      string   `json:"why"`
	Source   string   `json:"source,omitempty"`
	Assumes  string   `json:"assumes,omitempty"`
}

// Record is one case on one backend in one mode.
type Record struct {
	Platform   string `json:"platform"`
	Backend    string `json:"backend"`
	Mode       string `json:"mode"`
	CaseID     string `json:"case_id"`
	Status     Status `json:"status"`
	DurationMS int64  `json:"duration_ms"`
	ExitCode   *int   `json:"exit_code"` // null when nothing ended
	Notes      string `json:"notes"`
}

// Evidence is what was seen for one record.
type Evidence struct {
	Machine  string `json:"machine"`
	Platform string `json:"platform"`
	Backend  string `json:"backend"`
	Mode     string `json:"mode"`
	CaseID   string `json:"case_id"`
	Runs     []Run  `json:"runs"`
}

// Run is one identity's attempt.
type Run struct {
	As         string  `json:"as"`
	Status     Status  `json:"status"`
	Notes      string  `json:"notes,omitempty"`
	DurationMS int64   `json:"duration_ms"`
	ExitCode   *int    `json:"exit_code"`
	Resolved   string  `json:"resolved_backend,omitempty"`
	Degraded   bool    `json:"degraded,omitempty"` // it was run without the sandbox that it should have had
	Reason     string  `json:"degraded_reason,omitempty"`
	Leak       Leak    `json:"leak,omitempty"`
	Steps      []Step  `json:"steps"`
	Events     []Event `json:"events,omitempty"`

	Samples []SampleSeries `json:"samples,omitempty"` // of a long run
}

// Leak says which kind of thing got out, or stayed.
type Leak string

// The kinds that are counted.
const (
	LeakNone      Leak = ""
	LeakEnv       Leak = "env"
	LeakViolation Leak = "violation"
	LeakHandle    Leak = "handle"
	LeakProcess   Leak = "process"
	LeakFile      Leak = "tempfile"
	LeakACL       Leak = "acl"
)

// Leaks lists them.
func Leaks() []Leak {
	return []Leak{LeakNone, LeakEnv, LeakViolation, LeakHandle, LeakProcess, LeakFile, LeakACL}
}

// Step is one script that was run, with what it said.
type Step struct {
	Name   string `json:"name"` // setup, control, effect, inside, after …
	Where  string `json:"where"`
	Script string `json:"script"`
	Exit   int    `json:"exit"`
	Output string `json:"output,omitempty"`
}

// Event is one event of a run that the report needs.
type Event struct {
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"`
}

// Degradation is a run that had to do without a sandbox.
type Degradation struct {
	CaseID  string `json:"case_id"`
	Backend string `json:"backend"`
	Mode    string `json:"mode"`
	Reason  string `json:"reason"`
	Event   bool   `json:"event"` // sandbox:unavailable was emitted
}

// Permissive is a run in permissive mode.
type Permissive struct {
	CaseID  string `json:"case_id"`
	Backend string `json:"backend"`
	Warned  bool   `json:"warned"` // permissive:used was emitted
}

// SampleSeries is what a long run measured, and its fit.
type SampleSeries struct {
	Name     string     `json:"name"` // memory, descriptors, processes, tempfiles, mounts, cgroups
	Unit     string     `json:"unit"`
	Seconds  []float64  `json:"seconds"`
	Values   []float64  `json:"values"`
	PerHour  float64    `json:"slope_per_hour"`
	Interval [2]float64 `json:"slope_interval"` // 95 %
	Percent  float64    `json:"slope_percent_per_hour"`
	Growing  bool       `json:"growing"`
	Note     string     `json:"note,omitempty"`
}

// Sort brings everything into an order that does not depend on who was first.
func (r *Report) Sort() {
	slices.SortStableFunc(r.Records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), compareKey(a.key(), b.key()))
	})
	slices.SortStableFunc(r.Evidence, func(a, b Evidence) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.CaseID, b.CaseID), cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Mode, b.Mode))
	})
	slices.SortFunc(r.Cases, func(a, b CaseInfo) int { return cmp.Compare(a.ID, b.ID) })
}

// key names what a record is about.
type key struct{ platform, backend, mode, caseID string }

func (r Record) key() key { return key{r.Platform, r.Backend, r.Mode, r.CaseID} }

func compareKey(a, b key) int {
	return cmp.Or(cmp.Compare(a.caseID, b.caseID), cmp.Compare(a.backend, b.backend), cmp.Compare(a.mode, b.mode), cmp.Compare(a.platform, b.platform))
}
