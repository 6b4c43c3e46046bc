package seatbelt

import (
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/protect"
	"github.com/qiming-sandbox/qsandbox/internal/sbpl"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// patterns covers names that do not exist yet. What existed when the policy was
// bound has a rule of its own.
func (b *builder) patterns() {
	for _, p := range b.s.Patterns {
		g, err := policy.CompileFold(p.Glob)
		if err != nil || p.Access > spec.Read {
			continue
		}
		ops := allOps
		if p.Access == spec.Read {
			ops = writeOps // it takes writing away, and gives nothing
		}
		b.about("pattern " + p.Glob)
		if f, ok := anchored("", globForms(p.Glob), below); ok {
			b.deny(p.Origin, ops, f)
		}
		for _, r := range b.s.Rules {
			if r.Layer == spec.User && !r.Found && r.Access > p.Access && g.MatchUpward(r.Path) {
				b.replaced = append(b.replaced, r)
			}
		}
	}
}

// reach says whether an expression counts for what lies below, too.
type reach string

const (
	alone reach = "$"
	below reach = "(/.*)?$"
)

// anchored makes one filter of expressions for paths below base, an expression too.
func anchored(base string, exprs []string, r reach) (sbpl.Filter, bool) {
	var out []string
	for _, e := range exprs {
		out = append(out, "^"+base+e+string(r))
	}
	if len(out) == 0 {
		return sbpl.Filter{}, false
	}
	return sbpl.Regex(out...), true
}

// newNames denies the first creation of protected names in writable places
// (FS-04). Upper and lower case do not count, as for the file system.
func (b *builder) newNames() {
	f := b.s.Protected
	for _, row := range policy.Protected() {
		if slices.Contains(f.Allow, row.Name) || gitMakes(row) {
			continue
		}
		g, err := policy.CompileFold(row.Match)
		if err != nil {
			continue // a test compiles every row
		}
		how := alone
		if row.Kind == "dir" {
			how = below
		}
		b.about("protected, also before it exists: " + row.Name)
		for _, base := range b.bases(row) {
			if flt, ok := anchored(formsOf(base), g.Regexps(), how); ok {
				b.deny("protected: "+row.Name, writeOps, flt)
			}
		}
		b.replace(row, g)
	}
	b.watched()
}

// bases gives the folders that a row is relative to.
func (b *builder) bases(row policy.ProtectedName) []string {
	f := b.s.Protected
	if row.Scope != "home" {
		return f.Roots
	}
	var out []string
	for _, home := range f.Homes {
		if slices.ContainsFunc(f.Roots, func(root string) bool { return spec.Within(root, home) || spec.Within(home, root) }) {
			out = append(out, home)
		}
	}
	return out
}

// gitMakes tells the rows about the inside of git folders. git itself makes these
// names at init, clone and worktree add, so their creation is not denied: they
// are looked at after the run, as on Linux.
func gitMakes(row policy.ProtectedName) bool {
	return row.Scope == "" && strings.HasPrefix(row.Name, "git-")
}

// replace notes the user's own entries that a row covers: they stay writable.
func (b *builder) replace(row policy.ProtectedName, g *policy.Glob) {
	for _, r := range b.s.Rules {
		if r.Layer != spec.User || r.Access != spec.Write || r.Pin || r.Found {
			continue
		}
		for _, base := range b.bases(row) {
			if rest, ok := strings.CutPrefix(r.Path, base+"/"); ok && g.MatchUpward(rest) {
				b.replaced = append(b.replaced, r)
			}
		}
	}
}

// watched covers names that are missing now and links, which only stay what they
// are if nobody replaces them. What an ordinary git command makes stays free.
func (b *builder) watched() {
	b.about("protected: a link, or a name that is missing now")
	for _, it := range b.s.Protected.Items {
		if it.Action != protect.Watch || free(it.Name) {
			continue
		}
		b.deny("protected: "+it.Name, writeOps, taken(sbpl.Subpath(it.Path), it.Path)...)
	}
}

// free lists the rows whose names git makes in ordinary work.
func free(row string) bool {
	return slices.Contains([]string{"git-rebase-todo", "git-rebase-apply", "git-sequencer", "git-worktree-pointers"}, row)
}

// exceptions says the user's own entries again, with all that lies below them:
// what a person has written down for a path is more specific than a pattern.
func (b *builder) exceptions() {
	seen := map[string]bool{}
	for _, top := range b.replaced {
		if seen[top.Path] {
			continue
		}
		seen[top.Path] = true
		b.about("said again, as it is more specific than a pattern: " + top.Path)
		for _, r := range b.s.Rules {
			if spec.Within(top.Path, r.Path) {
				b.rule(r)
			}
		}
	}
}
