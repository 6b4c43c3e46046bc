package protect

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// A push to a path runs hooks of the repository there, on this side (git-push(1),
// githooks(5)). In the roots repositories are looked at, and outside of them the command
// can write nothing, but for places that are unwatched: the private cache, which is too
// large to be walked and in which tools keep repositories of their own.

// watchedRemote tells whether a remote that is a path leads to no such place.
func (s *survey) watchedRemote(r *repo, remote string) bool {
	return !slices.ContainsFunc(s.remotePaths(r, remote), s.unwatched)
}

// remotePaths gives the places that a remote may mean: git takes a relative one from the
// top of a working tree, or from the repository where there is none.
func (s *survey) remotePaths(r *repo, remote string) []string {
	if filepath.IsAbs(remote) {
		return []string{remote}
	}
	var out []string
	for _, base := range append([]string{r.path, filepath.Dir(r.path)}, r.tops...) {
		out = append(out, base+"/"+remote) // not cleaned: a link before ".." leads elsewhere
	}
	return out
}

// unwatched tells whether a path leads to an unwatched place now.
func (s *survey) unwatched(path string) bool {
	return slices.ContainsFunc(s.f.Unwatched, func(u string) bool {
		return within(u, filepath.Clean(path)) || within(u, s.realOrMissing(path))
	})
}

// ledAway tells of links by which a remote leads to an unwatched place. The setting may
// be older than the link, and the user's.
func (c *checker) ledAway() {
	if len(c.f.Unwatched) == 0 {
		return
	}
	for _, r := range c.order {
		for _, set := range r.settings {
			remote, local := localURL(set.value)
			if !local || !urlKey(set.name()) {
				continue
			}
			for _, path := range c.remotePaths(r, remote) {
				if c.unwatched(path) {
					c.linkOn(path)
				}
			}
		}
	}
}

func urlKey(name string) bool {
	return oneOf(name, "remote.*.url", "remote.*.pushurl", "submodule.*.url", "branch.*.remote", "branch.*.pushremote", "remote.pushdefault")
}

// linkOn reports the links in the roots that are on a path, as they are written.
func (c *checker) linkOn(path string) {
	at := "/"
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		at = filepath.Join(at, part) // ".." behind a link: what comes then is looked at in vain
		if !c.inRoots(at) {
			continue
		}
		if e, ok := c.entryAt(at); ok && e.Type()&fs.ModeSymlink != 0 {
			it := Item{Path: at, Name: "git-config"}
			c.report(it, New, true, "git push would follow it to a place that nobody looks at, and run hooks there")
			return
		}
	}
}
