package guard

import "strings"

// gitClass says what a path is to git.
type gitClass uint8

const (
	gitNothing  gitClass = iota
	gitPointer           // .git itself: a folder makes a repository, a file names one
	gitBare              // a folder x.git: a repository when git's parts are put in
	gitPart              // a protected part: row says which
	gitFolder            // a folder below which protected parts lie: modules/x, worktrees/x, rebase-merge
	gitOrdinary          // something else in a git folder
)

// gitPath is a path seen by git's layout (gitrepository-layout(5)).
type gitPath struct {
	class gitClass
	row   string // of gitPointer and gitPart
	above int    // how many folders lie between the entry and its git folder, that one included
	at    int    // of gitPart: how many parts of the path reach up to the one that is protected
	opens bool   // a folder of that name, when made, is a new git folder: its parts are new too
}

// gitOf classifies a path relative to a root. The outermost git folder decides,
// unless it has nothing to say. given is how many of the parts an entry of the user's
// names: a protected part up to there is writable, those within it are not (FS-02).
func gitOf(parts []string, given int) gitPath {
	out := gitPath{}
	for i, p := range parts {
		if p != ".git" && !strings.HasSuffix(p, ".git") {
			continue
		}
		inner := parts[i+1:]
		g := gitInner(p, inner)
		if g.above = len(inner); g.class == gitPart {
			if g.at += i + 1; g.at > given {
				return g
			}
			g = gitPath{class: gitOrdinary, above: g.above}
		}
		if g.class != gitOrdinary || out.class == gitNothing {
			out = g
		}
	}
	return out
}

// gitInner classifies what lies in the git folder called top.
func gitInner(top string, inner []string) gitPath {
	n := len(inner)
	if n == 0 {
		if top == ".git" {
			return gitPath{class: gitPointer, row: "git-pointer", opens: true}
		}
		return gitPath{class: gitBare, opens: true}
	}
	if inner[0] == "hooks" {
		return gitPath{class: gitPart, row: "git-hooks", at: 1}
	}
	if inner[0] == "remotes" || inner[0] == "branches" {
		return gitPath{class: gitPart, row: "git-remotes", at: 1}
	}
	last := inner[n-1]
	switch {
	case n == 1 && configName(last):
		return gitPath{class: gitPart, row: map[string]string{"config": "git-config", "config.worktree": "git-config-worktree",
			"commondir": "git-commondir", "gitdir": "git-gitdir"}[last], at: n}
	case n == 3 && inner[0] == "worktrees" && configName(last) && last != "config":
		return gitPath{class: gitPart, row: "git-worktree-pointers", at: n}
	case n > 1 && inner[0] == "modules":
		if g := gitModule(inner[1:], last); g.class != gitNothing {
			g.at++
			return g
		}
	}
	return gitWork(inner)
}

func configName(s string) bool {
	return s == "config" || s == "config.worktree" || s == "commondir" || s == "gitdir"
}

// gitModule classifies what lies below modules, where the names of submodules may
// have any depth: a part of that name at any depth counts.
func gitModule(below []string, last string) gitPath {
	if configName(last) {
		return gitPath{class: gitPart, row: "git-module-config", at: len(below)}
	}
	for i := len(below); i > 0; i-- { // the innermost: an entry of the user's must reach it
		if below[i-1] == "hooks" {
			return gitPath{class: gitPart, row: "git-module-hooks", at: i}
		}
	}
	return gitPath{}
}

// gitWork classifies the folders of operations that git interrupts and goes on
// with, and of worktrees and submodules.
func gitWork(inner []string) gitPath {
	n := len(inner)
	rest := inner
	switch {
	case inner[0] == "worktrees" && n > 2:
		rest = inner[2:]
	case inner[0] == "modules":
		rest = inner[1:]
		for len(rest) > 1 && rest[0] != "rebase-merge" && rest[0] != "rebase-apply" && !sequence(rest) {
			rest = rest[1:]
		}
	}
	switch {
	case len(rest) > 0 && rest[0] == "rebase-apply":
		return gitPath{class: gitPart, row: "git-rebase-apply", opens: len(rest) == 1, at: n - len(rest) + 1}
	case len(rest) == 2 && rest[0] == "rebase-merge" && (rest[1] == "git-rebase-todo" || rest[1] == "git-rebase-todo.backup" || rest[1] == "strategy"):
		return gitPath{class: gitPart, row: "git-rebase-todo", at: n}
	case sequence(rest):
		return gitPath{class: gitPart, row: "git-sequencer", at: n}
	case len(rest) == 1 && (rest[0] == "rebase-merge" || rest[0] == "sequencer"):
		return gitPath{class: gitFolder, opens: true}
	case inner[0] == "worktrees" && n <= 2, inner[0] == "modules":
		return gitPath{class: gitFolder, opens: n > 1}
	}
	return gitPath{class: gitOrdinary}
}

// sequence tells whether it is what git goes on with after a stopped sequence of picks.
func sequence(rest []string) bool {
	return len(rest) == 2 && rest[0] == "sequencer" && (rest[1] == "opts" || rest[1] == "todo")
}
