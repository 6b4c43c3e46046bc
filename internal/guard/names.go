package guard

import (
	"path"
	"strings"
	"sync"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// names answers by name alone whether a path is protected by a row of
// policy/protected.json. To try every glob on every created file would cost more
// than creating it, so the rows are spread over a map by their last part. The rows
// about the inside of git folders are code (git.go), as what they mean depends on
// the folder.
type names struct {
	rules map[string][]*nameRule // by last part
	wild  []*nameRule            // whose last part is a glob
	leads map[string][]*nameRule // by each part but the last: what leads to a protected name
	allow map[string]bool
	fold  bool
}

// nameRule is one alternative of a row.
type nameRule struct {
	row   string
	parts []string
	home  bool // relative to a home directory, else at any depth of a root
	dir   bool // with all below it
}

// tableOf keeps the two usual tables: to make one takes about as long as to start a thread.
var tableOf = [2]func() *names{
	sync.OnceValue(func() *names { return makeNames(nil, false) }),
	sync.OnceValue(func() *names { return makeNames(nil, true) }),
}

// SECURITY: names that differ in case alone count as one everywhere: the command can make
// folders that do not tell case (chattr +F), where the file system has it.
const folds = true

func newNames(allowed []string, fold bool) *names {
	if len(allowed) > 0 {
		return makeNames(allowed, fold)
	}
	if fold {
		return tableOf[1]()
	}
	return tableOf[0]()
}

func makeNames(allowed []string, fold bool) *names {
	n := &names{rules: map[string][]*nameRule{}, leads: map[string][]*nameRule{}, allow: map[string]bool{}, fold: fold}
	for _, a := range allowed {
		n.allow[a] = true
	}
	for _, p := range policy.Protected() {
		if n.allow[p.Name] || gitRow(p) {
			continue
		}
		for _, pattern := range braces(p.Match) {
			n.add(p, n.folded(pattern))
		}
	}
	return n
}

func (n *names) add(p policy.ProtectedName, pattern string) {
	rest := strings.TrimPrefix(pattern, "**/")
	r := &nameRule{row: p.Name, parts: strings.Split(rest, "/"), home: p.Scope == "home", dir: p.Kind == "dir"}
	last := len(r.parts) - 1
	if strings.Contains(r.parts[last], "*") {
		n.wild = append(n.wild, r)
	} else {
		n.rules[r.parts[last]] = append(n.rules[r.parts[last]], r)
	}
	for _, part := range r.parts[:last] {
		n.leads[part] = append(n.leads[part], r)
	}
}

func (n *names) folded(s string) string {
	if n.fold {
		return policy.FoldName(s)
	}
	return s
}

// relPath is a path in parts, relative to a root or a home directory (nil: in none).
// given is how many of them a writable entry of the user's names: what it names is
// writable, whatever it is called (FS-02).
type relPath struct {
	parts []string
	given int
}

// match gives the row that protects a path.
func (n *names) match(path, home relPath) (row string, ok bool) {
	if r := n.find(path, false); r != nil {
		return r.row, true
	}
	if r := n.find(home, true); r != nil {
		return r.row, true
	}
	return "", false
}

// find looks at the path and at each folder above it, down from the user's entry.
func (n *names) find(path relPath, home bool) *nameRule {
	parts := path.parts
	for k := path.given + 1; k <= len(parts); k++ {
		for _, r := range n.rules[parts[k-1]] {
			if r.holds(parts, k, home) {
				return r
			}
		}
		for _, r := range n.wild {
			if r.holds(parts, k, home) {
				return r
			}
		}
	}
	return nil
}

// holds tells whether the rule matches the first k parts, and with that the path.
func (r *nameRule) holds(parts []string, k int, home bool) bool {
	if r.home != home || !r.dir && k != len(parts) || len(r.parts) > k || home && len(r.parts) != k {
		return false
	}
	return sameParts(r.parts, parts[k-len(r.parts):k])
}

func sameParts(pattern, parts []string) bool {
	for i, p := range pattern {
		if p == parts[i] {
			continue
		}
		if ok, err := path.Match(p, parts[i]); !ok || err != nil {
			return false
		}
	}
	return true
}

// lead tells whether protected names may lie below a folder because of its own
// name: .github, .hg, and in a home .config.
func (n *names) lead(parts, home []string) bool {
	if len(parts) == 0 {
		return false
	}
	if len(home) > 0 && n.leadHome(home) {
		return true
	}
	for _, r := range n.leads[parts[len(parts)-1]] {
		for j := 1; j < len(r.parts) && !r.home; j++ {
			if j <= len(parts) && sameParts(r.parts[:j], parts[len(parts)-j:]) {
				return true
			}
		}
	}
	return false
}

func (n *names) leadHome(home []string) bool {
	for _, list := range n.leads {
		for _, r := range list {
			if r.home && len(home) < len(r.parts) && sameParts(r.parts[:len(home)], home) {
				return true
			}
		}
	}
	return false
}

// gitRow tells the rows that git.go stands for.
func gitRow(p policy.ProtectedName) bool {
	return p.Scope == "" && strings.HasPrefix(p.Name, "git-")
}

// braces writes out the alternatives of a pattern.
func braces(s string) []string {
	open := strings.IndexByte(s, '{')
	if open < 0 {
		return []string{s}
	}
	var out []string
	depth, start := 0, open+1
	for i := open; i < len(s); i++ {
		switch {
		case s[i] == '{':
			depth++
		case s[i] == ',' && depth == 1:
			out = append(out, braces(s[:open]+s[start:i]+tail(s, i))...)
			start = i + 1
		case s[i] == '}':
			if depth--; depth == 0 {
				return append(out, braces(s[:open]+s[start:i]+s[i+1:])...)
			}
		}
	}
	return []string{s}
}

// tail is what follows the brace that closes the group which is open at i.
func tail(s string, i int) string {
	for depth := 1; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[i+1:]
			}
		}
	}
	return ""
}
