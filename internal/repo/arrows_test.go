package repo

import (
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows says what each package may import of the product: what the design has
// from the beginning. A package that is not here may import nothing of it.
var arrows = map[string]string{
	"policy":                 "fault",
	"report":                 "fault",
	"fault":                  "",
	"internal/host":          "fault",
	"internal/event":         "report",
	"internal/seccomp":       "",
	"internal/landlock":      "",
	"internal/inside":        "",
	"internal/guard":         "policy",
	"internal/spec":          "policy report fault",
	"internal/plan":          "internal/spec",
	"internal/backend":       "internal/plan internal/host",
	"internal/backend/all":   "internal/backend internal/backend/bwrap internal/backend/native internal/backend/none internal/backend/seatbelt internal/backend/winhelper",
	"internal/backend/linux": "internal/plan internal/seccomp internal/landlock",
	"internal/backend/bwrap": "internal/plan internal/host internal/backend internal/backend/linux",

	"internal/backend/native":   "internal/plan internal/host internal/backend internal/backend/linux",
	"internal/backend/none":     "internal/plan internal/host internal/backend",
	"internal/backend/seatbelt": "internal/plan internal/host internal/backend internal/sbpl",
	"internal/sbpl":             "",
	"internal/keeper":           "",
	"internal/launch":           "internal/plan internal/inside",
	"internal/supervise":        "internal/launch report internal/event",
	"internal/denylog":          "",
	"internal/winacl":           "",
	"scripts/winedll":           "",
	"conformance/cell":          "",
	"conformance/trend":         "",
	".": "policy report fault internal/host internal/spec internal/plan internal/backend internal/backend/all " +
		"internal/launch internal/supervise internal/event",
	"internal/mcpserver": ". policy report fault",
	"internal/mcpconfig": "",
	"acpterm":            ". policy report fault internal/jsonrpc",
	"internal/acpproxy":  ". policy report fault acpterm internal/jsonrpc",
	"internal/jsonrpc":   "",
	"cmd/qsandbox":       ". policy report fault acpterm internal/acpproxy",
}

// added are the arrows that building it showed to be needed. Each is argued in
// docs/architecture.md and in the ADR.
var added = map[string]string{
	"conformance -> .": adrVerify,
	"internal/backend/backendtest -> internal/launch": "docs/adr/0011-arrows.md",
	"conformance -> conformance/cell":                 adrVerify,
	"conformance -> conformance/results":              adrVerify,
	"conformance -> conformance/trend":                "docs/adr/0051-drivers.md",
	"conformance -> fault":                            adrVerify,
	"conformance -> internal/host":                    adrVerify,
	"conformance -> policy":                           adrVerify,
	"conformance -> report":                           adrVerify,
	"conformance/results -> fault":                    adrVerify,
	"conformance/render -> conformance/results":       adrVerify,
	"conformance/probe -> conformance/cell":           adrVerify,
	"conformance/random -> .":                         "docs/adr/0040-random-testing.md",
	"conformance/random -> policy":                    "docs/adr/0040-random-testing.md",
	"cmd/qsandbox -> conformance":                     adrVerify,
	"cmd/qsandbox -> conformance/probe":               adrVerify,
	"cmd/qsandbox -> conformance/render":              adrVerify,
	"cmd/qsandbox -> conformance/results":             adrVerify,
	"internal/spec -> internal/host":                  adrArrows,
	"internal/spec -> internal/protect":               adrArrows,
	"internal/protect -> fault":                       adrArrows,
	"internal/protect -> internal/host":               adrArrows,
	"internal/protect -> policy":                      adrArrows,
	"internal/protect -> report":                      adrArrows,
	". -> internal/protect":                           adrArrows,
	". -> internal/guard":                             adrArrows,
	"conformance -> conformance/probe":                adrVerify,

	"internal/plan -> policy":          adrArrows,
	"internal/plan -> report":          adrArrows,
	"internal/launch -> fault":         adrArrows,
	"internal/launch -> internal/spec": adrArrows,

	"internal/backend -> fault":                        adrArrows,
	"internal/backend -> policy":                       adrArrows,
	"internal/backend -> report":                       adrArrows,
	"internal/backend -> internal/spec":                adrArrows,
	"internal/backend/linux -> report":                 adrArrows,
	"internal/backend/linux -> internal/spec":          adrArrows,
	"internal/backend/bwrap -> fault":                  adrArrows,
	"internal/backend/bwrap -> policy":                 adrArrows,
	"internal/backend/bwrap -> internal/spec":          adrArrows,
	"internal/backend/native -> policy":                adrArrows,
	"internal/backend/native -> internal/spec":         adrArrows,
	"internal/backend/none -> internal/spec":           adrArrows,
	"cmd/qsandbox -> internal/mcpserver":               adrMCP,
	"cmd/qsandbox -> internal/mcpconfig":               adrMCP,
	"internal/backend/seatbelt -> fault":               adrSeatbelt,
	"internal/backend/seatbelt -> policy":              adrSeatbelt,
	"internal/backend/seatbelt -> report":              adrSeatbelt,
	"internal/backend/seatbelt -> internal/spec":       adrSeatbelt,
	"internal/backend/seatbelt -> internal/protect":    adrSeatbelt,
	". -> internal/denylog":                            "docs/adr/0035-denylog.md",
	"internal/launch -> internal/keeper":               adrKeeper,
	"internal/helpercmd -> fault":                      adrWindows,
	"internal/helpercmd -> policy":                     adrWindows,
	"internal/helpercmd -> report":                     adrWindows,
	"internal/protect -> internal/winacl":              "docs/adr/0048-windows-new-names.md",
	"internal/winsandbox -> internal/winacl":           adrWindows,
	"internal/winsandbox -> internal/protect":          adrWindows,
	"internal/winsandbox -> internal/host":             adrWindows,
	"internal/winsandbox -> fault":                     adrWindows,
	"internal/winsandbox -> policy":                    adrWindows,
	"internal/winsandbox -> report":                    adrWindows,
	"internal/backend/winhelper -> fault":              adrWindows,
	"internal/backend/winhelper -> policy":             adrWindows,
	"internal/backend/winhelper -> report":             adrWindows,
	"internal/backend/winhelper -> internal/helpercmd": adrWindows,
	"internal/backend/winhelper -> internal/spec":      adrWindows,
	"internal/backend/winhelper -> internal/plan":      adrWindows,
	"internal/backend/winhelper -> internal/host":      adrWindows,
	"internal/backend/winhelper -> internal/backend":   adrWindows,
	"cmd/qiming-sandbox-helper -> .":                   adrWindows,
	"cmd/qiming-sandbox-helper -> fault":               adrWindows,
	"cmd/qiming-sandbox-helper -> policy":              adrWindows,
	"cmd/qiming-sandbox-helper -> report":              adrWindows,
	"cmd/qiming-sandbox-helper -> internal/helpercmd":  adrWindows,
	"cmd/qiming-sandbox-helper -> internal/winsandbox": adrWindows,
	"cmd/qiming-sandbox-helper -> internal/winacl":     adrWindows,
	"cmd/qiming-sandbox-helper -> internal/host":       adrWindows,

	"internal/snapshot -> policy":          adrStore,
	"internal/snapshot -> fault":           adrStore,
	"internal/snapshot -> internal/host":   adrStore,
	"internal/store -> internal/snapshot":  adrStore,
	"internal/store -> policy":             adrStore,
	"internal/store -> fault":              adrStore,
	"internal/store -> internal/host":      adrStore,
	"cmd/qsandbox-store -> internal/store": adrStore,
	". -> internal/metrics":                adrMetrics,
	"internal/metrics -> internal/event":   adrMetrics,
	"internal/metrics -> fault":            adrMetrics,
	". -> internal/snapshot":               adrSnapshot,
}

const (
	adrStore    = "docs/adr/0014-sqlite.md"
	adrMetrics  = "docs/adr/0032-metrics.md"
	adrSnapshot = "docs/adr/0015-snapshot.md"
	adrVerify   = "docs/adr/0021-conformance.md"
	adrWindows  = "docs/adr/0026-windows-packages.md"
	adrArrows   = "docs/adr/0011-arrows.md"
	adrSeatbelt = "docs/adr/0024-seatbelt.md"
	adrKeeper   = "docs/adr/0025-keeper.md"
	adrMCP      = "docs/adr/0017-mcp-core.md"
)

// helpers are packages for tests alone; nothing but tests may import them, and
// they look at the product from outside.
var helpers = map[string]string{
	"internal/backend/backendtest": ". policy report fault internal/host internal/event internal/spec internal/plan internal/backend",
	"internal/bench":               ". policy internal/mcpserver",
	"internal/mcpserver/livetest":  ". policy report internal/backend/backendtest",
	"internal/e2e":                 ". policy report internal/backend/backendtest",
	"conformance/cell/celltest":    "conformance/cell",
	"internal/repo":                "fault",
}

// libraries says who may import which module of others. Each has an ADR.
var libraries = map[string]struct{ adr, packages string }{
	"github.com/spf13/cobra":      {"docs/adr/0012-cobra.md", "cmd/qsandbox"},
	"github.com/spf13/pflag":      {"docs/adr/0012-cobra.md", "cmd/qsandbox"},
	"github.com/tailscale/hujson": {"docs/adr/0004-hujson.md", "policy"},
	"golang.org/x/sys": {"docs/adr/0005-x-sys.md",
		"internal/host internal/inside internal/keeper internal/launch internal/supervise internal/protect internal/guard internal/event internal/bench internal/backend/backendtest internal/winsandbox internal/store conformance/cell conformance/probe cmd/qsandbox"},
	"modernc.org/sqlite": {"docs/adr/0014-sqlite.md", "internal/store"},
	"golang.org/x/text":  {"docs/adr/0034-x-text.md", "internal/backend/seatbelt"},
	"golang.org/x/term":  {"docs/adr/0006-x-term.md", "cmd/qsandbox"},
}

// testLibraries are for tests alone.
var testLibraries = []string{"github.com/rogpeppe/go-internal", "github.com/santhosh-tekuri/jsonschema/v6", "github.com/coder/acp-go-sdk"}

func TestArrows(t *testing.T) {
	used := map[string]bool{}
	for _, file := range sources(t) {
		from := packageOf(file)
		for _, imp := range imports(t, file) {
			to, ours := own(imp)
			if !ours || to == from {
				continue
			}
			edge := from + " -> " + to
			used[edge] = true
			switch {
			case helpers[to] != "":
				t.Errorf("%s: %s is for tests only", file, to)
			case has(arrows[from], to), has(helpers[from], to), added[edge] != "":
			default:
				t.Errorf("%s: the arrow %s is not among those of docs/architecture.md; a new one needs an ADR", file, edge)
			}
		}
	}
	doc := read(t, "docs/architecture.md")
	for _, edge := range slices.Sorted(maps.Keys(added)) {
		if !used[edge] {
			t.Errorf("nobody uses the arrow %s any more: take it out of the table", edge)
		}
		if !exists(added[edge]) {
			t.Errorf("%s, which argues %s, is not there", added[edge], edge)
		}
		if _, to, _ := strings.Cut(edge, " -> "); !strings.Contains(doc, "`"+to+"`") && to != "." {
			t.Errorf("docs/architecture.md does not name %s", to)
		}
	}
}

// TestEveryPackageIsInTheTable: a new package has its place.
func TestEveryPackageIsInTheTable(t *testing.T) {
	doc := read(t, "docs/architecture.md")
	seen := map[string]bool{}
	for _, file := range sources(t) {
		p := packageOf(file)
		if seen[p] {
			continue
		}
		seen[p] = true
		_, inTable := arrows[p]
		byADR := slices.ContainsFunc(slices.Collect(maps.Keys(added)), func(e string) bool { return strings.HasPrefix(e, p+" -> ") })
		if !inTable && !byADR && helpers[p] == "" {
			t.Errorf("package %s is not in the table of arrows", p)
		}
		if p != "." && !strings.Contains(doc, "`"+p+"`") {
			t.Errorf("docs/architecture.md does not say what package `%s` is for", p)
		}
	}
}

// TestNothingFlowsBackwards: the table itself has no cycle.
func TestNothingFlowsBackwards(t *testing.T) {
	next := map[string][]string{}
	for from, list := range arrows {
		next[from] = append(next[from], strings.Fields(list)...)
	}
	for edge := range added {
		from, to, _ := strings.Cut(edge, " -> ")
		next[from] = append(next[from], to)
	}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(p string, way []string)
	visit = func(p string, way []string) {
		switch state[p] {
		case open:
			t.Errorf("a cycle: %s", strings.Join(append(way, p), " -> "))
		case 0:
			state[p] = open
			for _, n := range next[p] {
				visit(n, append(way, p))
			}
			state[p] = done
		}
	}
	for p := range next {
		visit(p, nil)
	}
}

func TestLibraries(t *testing.T) {
	for _, file := range sources(t) {
		for _, imp := range imports(t, file) {
			if _, ours := own(imp); ours || !strings.Contains(strings.Split(imp, "/")[0], ".") {
				continue
			}
			name, lib := library(imp)
			if name == "" || !has(lib.packages, packageOf(file)) {
				t.Errorf("%s imports %s: say so in the table, with an ADR", file, imp)
			}
		}
	}
	mod := read(t, "go.mod")
	index := read(t, "docs/adr/0001-dependencies.md")
	for line := range strings.Lines(mod) {
		f := strings.Fields(line)
		if len(f) != 2 || !strings.HasPrefix(f[1], "v") {
			continue // no direct requirement
		}
		lib, direct := libraries[f[0]]
		if !direct && !slices.Contains(testLibraries, f[0]) {
			t.Errorf("go.mod requires %s, which is not in the table", f[0])
		}
		if direct && !exists(lib.adr) {
			t.Errorf("%s is not there, which argues %s", lib.adr, f[0])
		}
		if !strings.Contains(index, f[0]+" "+f[1]) {
			t.Errorf("docs/adr/0001-dependencies.md does not have %s %s", f[0], f[1])
		}
	}
}

func library(imp string) (string, struct{ adr, packages string }) {
	for name, lib := range libraries {
		if imp == name || strings.HasPrefix(imp, name+"/") {
			return name, lib
		}
	}
	return "", struct{ adr, packages string }{}
}

// own gives the folder of a package of ours.
func own(imp string) (string, bool) {
	if imp == module {
		return ".", true
	}
	return strings.CutPrefix(imp, module+"/")
}

func has(list, item string) bool { return slices.Contains(strings.Fields(list), item) }

func imports(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, read(t, file), parser.ImportsOnly)
	if err != nil {
		t.Logf("%s cannot be parsed just now: %v", file, err)
		return nil
	}
	var out []string
	for _, s := range f.Imports {
		p, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}
