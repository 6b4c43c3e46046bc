package conformance

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// TestReportsFitTheSchema: what a real verify writes, with a denial, a degradation, a
// permissive run and a skip, and what two of them merge into.
func TestReportsFitTheSchema(t *testing.T) {
	need(t, "linux-native")
	schema, err := jsonschema.NewCompiler().Compile("../docs/schema/sandbox-report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	fits := func(r *results.Report) {
		t.Helper()
		data, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("the published schema does not take it: %v", err)
		}
		if _, err := results.Read("own", data); err != nil {
			t.Errorf("what was written cannot be read: %v", err)
		}
	}
	var list []*results.Report
	for _, version := range []string{"1", "2"} {
		list = append(list, verified(t, Options{Cases: selected(t, ids("LX-WRITE-01", "LX-MODE-01", "FB-01", "MC-01")), Version: version, As: myself()}))
	}
	r := list[0]
	if len(r.Evidence) == 0 || len(r.Degradations) == 0 || len(r.Permissive) == 0 || r.Summary.Skip == 0 {
		t.Errorf("it shows too little: %d evidence, %d degradations, %d permissive, %d skipped", len(r.Evidence), len(r.Degradations), len(r.Permissive), r.Summary.Skip)
	}
	fits(r)
	merged, err := results.Merge(list...)
	if err != nil {
		t.Fatal(err)
	}
	fits(merged)
}
