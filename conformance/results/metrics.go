package results

import (
	"cmp"
	"slices"
)

// Summary counts records by status.
type Summary struct {
	Total      int `json:"total"`
	Pass       int `json:"pass"`
	Fail       int `json:"fail"`
	Skip       int `json:"skip"`
	Invalid    int `json:"invalid"`
	KnownLimit int `json:"known_limit"`
}

// add counts one record.
func (s *Summary) add(st Status) {
	s.Total++
	switch st {
	case Pass:
		s.Pass++
	case Fail:
		s.Fail++
	case Skip:
		s.Skip++
	case Invalid:
		s.Invalid++
	case KnownLimit:
		s.KnownLimit++
	}
}

// Rate is the share of passes among what was tried: passes, failures and invalid
// cases. Skips and known limits are counted beside it, never in it.
type Rate struct {
	Platform string   `json:"platform"`
	Backend  string   `json:"backend"`
	Mode     string   `json:"mode"`
	Tried    int      `json:"tried"`
	Passed   int      `json:"passed"`
	Rate     *float64 `json:"pass_rate"` // null when nothing was tried
}

// Signals counts what was left over, by kind.
type Signals struct {
	Handle   int `json:"handle"`
	Process  int `json:"process"`
	Tempfile int `json:"tempfile"`
	ACL      int `json:"acl"`
}

// Metrics are the figures of CNF-04.
type Metrics struct {
	PassRate        []Rate  `json:"pass_rate"`
	DegradeToNone   int     `json:"degrade_to_none_count"`
	PolicyViolation int     `json:"policy_violation_count"`
	EnvLeak         int     `json:"env_leak_count"`
	Resource        Signals `json:"resource_leak_signals"`
}

// Settle sorts a report and computes summary and metrics from its records.
func (r *Report) Settle() {
	r.Sort()
	r.Summary, r.Metrics = Summary{}, Metrics{PassRate: []Rate{}}
	rates := map[key]*Rate{}
	for _, rec := range r.Records {
		r.Summary.add(rec.Status)
		k := key{rec.Platform, rec.Backend, rec.Mode, ""}
		if rates[k] == nil {
			rates[k] = &Rate{Platform: rec.Platform, Backend: rec.Backend, Mode: rec.Mode}
		}
		rates[k].add(rec.Status)
	}
	for _, rate := range rates {
		if rate.Tried > 0 {
			v := float64(rate.Passed) / float64(rate.Tried)
			rate.Rate = &v
		}
		r.Metrics.PassRate = append(r.Metrics.PassRate, *rate)
	}
	slices.SortFunc(r.Metrics.PassRate, func(a, b Rate) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Mode, b.Mode))
	})
	r.Metrics.DegradeToNone = len(r.Degradations)
	for _, e := range r.Evidence {
		for _, run := range e.Runs {
			r.Metrics.count(run)
			for _, s := range run.Samples {
				r.Metrics.countGrowth(s)
			}
		}
	}
}

func (r *Rate) add(st Status) {
	switch st {
	case Pass:
		r.Passed++
		r.Tried++
	case Fail, Invalid:
		r.Tried++
	}
}

// count adds what one run let out or left.
func (m *Metrics) count(run Run) {
	switch run.Leak {
	case LeakEnv:
		m.EnvLeak++
		m.PolicyViolation++
	case LeakViolation:
		m.PolicyViolation++
	case LeakHandle:
		m.Resource.Handle++
	case LeakProcess:
		m.Resource.Process++
	case LeakFile:
		m.Resource.Tempfile++
	case LeakACL:
		m.Resource.ACL++
	}
}

func (m *Metrics) countGrowth(s SampleSeries) {
	if !s.Growing {
		return
	}
	switch s.Name {
	case "processes":
		m.Resource.Process++
	case "tempfiles", "mounts", "cgroups":
		m.Resource.Tempfile++
	default:
		m.Resource.Handle++
	}
}
