package protect

import (
	"bytes"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// The rules by which a repository that a command made, or worked in, is in order.
// Each fails closed: what cannot be read is a violation.

// runs says what outside would run an entry.
func runs(it Item) string {
	for _, p := range policy.Protected() {
		if p.Name == it.Name {
			return "used by " + p.Runs
		}
	}
	return "it may be run outside"
}

// configFile wants every setting to be harmless or to have been there before.
func (c *checker) configFile(it, was Item) (string, bool) {
	if it.cfg.err != nil {
		return "it cannot be read as a git config: " + reason(it.cfg.err), false
	}
	for _, set := range it.cfg.settings {
		if !c.harmlessIn(it.repo, set) && !slices.Contains(was.Known, set.hash()) {
			return "it sets " + strconv.Quote(set.full()) + ", which may run a program or lead git elsewhere", false
		}
	}
	return "", true
}

// pointer wants a .git file to name a git folder in the roots, which is looked at
// itself, or a worktree folder outside that names this file in its turn.
func (c *checker) pointer(it Item) (string, bool) {
	for _, p := range c.pointers {
		if p.path != it.Path || p.target == "" {
			continue
		}
		if inner, ok := c.listInside(p.target); ok && c.looksLikeGit(inner) {
			return "", true
		}
	}
	t, why := linkedTree(c.h, it.Path)
	switch {
	case why != "":
		return "it names no git folder in the writable roots: " + why, false
	case t.inside:
		return "it names " + strconv.Quote(t.own) + ", which is no git folder", false
	}
	return "", true
}

// commonFile wants commondir to stand in <G>/worktrees/<name> and to lead to G.
func (c *checker) commonFile(it Item) (string, bool) {
	tree := filepath.Dir(it.Path)
	common := filepath.Dir(filepath.Dir(tree))
	line, err := readLine(c.h, it.Path)
	if err != nil {
		return "it cannot be read: " + reason(err), false
	}
	real, err := c.h.RealPath(absolute(tree, line))
	if err != nil || real != common || filepath.Base(filepath.Dir(tree)) != "worktrees" {
		return "it leads git to " + strconv.Quote(line) + ", whose hooks and settings would be used", false
	}
	if _, known := c.repos[common]; !known {
		return "it belongs to no repository", false
	}
	return "", true
}

// placeFile wants gitdir to stand in a worktree folder and to name a place in the
// roots, or in the sandbox's own /tmp, which is gone by now.
func (c *checker) placeFile(it Item) (string, bool) {
	tree := filepath.Dir(it.Path)
	line, err := readLine(c.h, it.Path)
	if err != nil {
		return "it cannot be read: " + reason(err), false
	}
	place := filepath.Clean(absolute(tree, line))
	if filepath.Base(filepath.Dir(tree)) != "worktrees" || filepath.Base(place) != ".git" {
		return "it is not the place of a worktree", false
	}
	if c.inRoots(place) {
		place = c.realOrMissing(place) // links in the roots may lead out
	}
	if c.inRoots(place) || within("/tmp", place) || within("/var/tmp", place) {
		return "", true
	}
	return "it says that a worktree is at " + strconv.Quote(line) + ", which is outside the writable roots", false
}

// todoFile wants no command to be run by a rebase, but those that were there before.
func (c *checker) todoFile(it, was Item) (string, bool) {
	data, err := c.h.ReadFile(it.Path, configMax)
	if err != nil {
		return "it cannot be read: " + reason(err), false
	}
	for _, line := range execLines(data) {
		if !slices.Contains(was.Known, hashLine(line)) {
			return "git rebase --continue would run " + strconv.Quote(line), false
		}
	}
	return "", true
}

// execLines gives the lines of a rebase todo that run a command (sequencer.c:
// parse_insn_line). Comments are not left out: which sign starts one is a setting.
func execLines(data []byte) (out []string) {
	for _, l := range bytes.FieldsFunc(data, func(r rune) bool { return r == '\n' || r == 0 }) {
		line := strings.TrimLeft(string(l), " \t\r")
		word := line
		if i := strings.IndexAny(line, " \t\r"); i >= 0 {
			word = line[:i]
		}
		if word == "exec" || word == "x" {
			out = append(out, line)
		}
	}
	return out
}

func hashLine(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// strategyFile wants a rebase to merge with a strategy of git's own: for any other word
// git runs git-merge-<word>, which may lead into the worktree (merge-recursive(1) had
// such programs; sequencer.c: try_merge_command).
func (c *checker) strategyFile(it Item) (string, bool) {
	data, err := c.h.ReadFile(it.Path, configMax)
	if err != nil {
		return "it cannot be read: " + reason(err), false
	}
	return ownStrategy(strings.TrimSpace(string(data)))
}

// optsFile wants the same of a sequence of picks, which keeps it as a git config.
func (c *checker) optsFile(it Item) (string, bool) {
	cfg := c.readConfig(it.Path)
	if cfg.err != nil {
		return "it cannot be read as a git config: " + reason(cfg.err), false
	}
	for _, set := range cfg.settings {
		if set.key == "strategy" {
			if why, ok := ownStrategy(set.value); !ok {
				return why, false
			}
		}
	}
	return "", true
}

func ownStrategy(word string) (string, bool) {
	if oneOf(word, "", "ort", "recursive", "resolve", "octopus", "ours", "subtree") {
		return "", true
	}
	return "git would run " + strconv.Quote("git-merge-"+word), false
}

// applyFolder wants the patches of git am to keep to the worktree. They run nothing.
func (c *checker) applyFolder(it Item) (string, bool) {
	if !it.Dir {
		return "it is not a folder", false
	}
	path := join(it.Path, "apply-opt")
	if !c.h.Exists(path) {
		return "", true
	}
	data, err := c.h.ReadFile(path, configMax)
	if err != nil || bytes.Contains(data, []byte("unsafe-paths")) {
		return "its patches may reach outside the worktree", false
	}
	return "", true
}
