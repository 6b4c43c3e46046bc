package policy

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tailscale/hujson"
)

func compiledSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(SchemaURI, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(SchemaURI)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fitsSchema(t testing.TB, s *jsonschema.Schema, text string) error {
	t.Helper()
	plain, err := hujson.Standardize([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// TestSchemaAgreesWithParse: examples that both must accept, and both must refuse.
func TestSchemaAgreesWithParse(t *testing.T) {
	s := compiledSchema(t)
	full, _ := Default().MarshalJSON()
	for _, ok := range []string{
		`{}`, string(full), fullFile,
		`{"$schema":"x","version":1.0}`, `{"limits":{"timeout":"1m30.5s","grace":0,"memory":"512MiB","tmp":1048576,"cpus":1.5,"processes":0}}`,
		`{"limits":{"timeout":"1h2m","output":"10kB"}}`, `{"limits":{"timeout":"","memory":""}}`, `{"limits":{"timeout":"5µs"}}`,
		`{"network":{"mode":"allow","allow":["a.b"],"localPorts":[1,65535],"upstream":"socks5://h:1"}}`,
		`{"env":{"set":{"A":"","b c":"x=y"},"pass":[]}}`, `{"workspace":""}`, `{"backend":"none","mode":"permissive"}`, `{"docker":{"pull":"missing","host":"unix:///x"}}`,
	} {
		_, err := Parse("t", []byte(ok))
		if err != nil {
			t.Errorf("Parse refuses %s: %v", ok, err)
		}
		if err := fitsSchema(t, s, ok); err != nil {
			t.Errorf("the schema refuses %s: %v", ok, err)
		}
	}
	for _, bad := range []string{
		`[]`, `{"version":2}`, `{"version":"1"}`, `{"enabled":"yes"}`, `{"enabled":null}`, `{"mode":"Strict"}`, `{"Mode":"strict"}`, `{"backend":"bwrap"}`,
		`{"filesystem":[]}`, `{"filesystem":{"writeable":[]}}`, `{"filesystem":{"writable":"x"}}`, `{"filesystem":{"writable":[1]}}`, `{"filesystem":{"writable":[""]}}`,
		`{"network":{"localPorts":[0]}}`, `{"network":{"localPorts":[65536]}}`, `{"network":{"localPorts":[1.5]}}`, `{"network":{"upstream":"ftp://x"}}`,
		`{"env":{"set":{"A":1}}}`, `{"env":{"set":{"A=B":"1"}}}`, `{"env":{"set":{"":"1"}}}`, `{"env":{"set":[]}}`,
		`{"limits":{"timeout":5}}`, `{"limits":{"timeout":"5"}}`, `{"limits":{"timeout":"-5s"}}`, `{"limits":{"timeout":"+5s"}}`, `{"limits":{"timeout":true}}`,
		`{"limits":{"memory":"2 GiB"}}`, `{"limits":{"memory":"2gib"}}`, `{"limits":{"memory":"1.5GiB"}}`, `{"limits":{"memory":-1}}`, `{"limits":{"memory":"GiB"}}`,
		`{"limits":{"processes":1}}`, `{"limits":{"processes":-1}}`, `{"limits":{"processes":2.5}}`, `{"limits":{"cpus":-1}}`, `{"limits":{"cpus":"2"}}`,
		`{"docker":{"pull":""}}`, `{"docker":{"keep":0}}`, `{"docker":{"host":"x"}}`, `{"windows":{"audit":"none"}}`, `{"exec":{"nested":"false"}}`,
	} {
		if _, err := Parse("t", []byte(bad)); err == nil {
			t.Errorf("Parse accepts %s", bad)
		}
		if err := fitsSchema(t, s, bad); err == nil {
			t.Errorf("the schema accepts %s", bad)
		}
	}
}

func TestSchemaIsDeterministicAndComplete(t *testing.T) {
	if !bytes.Equal(Schema(), Schema()) {
		t.Error("two calls differ")
	}
	text := string(Schema())
	for _, f := range Fields() {
		leaf := f.Name[strings.LastIndex(f.Name, ".")+1:]
		if !strings.Contains(text, `"`+leaf+`": {`) {
			t.Errorf("%s is not in the schema", f.Name)
		}
	}
	groups := map[string]bool{}
	for _, f := range Fields() {
		if g, _, ok := strings.Cut(f.Name, "."); ok {
			groups[g] = true
		}
	}
	if n := strings.Count(text, `"additionalProperties": false`); n != len(groups)+1 {
		t.Errorf("%d objects are closed, want %d", n, len(groups)+1)
	}
}
