package policy

import (
	"bytes"
	"encoding/json"
	"strings"
)

// SchemaURI names the published schema of the policy file.
const SchemaURI = "https://github.com/qiming-sandbox/qsandbox/policy.schema.json"

// Schema gives the JSON Schema (draft 2020-12) of the policy file, the same bytes at
// every call. Whatever Parse accepts fits the schema, once comments and commas at the
// end are taken away. The schema says less than Parse about what is inside a string:
// host names, globs, and sizes that are too small.
func Schema() []byte {
	top := &tree{}
	put := func(name, raw string) { top.put([]string{name}, []byte(raw)) }
	put("$schema", `"https://json-schema.org/draft/2020-12/schema"`)
	put("$id", jsonString(SchemaURI))
	put("title", `"qsandbox policy"`)
	put("type", `"object"`)
	put("additionalProperties", `false`)
	put("properties", string(schemaProperties()))
	var out bytes.Buffer
	// The bytes are made above from constants; a test compiles the result.
	_ = json.Indent(&out, top.bytes(), "", "  ")
	out.WriteByte('\n')
	return out.Bytes()
}

// schemaProperties has the fields without a group, then one object for each group.
func schemaProperties() []byte {
	props := &tree{}
	props.put([]string{"$schema"}, []byte(`{"type":"string"}`))
	for _, f := range Fields() {
		group, leaf, nested := strings.Cut(f.Name, ".")
		if !nested {
			props.put([]string{f.Name}, f.schemaText())
			continue
		}
		props.put([]string{group, "type"}, []byte(`"object"`))
		props.put([]string{group, "additionalProperties"}, []byte(`false`))
		props.put([]string{group, "properties", leaf}, f.schemaText())
	}
	return props.bytes()
}

// schemaText is the field's schema with its description in front.
func (f *Field) schemaText() []byte {
	doc := f.Doc + " In a workspace file: " + string(f.Narrows) + "."
	return []byte(`{"description":` + jsonString(doc) + `,` + strings.TrimPrefix(f.schema, "{"))
}

func jsonString(s string) string {
	b, _ := json.Marshal(s) // a string always marshals
	return string(b)
}
