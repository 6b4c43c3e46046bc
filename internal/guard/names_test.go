package guard

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// rowsOf gives the rows of a scope whose glob matches, straight from the policy.
func rowsOf(t *testing.T, scope, rel string, fold bool) (rows []string) {
	for _, p := range policy.Protected() {
		if p.Scope != scope {
			continue
		}
		g, err := compiled(p.Match, fold)
		if err != nil {
			t.Fatal(err)
		}
		if g.Match(rel) || p.Kind == "dir" && g.MatchUpward(rel) {
			rows = append(rows, p.Name)
		}
	}
	return rows
}

// globsOf keeps what compiled has made: thousands of paths are tried with each.
var globsOf = map[bool]map[string]*policy.Glob{false: {}, true: {}}

func compiled(match string, fold bool) (g *policy.Glob, err error) {
	if g = globsOf[fold][match]; g != nil {
		return g, nil
	}
	compile := policy.Compile
	if fold {
		compile = policy.CompileFold
	}
	if g, err = compile(match); err == nil {
		globsOf[fold][match] = g
	}
	return g, err
}

// words are the parts of all patterns, filled in, with some that are in none.
func words() []string {
	out := []string{"src", "a", "node_modules", "x.git", "heads", "Config", ".GIT", ".VSCode"}
	for _, p := range policy.Protected() {
		for _, b := range braces(p.Match) {
			for _, w := range strings.Split(b, "/") {
				out = append(out, strings.ReplaceAll(strings.ReplaceAll(w, "**", "any"), "*", "star"))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestNamesAgreeWithPolicy: the tables and git.go say what the globs of
// policy/protected.json say.
func TestNamesAgreeWithPolicy(t *testing.T) {
	rng, vocabulary := rand.New(rand.NewPCG(5, 6)), words()
	paths := everyAlternative()
	for range 4000 {
		p := paths[rng.IntN(len(paths))]
		for rng.IntN(2) == 0 {
			if w := vocabulary[rng.IntN(len(vocabulary))]; rng.IntN(2) == 0 {
				p += "/" + w
			} else {
				p = w + "/" + p
			}
		}
		paths = append(paths, p)
	}
	for _, fold := range []bool{false, true} {
		n := newNames(nil, fold)
		for _, p := range paths {
			n.agree(t, p, fold)
		}
	}
}

func (n *names) agree(t *testing.T, p string, fold bool) {
	t.Helper()
	parts := strings.Split(n.folded(p), "/")
	want := rowsOf(t, "", p, fold)
	row, bad := n.match(relPath{parts: parts}, relPath{})
	if git := gitOf(parts, 0); !bad && git.row != "" {
		row, bad = git.row, true
	}
	if bad != (len(want) > 0) || bad && !slices.Contains(want, row) {
		t.Errorf("%q (fold %v): %q, the globs say %q", p, fold, row, want)
	}
	if home := rowsOf(t, "home", p, fold); (n.find(relPath{parts: parts}, true) != nil) != (len(home) > 0) {
		t.Errorf("%q in a home: %v, the globs say %q", p, n.find(relPath{parts: parts}, true), home)
	}
}

// TestGitGiven: what an entry of the user's reaches is theirs, what is protected within
// it, or beside it, is not.
func TestGitGiven(t *testing.T) {
	for _, c := range []struct{ given, path, row string }{
		{".git/hooks", ".git/hooks/pre-commit", ""},
		{".git/hooks/x", ".git/hooks/x", ""},
		{".git/hooks/x", ".git/hooks/y", "git-hooks"},
		{".git/hooks", ".git/config", "git-config"},
		{".git/hooks", ".git/hooks/a.git/hooks/x", "git-hooks"},
		{".git", ".git/hooks/x", "git-hooks"},
		{"sub", "sub/.git/config", "git-config"},
		{".git/modules/m/hooks", ".git/modules/m/hooks/x", ""},
		{".git/modules/m", ".git/modules/m/hooks/x", "git-module-hooks"},
		{".git/modules/m/hooks", ".git/modules/m/hooks/n/hooks/x", "git-module-hooks"},
		{".git/rebase-apply", ".git/rebase-apply/patch", ""},
		{".git/config", ".git/config", ""},
	} {
		cfg := Config{Roots: []string{"/ws"}, Given: []string{"/ws", "/ws/" + c.given}}
		if row, _ := Asked(cfg, "/ws/"+c.path, func(string) bool { return true }); row != c.row {
			t.Errorf("writable %s: %s is %q, want %q", c.given, c.path, row, c.row)
		}
	}
	if row, _ := Asked(Config{Roots: []string{"/ws.git/hooks"}, Given: []string{"/ws.git/hooks"}}, "/ws.git/hooks/x", func(string) bool { return true }); row != "git-hooks" {
		t.Errorf("a root in a git folder: %q", row)
	}
}

// everyAlternative gives a path for each alternative of each row.
func everyAlternative() (out []string) {
	for _, p := range policy.Protected() {
		for _, b := range braces(p.Match) {
			b = strings.ReplaceAll(strings.TrimPrefix(b, "**/"), "/**/", "/m/")
			out = append(out, strings.ReplaceAll(b, "*", "s"))
		}
	}
	return out
}

func TestBraces(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", "{a,b}": "a b", "x/{a,b{c,d}}/{,e/}y": "x/a/y x/a/e/y x/bc/y x/bc/e/y x/bd/y x/bd/e/y",
	} {
		got := braces(in)
		slices.Sort(got)
		w := strings.Fields(want)
		slices.Sort(w)
		if !slices.Equal(got, w) {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestLeads: every folder above a protected name leads to it.
func TestLeads(t *testing.T) {
	n := newNames(nil, false)
	for _, p := range policy.Protected() {
		if gitRow(p) {
			continue
		}
		for _, b := range braces(p.Match) {
			parts := strings.Split(strings.TrimPrefix(b, "**/"), "/")
			for i := 1; i < len(parts); i++ {
				if at, home := parts[:i], parts[:i]; p.Scope == "" && !n.lead(at, nil) || p.Scope != "" && !n.lead([]string{"x"}, home) {
					t.Errorf("%q leads to %q", at, b)
				}
			}
		}
	}
	for _, p := range []string{"src", "src/x", "repo"} {
		if n.lead(strings.Split(p, "/"), nil) {
			t.Errorf("%q leads to nothing", p)
		}
	}
}

func TestGitOf(t *testing.T) {
	for path, want := range map[string]gitPath{
		".git":                      {gitPointer, "git-pointer", 0, 0, true},
		"a/.git/x/config":           {gitOrdinary, "", 2, 0, false},
		"a/.git/config":             {gitPart, "git-config", 1, 3, false},
		"a.git":                     {gitBare, "", 0, 0, true},
		"a.git/hooks/pre-push":      {gitPart, "git-hooks", 2, 2, false},
		".git/worktrees/w":          {gitFolder, "", 2, 0, true},
		".git/worktrees":            {gitFolder, "", 1, 0, false},
		".git/worktrees/w/gitdir":   {gitPart, "git-worktree-pointers", 3, 4, false},
		".git/worktrees/w/HEAD":     {gitOrdinary, "", 3, 0, false},
		".git/modules/m":            {gitFolder, "", 2, 0, true},
		".git/modules/a/b/config":   {gitPart, "git-module-config", 4, 5, false},
		".git/rebase-merge":         {gitFolder, "", 1, 0, true},
		".git/rebase-apply":         {gitPart, "git-rebase-apply", 1, 2, true},
		".git/rebase-apply/patch":   {gitPart, "git-rebase-apply", 2, 2, false},
		".git/refs/heads/config":    {gitOrdinary, "", 3, 0, false},
		".git/refs/heads/x.git":     {gitBare, "", 0, 0, true},
		"src/x":                     {},
		".gitignore":                {},
		"site.git/content/.git":     {gitPointer, "git-pointer", 0, 0, true},
		".git/config.lock":          {gitOrdinary, "", 1, 0, false},
		".git/rebase-merge/done":    {gitOrdinary, "", 2, 0, false},
		".git/modules/m/hooks/x":    {gitPart, "git-module-hooks", 4, 4, false},
		".git/worktrees/w/x/gitdir": {gitOrdinary, "", 4, 0, false},
	} {
		if got := gitOf(strings.Split(path, "/"), 0); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
}
