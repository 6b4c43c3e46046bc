package protect

import (
	"io/fs"
	"path/filepath"
)

// home looks for the rows of scope home. Three places may hold one: the home lies in
// a root; a root lies in the home; or the home is elsewhere and has links into a
// root, as people keep who have their start files in a repository.
func (s *survey) home(home string) {
	if s.inRoots(home) {
		s.homeFolder(home, "", 16)
		return
	}
	for _, root := range s.f.Roots {
		if !strictly(home, root) {
			continue
		}
		if rel, err := filepath.Rel(home, root); err == nil {
			if _, _, more := s.names.home(slashed(rel)); more {
				s.homeFolder(root, slashed(rel)+"/", 16)
			}
		}
	}
	s.homeFolder(home, "", 1)
}

// homeFolder compares the entries of one folder, whose names have the given prefix,
// and goes on where rows do.
func (s *survey) homeFolder(dir, prefix string, depth int) {
	entries, ok := s.listInside(dir)
	if !ok {
		return
	}
	for _, e := range entries {
		rel := prefix + e.Name()
		row, found, more := s.names.home(rel)
		path := join(dir, e.Name())
		switch {
		case found && (!row.file || !e.IsDir()):
			s.row(dir, e, row.name)
		case !more || depth == 0:
		case e.IsDir():
			s.homeFolder(path, rel+"/", depth-1)
		case e.Type()&fs.ModeSymlink != 0:
			s.homeLink(path, rel, row.name, depth)
		}
	}
}

// homeLink goes on behind a folder of the home that is a link, such as ~/.config.
// The folder itself stays writable: only names below it are protected.
func (s *survey) homeLink(path, rel, name string, depth int) {
	s.watchLinks(path, name)
	real, err := s.h.RealPath(path)
	if err == nil && s.inRoots(real) {
		s.homeFolder(real, rel+"/", depth-1)
	}
}
