package guard

import "strings"

// Asked tells what would be said to a name without making it: the row of
// policy/protected.json that a real path in a writable root matches, "" for none.
// fresh says that it is part of a git folder that is not there yet, or such a folder
// itself: a command may make those, and they are judged by content after the run.
func Asked(cfg Config, path string, exists func(path string) bool) (row string, fresh bool) {
	n := newNames(cfg.Allow, cfg.Fold)
	for _, root := range cfg.rootsOf(path) {
		if row, ok := n.match(strings.Split(n.folded(below(root, path)), "/"), cfg.homeParts(n, path)); ok {
			return row, false
		}
	}
	git := gitOf(strings.Split(n.folded(strings.TrimPrefix(path, "/")), "/"))
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

// homeParts gives a path relative to the innermost home directory that it lies in.
func (c *Config) homeParts(n *names, path string) []string {
	best := ""
	for _, h := range c.Homes {
		if within(h, path) && h != path && len(h) > len(best) {
			best = h
		}
	}
	if best == "" {
		return nil
	}
	return strings.Split(n.folded(below(best, path)), "/")
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
