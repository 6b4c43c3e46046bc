//go:build amd64 || arm64

package guard

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxSearch bounds the entries that a rename looks at; a folder with more is not
// moved to where they would matter.
const (
	maxSearch = 4096
	maxDepth  = 48
)

// search looks for entries of a folder that are protected by the name that it has or
// gets. Those that it would bring along are no matter where they are as protected
// already by the name that it has.
type search struct {
	*call
	left    int
	other   string // the folder's other name
	leaving bool   // at its old name: what git uses, must stay
	fresh   bool   // git's own rows do not count: it is judged by content after the run
}

// folder looks into dir/name, which is called at (the folder moved) plus sub. It goes
// only where protected names may lie.
func (s *search) folder(dir int, name, at, sub string) (rule string) {
	if !s.leads(at + sub) {
		return ""
	}
	if strings.Count(sub, "/") > maxDepth {
		return "deep-folder"
	}
	fd, e := openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if e == unix.ENOENT || e == unix.ENOTDIR || e == unix.ELOOP {
		return ""
	}
	if e != 0 {
		return "unreadable-folder" // it cannot be looked into, so it may bring anything
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	for s.left > 0 {
		list, err := f.ReadDir(min(s.left, 256))
		s.left -= len(list)
		for _, x := range list {
			entry := sub + "/" + x.Name()
			if rule := s.protected(at + entry); rule != "" && (s.leaving || s.protected(s.other+entry) == "") {
				return rule
			}
			if x.IsDir() {
				if rule := s.folder(fd, x.Name(), at, entry); rule != "" {
					return rule
				}
			}
		}
		if err != nil {
			return ""
		}
	}
	return "large-folder"
}

// protected gives the row for a path, by its name alone.
func (s *search) protected(path string) string {
	if git := gitOf(s.partsOf(path), s.g.cfg.givenParts(path)); !s.fresh && git.class == gitPart && !s.g.names.allow[git.row] {
		return git.row
	}
	if s.leaving {
		return "" // other names are as protected where they are
	}
	for _, root := range s.g.rootsOf(path) {
		if row, ok := s.g.names.match(s.g.inRoot(root, path), s.g.inHome(path)); ok {
			return row
		}
	}
	return ""
}

// leads tells whether protected names may lie in the folder because of where it is.
func (s *search) leads(path string) bool {
	roots := s.g.rootsOf(path)
	if len(roots) == 0 {
		return false
	}
	switch gitOf(s.partsOf(path), 0).class {
	case gitPointer, gitBare, gitPart, gitFolder:
		if !s.fresh {
			return true
		}
	}
	if s.leaving {
		return false
	}
	home := s.g.inHome(path).parts
	for _, root := range roots {
		if s.g.names.lead(s.partsOf("/"+below(root, path)), home) {
			return true
		}
	}
	return false
}

func (s *search) partsOf(path string) []string {
	return strings.Split(s.g.names.folded(path[1:]), "/")
}
