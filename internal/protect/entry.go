package protect

import (
	"io/fs"
	"path/filepath"
)

// add takes the entry of a folder as an item. A link becomes a watched one, and what
// it leads to is protected if it lies in the roots. False: the entry is gone.
func (s *survey) add(dir string, e fs.DirEntry, it Item) bool {
	it.Path = join(dir, e.Name())
	if _, in := s.rootOf(it.Path); s.allowed(it.Name) || !in && e.Type()&fs.ModeSymlink == 0 {
		return true
	}
	fi, err := e.Info()
	if err != nil {
		return false // it was there for a moment
	}
	it.Dir, it.Stamp, it.Links = fi.IsDir(), stampOf(it.Path, fi), linksOf(fi)
	if fi.Mode()&fs.ModeSymlink != 0 {
		s.follow(it.Path, it)
		return true
	}
	s.keep(it)
	return true
}

// keep files an item. What lies outside the roots needs no protection, and what lies
// in a worktree folder that is read-only as a whole needs none of its own.
func (s *survey) keep(it Item) {
	if _, ok := s.rootOf(it.Path); !ok {
		return
	}
	if it.repo != nil && it.repo.covered {
		s.f.Covered = append(s.f.Covered, it)
		return
	}
	s.f.Items = append(s.f.Items, it)
}

// follow watches a link and protects what it leads to.
func (s *survey) follow(path string, it Item) {
	text, err := s.h.Readlink(path)
	if err != nil {
		return
	}
	link := it
	link.Path, link.Action, link.Dir, link.Target = path, Watch, false, text
	if link.Stamp == (Stamp{}) {
		if e, ok := s.entryAt(path); ok {
			if fi, err := e.Info(); err == nil {
				link.Stamp = stampOf(path, fi)
			}
		}
	}
	link.part = plain // a new link in place of a protected name is never in order
	s.keep(link)
	s.target(absolute(filepath.Dir(path), text), it)
}

// target protects what a link or a git setting names, at its real place. What is
// missing is watched. Links on the way are watched as well: to turn one is to replace it.
func (s *survey) target(path string, it Item) (real string, ok bool) {
	it.Target = ""
	keep := s.keep
	if s.before != nil {
		keep = s.keepKnown
	}
	real, missing := s.resolve(path, it.Name)
	switch {
	case real == "":
		return "", false
	case s.holdsRoot(real):
		s.f.NotWalked = append(s.f.NotWalked, "a link or a git setting names a whole writable root for "+it.Name+": it stays writable")
		return real, true
	case missing:
		it.Path, it.Action, it.Dir, it.Stamp = real, Watch, false, Stamp{}
		keep(it)
		return real, false
	}
	e, ok := s.entryAt(real)
	if !ok {
		return "", false
	}
	fi, err := e.Info()
	if err != nil {
		return "", false
	}
	it.Path, it.Action, it.Dir, it.Stamp, it.Links = real, ReadOnly, fi.IsDir(), stampOf(real, fi), linksOf(fi)
	keep(it)
	return real, true
}

// keepKnown is keep after the run, for what links and settings lead to.
//
// SECURITY: a planted link must not make us move what it leads to.
func (s *survey) keepKnown(it Item) {
	if s.before.has(it.Path) {
		s.keep(it)
	}
}

func (s *survey) holdsRoot(path string) bool {
	for _, r := range s.f.Roots {
		if within(path, r) {
			return true
		}
	}
	return false
}

// resolve finds the real place of a path whose last parts may be missing, if it lies
// in the roots; "" if not. Like the kernel it goes part by part; links inside the
// roots on the way are watched.
func (s *survey) resolve(path, name string) (real string, missing bool) {
	if r, err := s.h.RealPath(path); err == nil {
		if !s.inRoots(r) && !s.holdsRoot(r) {
			return "", false
		}
		if r != path {
			s.watchLinks(path, name)
		}
		return r, false
	}
	rest := ""
	for dir := filepath.Clean(path); ; {
		rest = filepath.Join(filepath.Base(dir), rest)
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		if r, err := s.h.RealPath(up); err == nil {
			real = filepath.Join(r, rest)
			if _, ok := s.rootOf(real); !ok {
				return "", false
			}
			if e, ok := s.entryAt(join(r, filepath.Base(dir))); ok && e.Type()&fs.ModeSymlink != 0 {
				s.watchLinks(join(r, e.Name()), name) // a dangling link
			}
			return real, true
		}
		dir = up
	}
}

// watchLinks watches the links inside the roots on the way to a path.
func (s *survey) watchLinks(path, name string) {
	keep := s.keep
	if s.before != nil {
		keep = s.keepKnown
	}
	path = filepath.Clean(path)
	for range 40 {
		if _, ok := s.rootOf(path); !ok {
			return
		}
		if text, err := s.h.Readlink(path); err == nil {
			if e, ok := s.entryAt(path); ok {
				if fi, err := e.Info(); err == nil {
					keep(Item{Path: path, Name: name, Action: Watch, Target: text, Stamp: stampOf(path, fi)})
				}
			}
		}
		path = filepath.Dir(path)
	}
}

// realOrMissing gives the real path of what may be missing: the real path of what is
// there, and the rest.
func (s *survey) realOrMissing(path string) string {
	real, err := s.h.RealPath(path)
	for dir, rest := filepath.Clean(path), ""; err != nil; {
		up := filepath.Dir(dir)
		if up == dir {
			return filepath.Clean(path)
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		if real, err = s.h.RealPath(up); err == nil {
			return filepath.Join(real, rest)
		}
		dir = up
	}
	return real
}
