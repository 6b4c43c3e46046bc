package metrics

import (
	"strconv"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/event"
)

// Counts is what the log has told since counting began.
type Counts struct {
	Version int            `json:"version"`
	At      event.Position `json:"at"` // how far the log is counted

	Degradations uint64            `json:"degradations"`
	Recoveries   uint64            `json:"recoveries"`
	Degraded     bool              `json:"degraded"` // since the last degradation no sandbox came back
	Permissive   uint64            `json:"permissive"`
	Violations   uint64            `json:"violations"`
	Certain      uint64            `json:"denials"`
	Guessed      uint64            `json:"denialsGuessed"`
	Changes      uint64            `json:"policyChanges"`
	Gaps         uint64            `json:"gaps"`
	Started      map[string]uint64 `json:"started"` // by labels
	Ended        map[string]uint64 `json:"ended"`   // by labels
	Failed       map[string]uint64 `json:"failed"`  // by code
	Durations    histogram         `json:"durations"`
	Open         map[string]int64  `json:"open"` // runs that have started and not ended, with their time
}

const version = 1

// mostLabels bounds the series of one family, and mostOpen the runs that are remembered.
const (
	mostLabels = 200
	mostOpen   = 10000
)

// fresh counts nothing yet.
func fresh() *Counts {
	return &Counts{Version: version, Started: map[string]uint64{}, Ended: map[string]uint64{}, Failed: map[string]uint64{},
		Durations: newHistogram(), Open: map[string]int64{}}
}

// Add counts one event.
func (c *Counts) Add(e event.Event) {
	where := labels("backend", e.Backend, "mode", e.Mode)
	switch e.Name {
	case event.Unavailable:
		c.Degradations++
		c.Degraded = true
	case event.Recovered:
		c.Recoveries++
		c.Degraded = false
	case event.PermissiveUsed:
		c.Permissive++
	case event.PolicyViolation:
		c.Violations++
	case event.PolicyChanged:
		c.Changes++
	case event.ExecuteStart:
		bump(c.Started, where)
		c.open(e.Run, e.Time)
	case event.ExecuteComplete:
		bump(c.Ended, where+","+labels("cause", e.Fields["cause"]))
		c.completed(e)
	case event.ExecuteError:
		bump(c.Failed, labels("code", codeOf(e.Fields["code"])))
		delete(c.Open, e.Run)
	}
}

func (c *Counts) completed(e event.Event) {
	delete(c.Open, e.Run)
	c.Certain += number(e.Fields["denials"])
	c.Guessed += number(e.Fields["denials_guessed"])
	c.Durations.observe(time.Duration(number(e.Fields["duration_ms"])) * time.Millisecond)
}

// open remembers a run; when there are too many, the oldest is forgotten.
func (c *Counts) open(run string, at time.Time) {
	if len(c.Open) >= mostOpen {
		oldest := run
		for r, t := range c.Open {
			if o, ok := c.Open[oldest]; !ok || t < o {
				oldest = r
			}
		}
		delete(c.Open, oldest)
	}
	c.Open[run] = at.Unix()
}

// bump counts in a series; what comes after too many series is counted together.
func bump(series map[string]uint64, key string) {
	if _, there := series[key]; !there && len(series) >= mostLabels {
		key = labels("other", "true")
	}
	series[key]++
}

// codeOf is a code of an error that this version knows, else "other": a label is not
// made of whatever a file says.
func codeOf(code string) string {
	for _, c := range fault.Codes() {
		if code == string(c) {
			return code
		}
	}
	return "other"
}

func number(text string) uint64 {
	n, _ := strconv.ParseUint(text, 10, 63) // absent: none
	return n
}
