package protect

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// config is what one git config file says.
type config struct {
	settings []setting
	err      error
	dir      string // relative includes are taken from there
}

// config takes a config file of a repository.
func (s *survey) config(r *repo, e fs.DirEntry, it Item) {
	path := join(r.path, e.Name())
	it.part, it.cfg = configFile, s.readConfig(path)
	for _, set := range it.cfg.settings {
		if !s.harmlessIn(r, set) {
			it.Known = append(it.Known, set.hash())
		}
	}
	s.add(r.path, e, it)
	r.settings = append(r.settings, it.cfg.settings...)
	s.includes(r, it.cfg, 0)
}

// readConfig reads a config file. A link as last part is followed here: the link and
// what it leads to are items of their own.
func (s *survey) readConfig(path string) *config {
	c := &config{dir: filepath.Dir(path)}
	data, err := s.h.ReadFile(path, configMax)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // perhaps a link
		if real, e := s.h.RealPath(path); e == nil && real != path {
			data, err = s.h.ReadFile(real, configMax)
		}
	}
	if err != nil {
		c.err = err
		return c
	}
	c.settings, c.err = parseConfig(data)
	return c
}

// harmlessIn judges a setting of a repository.
func (s *survey) harmlessIn(r *repo, set setting) bool {
	return harmless(set, func(worktree string) bool {
		return s.inRoots(s.realOrMissing(absolute(r.path, worktree)))
	}, func(remote string) bool { return s.watchedRemote(r, remote) })
}

// includes protects the files that settings include, and takes their settings too.
// The conditions of includeIf are not looked at: any may hold one day.
func (s *survey) includes(r *repo, c *config, depth int) {
	for _, set := range c.settings {
		if set.key != "path" || set.section != "include" && set.section != "includeif" {
			continue
		}
		path, ok := s.expand(set.value, c.dir)
		if !ok || depth > 5 || len(r.settings) > 1<<14 {
			continue
		}
		real, exists := s.target(path, Item{Name: "git-config"})
		if !exists {
			real = path
		}
		inner := s.readConfig(real)
		r.settings = append(r.settings, inner.settings...)
		s.includes(r, inner, depth+1)
	}
}

// expand makes a path of a setting absolute, as git does: ~/ is the home, %(prefix)/
// is where git is installed.
func (s *survey) expand(value, dir string) (string, bool) {
	switch {
	case value == "" || dir == "" && !filepath.IsAbs(value) && value[0] != '~':
		return "", false
	case strings.HasPrefix(value, "~/"):
		return join(s.h.HomeDir(), value[2:]), true
	case value[0] == '~' || strings.HasPrefix(value, "%(prefix)/"):
		return "", false
	}
	return absolute(dir, value), true
}

// targets protects what the settings of each repository name and git runs by itself:
// hook folders and programs. Settings of the user and the machine count as well, for
// what they say may be relative to the worktree.
func (s *survey) targets() {
	for _, r := range s.order {
		if r.kind == treeRepo && len(r.settings) == 0 {
			continue // its settings are those of the common folder
		}
		tops := append(s.ownTop(r), r.tops...)
		for _, list := range [][]setting{r.settings, s.globalSettings()} {
			for _, set := range list {
				for _, top := range tops {
					s.programOf(set, top)
				}
			}
		}
	}
}

// ownTop gives the worktree of a repository itself.
func (s *survey) ownTop(r *repo) []string {
	for _, set := range r.settings {
		if set.name() == "core.worktree" {
			return []string{s.realOrMissing(absolute(r.path, set.value))}
		}
	}
	switch r.kind {
	case dotGitRepo:
		return []string{filepath.Dir(r.path)}
	case bareRepo:
		return []string{r.path}
	}
	return nil
}

// programOf protects the target of one setting, if it has one in the roots.
func (s *survey) programOf(set setting, top string) {
	switch set.name() {
	case "core.hookspath":
		s.hooksPath(set.value, top)
	case "core.fsmonitor", "core.sshcommand", "core.editor", "core.pager", "sequence.editor", "diff.external", "gpg.program",
		"filter.*.clean", "filter.*.smudge", "filter.*.process", "diff.*.textconv", "diff.*.command", "merge.*.driver",
		"interactive.difffilter", "credential.helper", "credential.*.helper":
		if path, ok := s.expand(program(set.value), top); ok && strings.Contains(program(set.value), "/") {
			s.target(path, Item{Name: "git-config"})
		}
	case "core.attributesfile": // it chooses which filters run
		if path, ok := s.expand(set.value, top); ok {
			s.target(path, Item{Name: "git-config"})
		}
	}
}

// program gives the first word of a shell command.
func program(command string) string {
	command = strings.TrimLeft(command, " \t!")
	if command != "" && (command[0] == '"' || command[0] == '\'') {
		if end := strings.IndexByte(command[1:], command[0]); end >= 0 {
			return command[1 : 1+end]
		}
	}
	if end := strings.IndexAny(command, " \t;&|<>"); end >= 0 {
		return command[:end]
	}
	return command
}

// hooksPath protects the folder of core.hooksPath. husky points it at .husky/_, whose
// files run those one folder above.
func (s *survey) hooksPath(value, top string) {
	path, ok := s.expand(strings.TrimRight(value, "/"), top)
	if !ok {
		return
	}
	if filepath.Base(path) == "_" && filepath.Base(filepath.Dir(path)) == ".husky" {
		path = filepath.Dir(path)
	}
	it := Item{Name: "git-hooks", part: hookFolder}
	if s.allowed(it.Name) {
		return
	}
	real, exists := s.target(path, it)
	if _, in := s.rootOf(real); !exists || !in || s.before != nil && !s.before.has(real) {
		return
	}
	s.hookEntries(real, it)
	s.linksIn(real, it.Name, 1)
}

// globalSettings reads the git config of the user and of the machine, once, with what they include.
func (s *survey) globalSettings() []setting {
	if s.globalOK {
		return s.global
	}
	s.globalOK = true
	home := s.h.HomeDir()
	files := []string{"/etc/gitconfig"}
	if one, ok := s.h.Lookup("GIT_CONFIG_GLOBAL"); ok {
		files = append(files, one)
	} else {
		xdg := s.h.Getenv("XDG_CONFIG_HOME")
		if xdg == "" {
			xdg = join(home, ".config")
		}
		files = append(files, join(xdg, "git/config"), join(home, ".gitconfig"))
	}
	r := &repo{} // for what it collects
	for _, f := range files {
		if f == "" || f == "/dev/null" {
			continue
		}
		c := s.readConfig(f)
		r.settings = append(r.settings, c.settings...)
		s.includes(r, c, 0)
	}
	s.global = r.settings
	return s.global
}
