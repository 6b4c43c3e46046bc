package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// mayAskForGOOS are the places outside internal/host, each with its reason.
var mayAskForGOOS = map[string]string{
	"internal/bench/result.go": "says what was measured on, and decides nothing by it",
	"cmd/qsandbox/version.go":  "says what the program was built for, and decides nothing by it",
}

// TestGOOSOnlyInHost: everything else takes the system from host.Host, so that it
// can be tested for each system on each.
func TestGOOSOnlyInHost(t *testing.T) {
	for _, file := range sources(t) {
		if packageOf(file) == "internal/host" || mayAskForGOOS[file] != "" {
			continue
		}
		f := parse(t, file)
		if f == nil {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "GOOS" {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "runtime" {
				t.Errorf("%s asks for runtime.GOOS: take it from host.Host", file)
			}
			return true
		})
	}
}

func parse(t *testing.T, file string) *ast.File {
	f, err := parser.ParseFile(token.NewFileSet(), file, read(t, file), 0)
	if err != nil {
		t.Logf("%s cannot be parsed just now: %v", file, err)
		return nil
	}
	return f
}

// TestMainIsShort: what a program does is in functions that can be tested.
func TestMainIsShort(t *testing.T) {
	found := 0
	for _, file := range sources(t) {
		if !strings.HasPrefix(file, "cmd/") || !strings.HasSuffix(file, "/main.go") {
			continue
		}
		found++
		if n := lines(read(t, file)); n > 30 {
			t.Errorf("%s has %d lines; 30 are the limit", file, n)
		}
	}
	if found == 0 {
		t.Error("no cmd/*/main.go")
	}
}

func lines(text string) int { return strings.Count(text, "\n") }

// maxLines is where a file is too long to keep in mind.
const maxLines = 400

// longFiles may be longer, each for its reason.
var longFiles = map[string]string{
	"internal/inside/init_linux_amd64.s": "the init is one routine; to cut it would need jumps between files",
	"internal/seccomp/compile_test.go":   "one table of vectors and its fuzz target",
}

var generated = regexp.MustCompile(`(?m)^// Code generated .*DO NOT EDIT\.$`)

func TestFilesAreShort(t *testing.T) {
	for _, file := range files(t, ".go", ".s", ".h") {
		text := read(t, file)
		n := lines(text)
		if n <= maxLines || longFiles[file] != "" || generated.MatchString(text) {
			continue
		}
		t.Errorf("%s has %d lines; %d are the limit (or a reason in the table of this test)", file, n, maxLines)
	}
	for file := range longFiles {
		if !exists(file) {
			t.Errorf("%s is not there any more: take it out of the table", file)
		}
	}
}
