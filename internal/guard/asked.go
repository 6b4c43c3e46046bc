package guard

import "strings"

// Asked tells what would be said to a name without making it: the row of
// policy/protected.json that a real path in a writable root matches, "" for none.
// fresh says that it is part of a git folder that is not there yet, or such a folder
// itself: a command may make those, and they are judged by content after the run.
func Asked(cfg Config, path string, exists func(path string) bool) (row string, fresh bool) {
	n := newNames(cfg.Allow, folds)
	for _, root := range cfg.rootsOf(path) {
		if row, ok := n.match(cfg.inRoot(n, root, path), cfg.inHome(n, path)); ok {
			return row, false
		}
	}
	git := gitOf(strings.Split(n.folded(strings.TrimPrefix(path, "/")), "/"), cfg.givenParts(path))
	if git.row == "" || n.allow[git.row] || len(cfg.rootsOf(path)) == 0 {
		return "", false
	}
	folder := path // the git folder
	for range git.above {
		folder = folder[:max(strings.LastIndexByte(folder, '/'), 0)]
	}
	return git.row, git.class == gitPointer || !exists(folder)
}

// rootsOf gives the writable roots that a path lies in.
func (c *Config) rootsOf(path string) (in []string) {
	for _, r := range c.Roots {
		if within(r, path) && r != path {
			in = append(in, r)
		}
	}
	return in
}

// givenParts is how many parts of a path an entry of the user's names that lies in a
// root. A root itself may lie in a git folder and makes nothing there the user's.
func (c *Config) givenParts(path string) (n int) {
	for _, e := range c.Given {
		if within(e, path) && len(c.rootsOf(e)) > 0 {
			n = max(n, strings.Count(e, "/"))
		}
	}
	return n
}

// inRoot gives a path relative to a root.
func (c *Config) inRoot(n *names, root, path string) relPath {
	r := relPath{parts: strings.Split(n.folded(below(root, path)), "/")}
	for _, e := range c.Given {
		if within(root, e) && e != root && within(e, path) {
			r.given = max(r.given, strings.Count(below(root, e), "/")+1)
		}
	}
	return r
}

// inHome gives a path relative to the innermost home directory that it lies in.
func (c *Config) inHome(n *names, path string) relPath {
	best := ""
	for _, h := range c.Homes {
		if within(h, path) && h != path && len(h) > len(best) {
			best = h
		}
	}
	if best == "" {
		return relPath{}
	}
	return c.inRoot(n, best, path)
}

func within(dir, path string) bool {
	if dir == "/" || dir == path {
		return true
	}
	return len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}

func below(dir, path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, dir), "/")
}
