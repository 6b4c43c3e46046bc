package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// MaxFile is the largest report that is read, in bytes.
const MaxFile = 256 << 20

// Read reads a report. One of an unknown version, of another kind, or broken in any
// way is an error that says what is wrong; nothing of it is used (CNF-06).
func Read(name string, data []byte) (*Report, error) {
	fail := func(err error) error {
		return fault.Wrap(fault.UsageInvalid, "read report", name, err).WithHint("name a sandbox-report.json that qsandbox verify or report merge wrote")
	}
	if len(data) > MaxFile {
		return nil, fail(fmt.Errorf("it has more than %d bytes", MaxFile))
	}
	misfit, err := wellFormed(data)
	if err != nil {
		return nil, fail(err)
	}
	var head struct {
		Kind    *string `json:"kind"`
		Version *int    `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fail(placed(data, 0, err))
	}
	if head.Kind == nil || *head.Kind != Kind {
		return nil, fail(fmt.Errorf("it is no report: field \"kind\" is not %q", Kind))
	}
	if head.Version == nil || *head.Version != Version {
		return nil, fail(fmt.Errorf("field \"version\" is not %d, which is all that this program knows", Version))
	}
	if misfit != nil { // after the version, which says whether the form can be known
		return nil, fail(misfit)
	}
	r := &Report{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, fail(placed(data, d.InputOffset(), err))
	}
	if err := r.check(); err != nil {
		return nil, fail(err)
	}
	// SECURITY: figures are computed from the records, not taken from the file; a file
	// whose own figures differ was changed by hand, or is cut.
	summary, metrics := r.Summary, r.Metrics
	r.Settle()
	if err := sameFigures(summary, r.Summary, "summary"); err != nil {
		return nil, fail(err)
	}
	if err := sameFigures(metrics, r.Metrics, "metrics"); err != nil {
		return nil, fail(err)
	}
	return r, nil
}

// check looks at what the types cannot say.
func (r *Report) check() error {
	known := map[string]bool{}
	if r.Matrix != "" && r.Matrix != Quick {
		return fmt.Errorf("field \"matrix\" is %q", r.Matrix)
	}
	for i, c := range r.Cases {
		if c.ID == "" || known[c.ID] {
			return fmt.Errorf("field \"cases[%d].id\" is empty or there twice", i)
		}
		if !slices.Contains([]string{"critical", "major", "minor"}, c.Severity) {
			return fmt.Errorf("field \"cases[%d].severity\" is %q", i, c.Severity)
		}
		known[c.ID] = true
	}
	for i, rec := range r.Records {
		if !slices.Contains(Statuses(), rec.Status) {
			return fmt.Errorf("field \"records[%d].status\" is %q", i, rec.Status)
		}
		if !known[rec.CaseID] {
			return fmt.Errorf("field \"records[%d].case_id\" is %q, which \"cases\" does not have", i, rec.CaseID)
		}
		if rec.Platform == "" || rec.Backend == "" || rec.Mode == "" {
			return fmt.Errorf("field \"records[%d]\" lacks platform, backend or mode", i)
		}
	}
	if len(r.Records) == 0 {
		return errors.New("it has no records")
	}
	return r.checkMachines()
}

// JSON gives the file's text. A list of nothing is [], never null.
func (r *Report) JSON() ([]byte, error) {
	r.fill()
	data, err := json.MarshalIndent(r, "", " ")
	return append(data, '\n'), err
}

// fill makes lists of nothing out of those that are nil.
func (r *Report) fill() {
	empty(&r.Machines)
	empty(&r.Cases)
	empty(&r.Records)
	empty(&r.Evidence)
	empty(&r.Degradations)
	empty(&r.Permissive)
	empty(&r.Required)
	empty(&r.Declared)
	empty(&r.Metrics.PassRate)
	for i := range r.Machines {
		empty(&r.Machines[i].Backends)
		empty(&r.Machines[i].Facts)
	}
	for i := range r.Cases {
		empty(&r.Cases[i].Rows)
	}
	for i := range r.Evidence {
		empty(&r.Evidence[i].Runs)
		for j := range r.Evidence[i].Runs {
			run := &r.Evidence[i].Runs[j]
			empty(&run.Steps)
			for k := range run.Samples {
				empty(&run.Samples[k].Seconds)
				empty(&run.Samples[k].Values)
			}
		}
	}
}

func empty[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}
