package protect

import (
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// A path may hold bytes that are not UTF-8, which JSON would lose: in a journal such
// a path is written as a NUL, which no path has, and hexadecimal digits.

func armour(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return "\x00" + hex.EncodeToString([]byte(path))
}

func disarm(text string) string {
	digits, ok := strings.CutPrefix(text, "\x00")
	if !ok {
		return text
	}
	path, _ := hex.DecodeString(digits)
	return string(path)
}

// mapped gives a copy of f with all paths changed.
func (f Found) mapped(change func(string) string) Found {
	for _, list := range []*[]string{&f.Roots, &f.Given, &f.Written, &f.Unwatched, &f.Homes, &f.Walked, &f.Heavies, &f.Hidden} {
		*list = slices.Clone(*list)
		for i, p := range *list {
			(*list)[i] = change(p)
		}
	}
	for _, list := range []*[]Item{&f.Items, &f.Covered} {
		*list = slices.Clone(*list)
		for i, it := range *list {
			(*list)[i].Path, (*list)[i].Target = change(it.Path), change(it.Target)
		}
	}
	return f
}
