package protect

import (
	"sort"
	"strings"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// nameRow is one alternative of a row of policy/protected.json. The tables in
// names_gen.go are sorted and static: to compile the globs at each start would take
// longer than to start the sandbox. A test keeps them the same as the data file.
type nameRow struct {
	key  string // tables anywhere, suffixes: last part of the name; home: path below the home folder; folded
	up   string // anywhere: the parts before the last one, "" mostly; folded
	name string // row
	file bool   // kind file: a folder of that name is something else
}

// names answers by name alone, without reading anything. Case does not count, on any
// system: whether a folder tells it depends on the file system, and even on the folder.
type names struct {
	allow []string
}

func folded(s string) string { return policy.FoldName(s) }

func (n names) allowed(row string) bool {
	for _, a := range n.allow {
		if a == row {
			return true
		}
	}
	return false
}

// anywhere gives the row that protects the entry of a name in a folder, for rows
// that hold in every writable root. Rows of git are not among them: see repo.go.
func (n names) anywhere(dir, name string) (nameRow, bool) {
	name = folded(name)
	i := sort.Search(len(anywhereTable), func(i int) bool { return anywhereTable[i].key >= name })
	for ; i < len(anywhereTable) && anywhereTable[i].key == name; i++ {
		if r := anywhereTable[i]; under(folded(dir), r.up) && !n.allowed(r.name) {
			return r, true
		}
	}
	for _, r := range suffixTable {
		if strings.HasSuffix(name, r.key) && !n.allowed(r.name) {
			return r, true
		}
	}
	return nameRow{}, false
}

// leads tells whether rows of several parts go on below that folder: it is listed
// at any depth, and a link in its place is watched.
func (n names) leads(dir, name string) (nameRow, bool) {
	name = folded(name)
	for _, r := range leadTable {
		if r.key == name && under(folded(dir), r.up) && !n.allowed(r.name) {
			return r, true
		}
	}
	return nameRow{}, false
}

// under tells whether the last parts of dir are up.
func under(dir, up string) bool {
	return up == "" || strings.HasSuffix(slashed(dir), "/"+up)
}

// home gives the row for a slash path below a home folder; more tells that rows go
// on below it.
func (n names) home(rel string) (r nameRow, found, more bool) {
	rel = folded(rel)
	i := sort.Search(len(homeTable), func(i int) bool { return homeTable[i].key >= rel })
	if i < len(homeTable) && homeTable[i].key == rel && !n.allowed(homeTable[i].name) {
		return homeTable[i], true, false
	}
	j := sort.Search(len(homeTable), func(i int) bool { return homeTable[i].key >= rel+"/" })
	if j < len(homeTable) && strings.HasPrefix(homeTable[j].key, rel+"/") {
		return homeTable[j], false, true
	}
	for _, r := range homeGlobTable {
		if ok, deeper := matchParts(r.key, rel); (ok || deeper) && !n.allowed(r.name) {
			return r, ok, deeper
		}
	}
	return nameRow{}, false, false
}

// matchParts compares part by part; a part of the pattern may end in "*".
func matchParts(pattern, rel string) (match, prefix bool) {
	want, have := strings.Split(pattern, "/"), strings.Split(rel, "/")
	if len(have) > len(want) {
		return false, false
	}
	for i, h := range have {
		head, star := strings.CutSuffix(want[i], "*")
		if star && !strings.HasPrefix(h, head) || !star && h != want[i] {
			return false, false
		}
	}
	return len(have) == len(want), len(have) < len(want)
}

// heavy names folders that tools fill with thousands of entries and nobody works
// in. They are not walked, and the report says so.
func heavy(name string) bool {
	switch name {
	case "node_modules", "bower_components", ".venv", "venv", "site-packages", "__pycache__",
		".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".next", ".nuxt", ".gradle", ".terraform":
		return true
	}
	return false
}
