package protect

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// listTree lists a folder of the walk, within the budget.
func (s *survey) listTree(j job) ([]fs.DirEntry, bool) {
	if s.before != nil && s.before.walked[j.path] {
		return s.list(j.path)
	}
	left := &s.left
	if j.heavy {
		left = &s.heavy
	}
	if _, done := s.listings[j.path]; !done {
		if left.Dirs <= 0 || left.Entries <= 0 {
			s.f.Partial = true
			s.unlisted++
			return nil, false
		}
		left.Dirs--
	}
	entries, ok := s.list(j.path)
	left.Entries -= len(entries)
	return entries, ok
}

// listInside lists a folder of a repository or of a protected folder.
func (s *survey) listInside(dir string) ([]fs.DirEntry, bool) {
	if _, done := s.listings[dir]; !done {
		if s.leftIn <= 0 {
			s.f.Partial = true
			s.unlisted++
			return nil, false
		}
		s.leftIn--
	}
	return s.list(dir)
}

func (s *survey) list(dir string) ([]fs.DirEntry, bool) {
	if entries, done := s.listings[dir]; done {
		return entries, entries != nil
	}
	entries, err := s.h.ReadDir(dir)
	switch {
	case err == nil && entries == nil:
		entries = []fs.DirEntry{}
	case err != nil:
		entries = nil
		if !errors.Is(err, fs.ErrNotExist) {
			s.f.Hidden = append(s.f.Hidden, dir)
		}
	}
	s.listings[dir] = entries
	if err == nil {
		s.f.Walked = append(s.f.Walked, dir)
	}
	return entries, err == nil
}

// entryAt gives the entry at a path, by listing the folder it lies in: that is how
// the host tells the time of change.
func (s *survey) entryAt(path string) (fs.DirEntry, bool) {
	entries, _ := s.list(filepath.Dir(path))
	name := filepath.Base(path)
	for _, e := range entries {
		if e.Name() == name {
			return e, true
		}
	}
	return nil, false
}
