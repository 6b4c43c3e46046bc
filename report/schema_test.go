package report

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// shape is as much of a JSON Schema as the test compares.
type shape struct {
	Properties map[string]shape
	Items      *shape
	Required   []string
}

// The published schema has every field of the report and no other, at every level, and
// requires those that are always written.
func TestSchemaHasEveryField(t *testing.T) {
	data, err := os.ReadFile("../docs/schema/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s shape
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	compare(t, "report", reflect.TypeFor[Report](), s)
}

func compare(t *testing.T, at string, typ reflect.Type, s shape) {
	required := map[string]bool{}
	for _, r := range s.Required {
		required[r] = true
	}
	fields := map[string]bool{}
	for f := range typ.Fields() {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = true
		p, ok := s.Properties[name]
		if !ok {
			t.Errorf("%s: the schema lacks %s", at, name)
		}
		if always := !strings.Contains(opts, "omitempty"); always != required[name] {
			t.Errorf("%s: %s is always written: %v; required: %v", at, name, always, required[name])
		}
		inner := f.Type
		if inner.Kind() == reflect.Slice && p.Items != nil {
			inner, p = inner.Elem(), *p.Items
		}
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner.PkgPath() == typ.PkgPath() {
			compare(t, at+"."+name, inner, p)
		}
	}
	for name := range s.Properties {
		if !fields[name] {
			t.Errorf("%s: the schema has %s, which is never written", at, name)
		}
	}
}
