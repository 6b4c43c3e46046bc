package repo

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
)

var codeRow = regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\|")

// TestErrorTable: docs/errors.md has exactly the codes, in their order.
func TestErrorTable(t *testing.T) {
	var doc []fault.Code
	for _, m := range codeRow.FindAllStringSubmatch(read(t, "docs/errors.md"), -1) {
		doc = append(doc, fault.Code(m[1]))
	}
	if !slices.Equal(doc, fault.Codes()) {
		t.Errorf("docs/errors.md has\n%v\nfault.Codes() has\n%v", doc, fault.Codes())
	}
}

// TestCodesAreComplete: every constant of type Code is in Codes().
func TestCodesAreComplete(t *testing.T) {
	const file = "fault/fault.go"
	f := parse(t, file)
	if f == nil {
		t.Fatal(file + " cannot be parsed")
	}
	found := 0
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v, ok := s.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				continue
			}
			if typ, ok := v.Type.(*ast.Ident); !ok || typ.Name != "Code" {
				continue
			}
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found++
			if !slices.Contains(fault.Codes(), fault.Code(text)) {
				t.Errorf("fault.Codes() lacks %s", text)
			}
		}
	}
	if found != len(fault.Codes()) {
		t.Errorf("%d constants, %d codes", found, len(fault.Codes()))
	}
}
