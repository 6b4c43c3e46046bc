package policy

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

const docsFile = "../docs/policy.md"

// docsSections makes the parts of docs/policy.md that come from tables.
func docsSections() map[string]string {
	cell := strings.NewReplacer("|", `\|`, "\n", " ").Replace
	var fields, hooks, protected, review strings.Builder
	fields.WriteString("\n| field | type | default | meaning | in a workspace file |\n|---|---|---|---|---|\n")
	for _, f := range Fields() {
		def, _ := f.JSON(Default())
		fmt.Fprintf(&fields, "| `%s` | %s | `%s` | %s | %s |\n", f.Name, cell(f.Type), def, cell(f.Doc), f.Narrows)
	}
	hooks.WriteString("\n| variable | why |\n|---|---|\n")
	for _, h := range Hooks() {
		fmt.Fprintf(&hooks, "| `%s` | %s |\n", h.Name, cell(h.Reason))
	}
	protected.WriteString("\n| name | pattern | kind | what runs it |\n|---|---|---|---|\n")
	for _, p := range Protected() {
		scope := ""
		if p.Scope != "" {
			scope = " (" + p.Scope + ")"
		}
		fmt.Fprintf(&protected, "| `%s` | `%s`%s | %s | %s |\n", p.Name, p.Match, scope, p.Kind, cell(p.Runs))
	}
	review.WriteString("\n| files | what runs them |\n|---|---|\n")
	for _, r := range LeftToReview() {
		fmt.Fprintf(&review, "| `%s` | %s |\n", strings.ReplaceAll(r.Match, ", ", "`, `"), cell(r.Runs))
	}
	safe := "`" + strings.Join(SafeKeys("linux"), "`, `") + "`; on Windows `" + strings.Join(SafeKeys("windows"), "`, `") + "`"
	return map[string]string{"fields": fields.String(), "hooks": hooks.String(), "protected": protected.String(), "review": review.String(), "safe": safe}
}

// TestDocsHaveTheTables: docs/policy.md says of every field what the code does.
func TestDocsHaveTheTables(t *testing.T) {
	data, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	want := string(data)
	for name, text := range docsSections() {
		head, rest, ok := strings.Cut(want, "<!-- "+name+" -->")
		_, tail, ok2 := strings.Cut(rest, "<!-- end -->")
		if !ok || !ok2 {
			t.Fatalf("docs/policy.md has no section %s", name)
		}
		want = head + "<!-- " + name + " -->" + text + "<!-- end -->" + tail
	}
	if *update {
		if err := os.WriteFile(docsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(data, []byte(want)) {
		t.Error("docs/policy.md is not what the tables say: run go test ./policy -run 'Tables' -update")
	}
	for _, f := range Fields() {
		if !strings.Contains(string(data), "| `"+f.Name+"` |") || !strings.Contains(string(data), string(f.Narrows)+" |") {
			t.Errorf("%s and its direction are not in docs/policy.md", f.Name)
		}
	}
}

// TestDocsExamples: every example parses.
func TestDocsExamples(t *testing.T) {
	data, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(data), "```jsonc\n")
	if len(parts) < 5 {
		t.Fatalf("only %d examples", len(parts)-1)
	}
	for _, p := range parts[1:] {
		text, _, _ := strings.Cut(p, "```")
		if _, err := Parse("docs/policy.md", []byte(text)); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
}
