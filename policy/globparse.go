package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// atom matches one character of a part, or a run of them.
type atom struct {
	kind   atomKind
	char   rune
	ranges [][2]rune
	not    bool // the class is negated
	fold   bool
}

type atomKind uint8

const (
	oneChar atomKind = iota
	anyChar
	anyRun
	class
)

func (a *atom) matches(c rune) bool {
	switch a.kind {
	case oneChar:
		return a.char == c
	case anyChar:
		return true
	case class:
		return a.inClass(c) != a.not
	}
	return false
}

func (a *atom) inClass(c rune) bool {
	for _, r := range a.ranges {
		if r[0] <= c && c <= r[1] {
			return true
		}
		if !a.fold {
			continue
		}
		for f := unicode.SimpleFold(c); f != c && c <= unicode.MaxRune; f = unicode.SimpleFold(f) {
			if r[0] <= f && f <= r[1] {
				return true
			}
		}
	}
	return false
}

// runes takes a part into characters. A byte that is not UTF-8 becomes a number
// above all real characters, so that it matches itself and nothing else.
func runes(s string, fold bool) []rune {
	return appendRunes(make([]rune, 0, len(s)), s, fold)
}

func appendRunes(out []rune, s string, fold bool) []rune {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			r = unicode.MaxRune + 1 + rune(s[i])
		} else if fold {
			r = lowest(r)
		}
		out = append(out, r)
		i += n
	}
	return out
}

// lowest gives one and the same character for all that differ only in case.
func lowest(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// split takes a tidy path apart: "/a/b" is "", "a", "b" and "/" is "".
func split(p string) []string {
	if p == "/" {
		return []string{""}
	}
	return strings.Split(p, "/")
}

// segments reads a pattern without braces.
func segments(pattern string, fold bool) ([]segment, *problem) {
	var out []segment
	for _, part := range split(tidy(pattern)) {
		if part == "**" {
			out = append(out, segment{deep: true})
			continue
		}
		atoms, bad := parseAtoms(part, fold)
		if bad != nil {
			return nil, bad
		}
		out = append(out, segment{atoms: atoms})
	}
	if out[len(out)-1].deep {
		// "dir/**" is what is below dir: at least one part more.
		out = append(out, segment{atoms: []atom{{kind: anyRun}}})
	}
	return out, nil
}

func parseAtoms(part string, fold bool) ([]atom, *problem) {
	chars := runes(part, false)
	var out []atom
	for i := 0; i < len(chars); i++ {
		switch chars[i] {
		case '*':
			if n := len(out); n == 0 || out[n-1].kind != anyRun {
				out = append(out, atom{kind: anyRun})
			}
		case '?':
			out = append(out, atom{kind: anyChar})
		case '[':
			a, next, bad := parseClass(chars, i+1)
			if bad != nil {
				return nil, bad
			}
			a.fold = fold
			out = append(out, a)
			i = next
		case '\\':
			if i++; i == len(chars) {
				return nil, badf("a backslash stands before nothing, or before a slash")
			}
			fallthrough
		default:
			c := chars[i]
			if fold && c <= unicode.MaxRune {
				c = lowest(c)
			}
			out = append(out, atom{kind: oneChar, char: c})
		}
	}
	return out, nil
}

// parseClass reads what follows '['; next is the place of ']'.
func parseClass(chars []rune, i int) (a atom, next int, bad *problem) {
	a.kind = class
	if i < len(chars) && (chars[i] == '!' || chars[i] == '^') {
		a.not = true
		i++
	}
	for i < len(chars) && chars[i] != ']' {
		lo, after, ok := classChar(chars, i)
		hi := lo
		if ok && after+1 < len(chars) && chars[after] == '-' && chars[after+1] != ']' {
			hi, after, ok = classChar(chars, after+1)
		}
		if !ok || hi < lo {
			return a, 0, badf("the [ ] is not well formed")
		}
		a.ranges = append(a.ranges, [2]rune{lo, hi})
		i = after
	}
	if i >= len(chars) {
		return a, 0, badf("a [ has no ]")
	}
	if len(a.ranges) == 0 {
		return a, 0, badf("the [ ] is empty")
	}
	return a, i, nil
}

func classChar(chars []rune, i int) (c rune, after int, ok bool) {
	if i < len(chars) && chars[i] == '\\' {
		i++
	}
	if i >= len(chars) {
		return 0, i, false
	}
	return chars[i], i + 1, true
}
