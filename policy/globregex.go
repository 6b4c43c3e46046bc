package policy

import (
	"strings"
	"unicode"
)

// Regexps gives extended regular expressions, one per combination of braces, that
// match what the glob matches: of an absolute glob the whole path, of a relative one
// "/" and the path. They have no anchors, so that the caller can put a folder before
// and "below" behind them. A combination that holds bytes which are not UTF-8 is left
// out: systems that take such expressions have no such names. Of "/" itself an
// expression may say more than the glob: "/*" is found in it.
//
// One character counts as one here, whatever its bytes; an engine that looks at bytes
// takes "?" for one byte.
func (g *Glob) Regexps() []string {
	var out []string
	for _, segs := range g.alts {
		var b strings.Builder
		if g.abs {
			segs = segs[1:] // the part before the first slash, which is empty
		}
		ok := true
		for _, s := range segs {
			if s.deep {
				b.WriteString("(/[^/]+)*")
				continue
			}
			b.WriteByte('/')
			for _, a := range s.atoms {
				ok = ok && a.regex(&b, g.fold)
			}
		}
		if g.abs && len(segs) == 0 {
			b.WriteByte('/')
		}
		if ok {
			out = append(out, b.String())
		}
	}
	return out
}

// regex writes one atom; false for what has no character.
func (a atom) regex(b *strings.Builder, fold bool) bool {
	switch a.kind {
	case anyChar:
		b.WriteString("[^/]")
	case anyRun:
		b.WriteString("[^/]*")
	case class:
		return a.regexClass(b)
	default:
		if a.char > unicode.MaxRune {
			return false
		}
		regexChar(b, a.char, fold)
	}
	return true
}

// regexChar writes a character, with fold all that differ from it only in case.
func regexChar(b *strings.Builder, c rune, fold bool) {
	if fold && unicode.SimpleFold(c) != c {
		b.WriteByte('(')
		b.WriteRune(c)
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			b.WriteByte('|')
			b.WriteRune(f)
		}
		b.WriteByte(')')
		return
	}
	if strings.ContainsRune(`\.*+?()[]{}|^$`, c) {
		b.WriteByte('\\')
	}
	b.WriteRune(c)
}

// regexClass writes [ … ], which never matches a slash.
func (a atom) regexClass(b *strings.Builder) bool {
	var in strings.Builder
	one := func(c rune) {
		if strings.ContainsRune(`\]^[-`, c) {
			in.WriteByte('\\')
		}
		in.WriteRune(c)
	}
	span := func(lo, hi rune) {
		if lo > hi {
			return
		}
		one(lo)
		if hi > lo {
			in.WriteByte('-')
			one(hi)
		}
	}
	for _, r := range a.folded() {
		if r[1] > unicode.MaxRune {
			return false
		}
		if !a.not && r[0] <= '/' && '/' <= r[1] {
			span(r[0], '/'-1)
			span('/'+1, r[1])
			continue
		}
		span(r[0], r[1])
	}
	switch {
	case a.not:
		b.WriteString("[^/" + in.String() + "]")
	case in.Len() == 0:
		return false // only a slash was in it: it matches nothing
	default:
		b.WriteString("[" + in.String() + "]")
	}
	return true
}

// folded gives the ranges, with fold also those of the other case. Wide ranges keep
// what they have: who writes [à-ÿ] gets that.
func (a atom) folded() [][2]rune {
	if !a.fold {
		return a.ranges
	}
	out := append([][2]rune{}, a.ranges...)
	for _, r := range a.ranges {
		if r[1]-r[0] > 256 {
			continue
		}
		for c := r[0]; c <= r[1] && c <= unicode.MaxRune; c++ {
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				out = append(out, [2]rune{f, f})
			}
		}
	}
	return out
}
