package random

import "strings"

// isPattern tells whether an entry has a pattern in it.
func isPattern(entry string) bool {
	for i := 0; i < len(entry); i++ {
		switch entry[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		}
	}
	return false
}

// plain takes the backslashes off an entry that is no pattern.
func plain(entry string) string {
	var b strings.Builder
	for i := 0; i < len(entry); i++ {
		if entry[i] == '\\' && i+1 < len(entry) {
			i++
		}
		b.WriteByte(entry[i])
	}
	return b.String()
}

// literal puts a backslash before whatever a pattern would read.
func literal(path string) string { return quoted(path) }

// matches compares a pattern's parts with a path's.
func matches(pattern, path []string) bool {
	if len(pattern) == 0 {
		return len(path) == 0
	}
	for _, first := range braces(pattern[0]) {
		alternative := append(strings.Split(first, "/"), pattern[1:]...)
		if one(alternative, path) {
			return true
		}
	}
	return false
}

// one compares where the first part has no braces.
func one(pattern, path []string) bool {
	if pattern[0] == "**" {
		if len(pattern) == 1 { // all that is below
			return len(path) > 0
		}
		for i := range path {
			if matches(pattern[1:], path[i:]) {
				return true
			}
		}
		return false
	}
	return len(path) > 0 && name([]rune(pattern[0]), runes(path[0])) && matches(pattern[1:], path[1:])
}

// braces gives the alternatives of a part.
func braces(part string) []string {
	open := index(part, '{')
	if open < 0 {
		return []string{part}
	}
	end := open + 1 + index(part[open+1:], '}')
	var out []string
	for _, alt := range strings.Split(part[open+1:end], ",") {
		out = append(out, braces(part[:open]+alt+part[end+1:])...)
	}
	return out
}

// index finds a character that has no backslash before it.
func index(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == c {
			return i
		}
	}
	return -1
}

// runes takes a name apart; a byte that is no text is one character.
func runes(s string) []rune {
	var out []rune
	for i, r := range s {
		if r == 0xFFFD {
			r = -rune(s[i])
		}
		out = append(out, r)
	}
	return out
}

// name compares one name.
func name(p, s []rune) bool {
	if len(p) == 0 {
		return len(s) == 0
	}
	switch p[0] {
	case '*':
		for i := range len(s) + 1 {
			if name(p[1:], s[i:]) {
				return true
			}
		}
		return false
	case '?':
		return len(s) > 0 && name(p[1:], s[1:])
	case '[':
		set := string(p[1:])
		set = set[:strings.IndexByte(set, ']')]
		rest := p[len([]rune(set))+2:]
		not := strings.HasPrefix(set, "!")
		set = strings.TrimPrefix(set, "!")
		return len(s) > 0 && strings.ContainsRune(set, s[0]) != not && name(rest, s[1:])
	case '\\':
		p = p[1:]
	}
	return len(s) > 0 && s[0] == p[0] && name(p[1:], s[1:])
}
