package metrics

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// bounds of the buckets of durations, in seconds.
var bounds = []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120, 600, 3600}

// histogram counts durations; Buckets[i] are those up to bounds[i], the last one all.
type histogram struct {
	Buckets []uint64 `json:"buckets"`
	Sum     float64  `json:"sum"` // seconds
}

func newHistogram() histogram { return histogram{Buckets: make([]uint64, len(bounds)+1)} }

func (h *histogram) observe(d time.Duration) {
	h.Sum += d.Seconds()
	for i := range h.Buckets {
		if i == len(bounds) || d.Seconds() <= bounds[i] {
			h.Buckets[i]++
		}
	}
}

// Text writes the counts in Prometheus' text form, version 0.0.4
// (prometheus.io/docs/instrumenting/exposition_formats). Every counter that an alert asks
// about is there from the beginning, with 0: an increase from nothing is no increase.
func (c *Counts) Text(now time.Time) string {
	var b strings.Builder
	single := func(name, kind, help string, v float64) { family(&b, name, kind, help, map[string]float64{"": v}) }
	single("qsandbox_degrade_to_none_total", "counter", "Runs without the sandbox that they should have had (degrade_to_none_count). The reasons: qsandbox events --type sandbox:unavailable.", float64(c.Degradations))
	single("qsandbox_degraded", "gauge", "1 while no run has had its sandbox again since one went without.", flag(c.Degraded))
	single("qsandbox_recovered_total", "counter", "Times that a run had its sandbox again after that.", float64(c.Recoveries))
	single("qsandbox_permissive_runs_total", "counter", "Runs in mode permissive, which isolates nothing.", float64(c.Permissive))
	single("qsandbox_policy_violations_total", "counter", "Protected names that a command made or changed, or was refused (policy_violation_count).", float64(c.Violations))
	family(&b, "qsandbox_denials_total", "counter", "Operations that the sandbox refused, for certain or by a guess from messages.",
		map[string]float64{labels("certain", "yes"): float64(c.Certain), labels("certain", "no"): float64(c.Guessed)})
	single("qsandbox_policy_changes_total", "counter", "Changed fields of the stored policy.", float64(c.Changes))
	family(&b, "qsandbox_sessions_started_total", "counter", "Commands that were started.", floats(c.Started))
	family(&b, "qsandbox_sessions_ended_total", "counter", "Commands that have ended, by what ended them.", floats(c.Ended))
	family(&b, "qsandbox_session_errors_total", "counter", "Runs that failed by an error of the sandbox or of the input.", c.errors())
	c.durations(&b)
	single("qsandbox_sessions_open", "gauge", "Runs that have started and not ended: they are running, or their launcher was killed.", float64(len(c.Open)))
	single("qsandbox_session_open_oldest_timestamp_seconds", "gauge", "When the oldest of them started, 0 for none.", float64(c.oldest()))
	single("qsandbox_audit_gaps_total", "counter", "Times that the audit log had been set aside too often to be counted whole.", float64(c.Gaps))
	single("qsandbox_metrics_timestamp_seconds", "gauge", "When these metrics were written.", float64(now.Unix()))
	return b.String()
}

func (c *Counts) errors() map[string]float64 {
	out := floats(c.Failed)
	for _, code := range fault.Codes() {
		out[labels("code", string(code))] += 0
	}
	return out
}

func (c *Counts) durations(b *strings.Builder) {
	const name = "qsandbox_session_duration_seconds"
	fmt.Fprintf(b, "# HELP %s How long commands took.\n# TYPE %s histogram\n", name, name)
	for i, n := range c.Durations.Buckets {
		le := "+Inf"
		if i < len(bounds) {
			le = format(bounds[i])
		}
		fmt.Fprintf(b, "%s_bucket{%s} %d\n", name, labels("le", le), n)
	}
	fmt.Fprintf(b, "%s_sum %s\n%s_count %d\n", name, format(c.Durations.Sum), name, c.Durations.Buckets[len(bounds)])
}

func (c *Counts) oldest() int64 {
	if len(c.Open) == 0 {
		return 0
	}
	return slices.Min(slices.Collect(maps.Values(c.Open)))
}

// family writes one family; the key of a series is its labels.
func family(b *strings.Builder, name, kind, help string, series map[string]float64) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	for _, key := range slices.Sorted(maps.Keys(series)) {
		at := name
		if key != "" {
			at += "{" + key + "}"
		}
		b.WriteString(at + " " + format(series[key]) + "\n")
	}
}

func floats(in map[string]uint64) map[string]float64 {
	out := make(map[string]float64, len(in))
	for k, n := range in {
		out[k] = float64(n)
	}
	return out
}

func flag(v bool) float64 {
	if v {
		return 1
	}
	return 0
}

func format(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// labels writes pairs of name and value.
func labels(pairs ...string) string {
	var out []string
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, pairs[i]+`="`+escape(pairs[i+1])+`"`)
	}
	return strings.Join(out, ",")
}

// escape makes a label of what a log says: three characters are special, others that are
// not printable ASCII have no business here.
func escape(v string) string {
	clean := func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}
	if len(v) > 60 {
		v = v[:60]
	}
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(strings.Map(clean, v))
}
