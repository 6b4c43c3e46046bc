package protect

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// before is what Scan found, ready to be asked.
type before struct {
	Found
	items  map[string]Item
	states map[Stamp]bool
	walked map[string]bool
}

func newBefore(f Found) *before {
	b := &before{Found: f, items: map[string]Item{}, states: map[Stamp]bool{}, walked: map[string]bool{}}
	for _, list := range [][]Item{f.Covered, f.Items} {
		for _, it := range list {
			b.items[it.Path] = it
			b.states[it.Stamp] = true
		}
	}
	for _, dir := range f.Walked {
		b.walked[dir] = true
	}
	return b
}

func (b *before) has(path string) bool { _, ok := b.items[path]; return ok }

// unchanged tells whether an entry is an item in the very same state.
func (b *before) unchanged(path string, e fs.DirEntry) bool {
	fi, err := e.Info()
	return err == nil && b.has(path) && b.items[path].Stamp == stampOf(path, fi)
}

// isNewFolder tells whether a folder was made, or moved there, during the run: Scan
// would have listed it.
func (b *before) isNewFolder(parent, path string) bool {
	return b.walked[parent] && !b.walked[path] && !b.Partial && b.listsBelow(parent)
}

// listsBelow tells whether Scan listed the folders in a folder that it listed.
func (b *before) listsBelow(dir string) bool {
	if strings.Contains(slashed(dir)+"/", "/.git/") {
		return true
	}
	for _, r := range b.Roots {
		if within(r, dir) {
			return strings.Count(slashed(dir[len(r):]), "/") < b.Limits.Depth
		}
	}
	return false
}

// isNew tells whether an entry that was no item before came during the run. Where
// Scan looked, that is certain. Elsewhere the time of its last change decides: to
// create, write, link or rename an entry sets it, and no command can set it back.
func (b *before) isNew(path string, s Stamp) bool {
	for child, dir := path, filepath.Dir(path); dir != child; child, dir = dir, filepath.Dir(dir) {
		if b.walked[dir] {
			return child == path || !b.Partial && b.listsBelow(dir) || s.Changed >= b.Since
		}
	}
	return s.Changed >= b.Since
}
