package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const schemaFile = "../../docs/schema/sandbox-report.schema.json"

// fits validates one file by the published schema.
func fits(t *testing.T, data []byte) error {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// TestSchemaHasEachField: objects of the schema and of the program have the same
// fields, of which the same must be there, and nothing else may.
func TestSchemaHasEachField(t *testing.T) {
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	defs, _ := doc["$defs"].(map[string]any)
	seen := map[string]bool{}
	var compare func(path string, node map[string]any, typ reflect.Type)
	compare = func(path string, node map[string]any, typ reflect.Type) {
		if ref, ok := node["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, "#/$defs/")
			node, _ = defs[name].(map[string]any)
			seen[name] = true
		}
		switch typ.Kind() {
		case reflect.Slice, reflect.Array:
			items, ok := node["items"].(map[string]any)
			if !ok {
				t.Errorf("%s is no list in the schema", path)
				return
			}
			compare(path+"[]", items, typ.Elem())
		case reflect.Struct:
			known := fields(typ)
			if known == nil {
				return
			}
			properties, _ := node["properties"].(map[string]any)
			var must, required []string
			for _, x := range known {
				if x.must {
					must = append(must, x.name)
				}
				p, ok := properties[x.name].(map[string]any)
				if !ok {
					t.Errorf("the schema lacks %s.%s", path, x.name)
					continue
				}
				compare(path+"."+x.name, p, x.of)
			}
			list, _ := node["required"].([]any)
			for _, r := range list {
				required = append(required, fmt.Sprint(r))
			}
			if !slices.Equal(must, required) || len(properties) != len(known) || node["additionalProperties"] != false {
				t.Errorf("%s: the schema requires %q of %d fields (others may be there: %v), the program %q of %d", path, required, len(properties), node["additionalProperties"], must, len(known))
			}
		}
	}
	compare("report", doc, reflect.TypeFor[Report]())
	for name := range defs {
		if !seen[name] && name != "status" {
			t.Errorf("nothing of the program is a %s", name)
		}
	}
}

// full has something in every list and field.
func full(run string) *Report {
	code, r := 0, sample(run, record("LX-A-01", "linux/amd64", Pass), record("LX-B-01", "linux/amd64", KnownLimit))
	r.Records[0].ExitCode = &code
	r.Machines[0].Backends = []Backend{{Name: "linux-native", Answer: "yes", Version: "1", Reason: "r"}}
	r.Machines[0].Facts = []Fact{{"kernel", "yes"}}
	r.Cases[0].Rows, r.Cases[0].Source, r.Cases[0].Assumes = []string{"NET-01"}, "s", "a"
	r.Evidence = []Evidence{{Machine: "machine", Platform: "linux/amd64", Backend: "linux-native", Mode: "compat", CaseID: "LX-A-01", Runs: []Run{{
		As: "root", Status: Pass, Notes: "n", ExitCode: &code, Resolved: "linux-native", Degraded: true, Reason: "r", Leak: LeakEnv,
		Steps: []Step{{"inside", "sandbox", "true", 0, "out"}}, Events: []Event{{"sandbox:unavailable", "r"}},
		Samples: []SampleSeries{{Name: "memory", Unit: "bytes", Seconds: []float64{0, 1.5}, Values: []float64{1, 2}, Growing: true, Note: "n"}}}}}}
	r.Degradations = []Degradation{{"LX-A-01", "linux-native", "compat", "r", true}}
	r.Permissive = []Permissive{{"LX-A-01", "linux-native", true}}
	r.Matrix, r.Interrupted = Quick, true
	r.Required, r.Declared = []string{"linux-native"}, []string{WindowsLimit}
	r.Settle()
	return r
}

func written(t *testing.T, r *Report) []byte {
	t.Helper()
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSchemaTakesWhatIsWritten: so does Read, and what is read is what was written.
func TestSchemaTakesWhatIsWritten(t *testing.T) {
	bare := sample("bare", record("LX-A-01", "linux/amd64", Skip))
	merged, err := Merge(full("a"), full("b"), bare)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*Report{"full": full("f"), "bare": bare, "merged": merged} {
		data := written(t, r)
		if err := fits(t, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		again, err := Read(name, data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := written(t, again); !bytes.Equal(got, data) {
			t.Errorf("%s: read and written again it is\n%s\nnot\n%s", name, got, data)
		}
	}
}

// TestSchemaAndReadRefuse: what the schema can tell is wrong, Read refuses as well,
// and names the field.
func TestSchemaAndReadRefuse(t *testing.T) {
	data := string(written(t, full("f")))
	for _, c := range []struct{ old, next, want string }{
		{`"kind": "sandbox-report"`, `"kind": "report"`, `"kind"`},
		{`"version": 1`, `"version": 2`, `"version"`},
		{`"tool": "qsandbox",`, ``, `"tool" is missing`},
		{`"tool": "qsandbox"`, `"Tool": "qsandbox"`, `"Tool" is not known`},
		{`"tool": "qsandbox"`, `"tool": "qsandbox", "more": 1`, `"more" is not known`},
		{`"tool": "qsandbox"`, `"tool": null`, `"tool" is null`},
		{`"started": "1970-01-01T00:00:01Z"`, `"started": "yesterday"`, `yesterday`},
		{`"run": "f"`, `"run": ""`, `machines[0].run`},
		{`"severity": "critical"`, `"severity": "huge"`, `cases[0].severity`},
		{`"id": "LX-A-01"`, `"id": ""`, `cases[0].id`},
		{`"status": "pass"`, `"status": "fine"`, `records[0].status`},
		{`"duration_ms": 0`, `"duration_ms": "x"`, `"duration_ms"`},
		{`"exit_code": 0`, `"exit_code": 1.5`, `exit_code`},
		{`"notes": ""`, `"notes": "", "note": ""`, `records[0].note`},
		{`"leak": "env"`, `"leak": "environment"`, `evidence[0].runs[0].leak`},
		{`"warned": true`, `"warned": "yes"`, `warned`},
		{`"pass_rate": 1`, `"pass_rate": 2`, `"metrics"`},
		{`"handle": 1,`, ``, `metrics.resource_leak_signals.handle`},
		{`"values": [`, `"values": [null, `, `samples[0].values[0]`},
		{`"slope_interval": [`, `"slope_interval": [0, `, `slope_interval`},
	} {
		bad := strings.Replace(data, c.old, c.next, 1)
		if bad == data {
			t.Errorf("nothing to change: %s", c.old)
			continue
		}
		if fits(t, []byte(bad)) == nil {
			t.Errorf("the schema takes %s", c.next+" for "+c.old)
		}
		if _, err := Read("bad", []byte(bad)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: Read says %v, want %s", c.next, c.old, err, c.want)
		}
	}
}
