//go:build unix

package conformance

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// What a pattern of the account's own policy is tried with, and how far is looked for it.
const (
	mostMatches = 8
	mostEntries = 5000
)

// named gives files that a pattern names. In the throw-away workspace one is made, below
// the home those are taken that are there; other patterns are not tried.
func named(entry, home, ws string) []string {
	pattern := policy.Anchor(entry, ws, home)
	g, err := policy.Compile(pattern)
	if err != nil {
		return nil
	}
	base, rest := policy.SplitBase(pattern)
	switch {
	case within(base, ws):
		path := filepath.Join(base, sampleOf(rest))
		if g.Match(path) && within(filepath.Dir(path), ws) && write(path, "decoy\n") == nil {
			return []string{path}
		}
		return nil
	case within(base, home) && home != "/":
		return found(g, base, rest)
	}
	return nil
}

func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// found looks below a folder for what a pattern names. Nothing is opened but folders, and
// none that is not needed: a long look would hold up everything.
func found(g *policy.Glob, base, rest string) (out []string) {
	deepest := strings.Count(base, "/") + strings.Count(rest, "/") + 1 // of a match
	flat := !strings.Contains(rest, "**") && !strings.Contains(rest, "{")
	entries := 0
	_ = filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		entries++
		switch {
		case entries > mostEntries || len(out) == mostMatches:
			return fs.SkipAll
		case err != nil:
			return nil // a folder that cannot be read has nothing to try
		case path != base && g.Match(path):
			out = append(out, path)
		}
		if d.IsDir() && flat && strings.Count(path, "/") >= deepest {
			return fs.SkipDir
		}
		return nil
	})
	return out
}

// sampleOf puts something plain where a pattern has its signs. What comes out must be
// matched against the pattern: of classes that exclude, and the like, it is a guess.
func sampleOf(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '\\':
			if i++; i < len(pattern) {
				b.WriteByte(pattern[i])
			}
		case '*':
			if b.WriteString("any"); wholePart(pattern, i) {
				b.WriteString("/deep")
			}
			for i+1 < len(pattern) && pattern[i+1] == '*' {
				i++
			}
		case '?':
			b.WriteByte('x')
		case '[':
			end := strings.IndexByte(pattern[i:], ']')
			if end < 2 {
				return ""
			}
			if b.WriteByte(pattern[i+1]); strings.ContainsRune("!^", rune(pattern[i+1])) {
				return b.String() // no guess
			}
			i += end
		case '{':
			first, after, ok := alternative(pattern[i+1:])
			if !ok {
				return ""
			}
			return b.String() + sampleOf(first+after)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// wholePart tells whether a ** that stands for folders begins at i.
func wholePart(pattern string, i int) bool {
	after, deep := strings.CutPrefix(pattern[i:], "**")
	return deep && (i == 0 || pattern[i-1] == '/') && (after == "" || after[0] == '/')
}

// alternative gives the first of a list in braces, which has been opened, and what
// follows the list.
func alternative(s string) (first, after string, ok bool) {
	depth, end := 0, -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			if depth == 0 && end < 0 {
				end = i
			}
		case '}':
			if depth--; depth < 0 {
				if end < 0 {
					end = i
				}
				return s[:end], s[i+1:], true
			}
		}
	}
	return "", "", false
}
