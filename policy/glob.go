package policy

import (
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// Globs are matched over whole slash paths:
//
//	*       any run of characters but '/', leading dots included
//	?       one character but '/'
//	[a-z]   one of these; [!a-z] or [^a-z] one but these; never '/'
//	{a,b}   either; may be nested and may hold slashes
//	**      as a whole part: any number of parts, none included
//	\x      x itself
//
// "dir/**" matches everything below dir and not dir itself; "**/x" matches x at any
// depth, the top included. A ** beside other characters is a *. A byte that is not
// UTF-8 counts as one character, different from all real ones.

// maxAlternatives bounds what braces may expand to.
const maxAlternatives = 1024

// Glob is a compiled pattern. It is safe for concurrent use.
type Glob struct {
	abs  bool
	fold bool
	alts [][]segment // one per combination of braces
	ends []ending    // of each
}

// segment is one part of a pattern between slashes.
type segment struct {
	deep  bool // **
	atoms []atom
}

// Compile reads a pattern. An illegal one is a *fault.Error of code POLICY_INVALID.
func Compile(pattern string) (*Glob, error) { return compile(pattern, false) }

// CompileFold is Compile for file systems that do not tell upper from lower case.
func CompileFold(pattern string) (*Glob, error) { return compile(pattern, true) }

func compile(pattern string, fold bool) (*Glob, error) {
	alts, bad := expand(pattern)
	if bad != nil {
		return nil, bad.fault("parse glob", pattern)
	}
	g := &Glob{abs: isAbs(pattern), fold: fold}
	for _, alt := range alts {
		segs, bad := segments(alt, fold)
		if bad != nil {
			return nil, bad.fault("parse glob", pattern)
		}
		g.alts, g.ends = append(g.alts, segs), append(g.ends, endingOf(segs))
	}
	return g, nil
}

// globMessage is an error of Compile without operation and subject.
func globMessage(err error) string {
	if e, ok := err.(*fault.Error); ok && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

// Match reports whether path is matched. A relative pattern never matches an
// absolute path, nor the other way round: see Anchor.
func (g *Glob) Match(path string) bool {
	if g.abs != isAbs(path) || !g.fold && !g.mayEnd(path) {
		return false
	}
	var few [maxOnStack][]rune
	var room [maxRoom]rune
	return g.match(partsOf(path, g.fold, few[:0], room[:0]))
}

// MatchUpward reports whether path or a folder above it is matched.
func (g *Glob) MatchUpward(path string) bool {
	if g.abs != isAbs(path) {
		return false
	}
	var few [maxOnStack][]rune
	var room [maxRoom]rune
	parts := partsOf(path, g.fold, few[:0], room[:0])
	for n := len(parts); n > 0; n-- {
		if g.match(parts[:n]) {
			return true
		}
	}
	return false
}

// What usual paths need of memory is on the stack: a walk matches every entry of a tree.
const (
	maxOnStack = 24
	maxRoom    = 256
)

// partsOf takes a path apart as split(tidy(path)) does, into characters. It appends to
// parts, and puts the characters into text.
func partsOf(path string, fold bool, parts [][]rune, text []rune) [][]rune {
	if strings.HasPrefix(path, "/") {
		parts = append(parts, nil)
	}
	for rest := path; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		if part == "" || part == "." {
			continue
		}
		from := len(text)
		text = appendRunes(text, part, fold)
		parts = append(parts, text[from:])
	}
	if len(parts) == 0 {
		parts = append(parts, nil)
	}
	return parts
}

func (g *Glob) match(parts [][]rune) bool {
	for _, segs := range g.alts {
		if matchSegments(segs, parts) {
			return true
		}
	}
	return false
}

// Match reports whether path matches pattern; both are absolute or both relative,
// else it is an error: a rule that silently never applies would be a trap.
func Match(pattern, path string) (bool, error) {
	g, err := Compile(pattern)
	if err != nil {
		return false, err
	}
	if g.abs != isAbs(path) {
		return false, fault.New(fault.Internal, "match glob", pattern, "anchor the pattern first: one of pattern and path is absolute, the other is not")
	}
	return g.Match(path), nil
}

// matchSegments goes back to the last ** only. That is enough, as any ** before it
// matched as little as it could; so the time is bounded by the product of the lengths.
func matchSegments(segs []segment, parts [][]rune) bool {
	s, p, back, from := 0, 0, -1, 0
	for p < len(parts) {
		switch {
		case s < len(segs) && segs[s].deep:
			back, from = s, p
			s++
		case s < len(segs) && matchAtoms(segs[s].atoms, parts[p]):
			s, p = s+1, p+1
		case back >= 0:
			from++
			s, p = back+1, from
		default:
			return false
		}
	}
	for s < len(segs) && segs[s].deep {
		s++
	}
	return s == len(segs)
}

// matchAtoms is the same within one part, with * for **.
func matchAtoms(atoms []atom, chars []rune) bool {
	a, c, back, from := 0, 0, -1, 0
	for c < len(chars) {
		switch {
		case a < len(atoms) && atoms[a].kind == anyRun:
			back, from = a, c
			a++
		case a < len(atoms) && atoms[a].matches(chars[c]):
			a, c = a+1, c+1
		case back >= 0:
			from++
			a, c = back+1, from
		default:
			return false
		}
	}
	for a < len(atoms) && atoms[a].kind == anyRun {
		a++
	}
	return a == len(atoms)
}
