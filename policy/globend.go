package policy

import (
	"strings"
	"unicode/utf8"
)

// ending is what the last part of a path must start and end with. Almost every
// path of a walk fails here already, before it is taken apart.
type ending struct{ prefix, suffix string }

func endingOf(segs []segment) ending {
	atoms := segs[len(segs)-1].atoms
	var first, last int
	for first < len(atoms) && atoms[first].plain() {
		first++
	}
	for last < len(atoms)-first && atoms[len(atoms)-1-last].plain() {
		last++
	}
	return ending{textOf(atoms[:first]), textOf(atoms[len(atoms)-last:])}
}

// plain tells whether an atom is one byte that stands for itself.
func (a *atom) plain() bool { return a.kind == oneChar && a.char < utf8.RuneSelf }

func textOf(atoms []atom) string {
	text := make([]byte, len(atoms))
	for i := range atoms {
		text[i] = byte(atoms[i].char)
	}
	return string(text)
}

// mayEnd is false only where match would be false. A path that ends in "/" or "."
// goes the long way: partsOf drops such parts.
func (g *Glob) mayEnd(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	if last == "" || last == "." {
		return true
	}
	for _, e := range g.ends {
		if len(last) >= len(e.prefix)+len(e.suffix) && strings.HasPrefix(last, e.prefix) && strings.HasSuffix(last, e.suffix) {
			return true
		}
	}
	return false
}
