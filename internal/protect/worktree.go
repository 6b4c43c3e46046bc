package protect

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// Grant is what a linked worktree gets outside the workspace (FS-08). X is its own git
// folder, C the common one. All are real paths; a zero Grant gives nothing.
type Grant struct {
	Writable []string // X; C/objects, C/refs, C/logs
	ReadOnly []string // inside X, and there: commondir, gitdir, config.worktree
	Readable []string // C
	Create   []string // among Writable: a missing folder that git makes at a commit
	Roots    []string // for Scan, besides the workspace: X
	Notice   string   // why nothing is granted, or ""
}

// Worktree tells what a workspace needs outside itself when it is a linked git
// worktree. The workspace is a real path.
//
// SECURITY: the .git file is in the workspace, and any command may have written it.
// It opens something only if the other side, which no command could write, says the
// same. A pointer that is not confirmed is no error but a notice: git will not work
// in the workspace, and all else does. Nothing is granted for a folder above the
// workspace: a subfolder of a repository stays what it is.
func Worktree(h host.Host, workspace string) (Grant, error) {
	dotGit := join(workspace, ".git")
	st, err := h.Lstat(dotGit)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !st.Mode.IsRegular() {
		return Grant{}, nil
	}
	if err != nil {
		return Grant{}, fault.Wrap(fault.PathInvalid, "read git pointer", dotGit, err)
	}
	t, why := linkedTree(h, dotGit)
	if why != "" || t.inside {
		if why != "" {
			why = "the workspace's .git file opens nothing: " + why
		}
		return Grant{Notice: why}, nil
	}
	g := Grant{Writable: []string{t.own}, Readable: []string{t.common}, Roots: []string{t.own}}
	for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
		if p := join(t.own, name); h.Exists(p) {
			g.ReadOnly = append(g.ReadOnly, p)
		}
	}
	for _, name := range []string{"objects", "refs", "logs"} {
		p := join(t.common, name)
		st, err := h.Lstat(p)
		switch {
		case err == nil && st.IsDir():
			g.Writable = append(g.Writable, p)
		case errors.Is(err, fs.ErrNotExist) && name == "logs":
			g.Create, g.Writable = append(g.Create, p), append(g.Writable, p)
		default:
			return Grant{Notice: "the workspace's .git file opens nothing: " + strconv.Quote(p) + " is not a folder"}, nil
		}
	}
	return g, nil
}

// tree is a linked worktree that both sides confirm.
type tree struct {
	own    string // X = C/worktrees/<name>
	common string // C
	inside bool   // X lies in the folder of the .git file: nothing to open
}

// linkedTree follows a .git file from both sides; why says what is wrong.
func linkedTree(h host.Host, dotGit string) (t tree, why string) {
	dir := filepath.Dir(dotGit)
	name, err := readPointer(h, dotGit)
	if err != nil {
		return t, reason(err)
	}
	if t.own, err = h.RealPath(absolute(dir, name)); err != nil {
		return t, "the folder it names, " + strconv.Quote(name) + ", is not there"
	}
	if within(dir, t.own) {
		t.inside = true
		return t, ""
	}
	if filepath.Base(filepath.Dir(t.own)) != "worktrees" {
		return t, strconv.Quote(t.own) + " is not the folder of a linked worktree; for a submodule make the repository around it the workspace"
	}
	t.common = filepath.Dir(filepath.Dir(t.own))
	return t, t.confirm(h, dotGit)
}

// confirm asks the other side.
func (t tree) confirm(h host.Host, dotGit string) string {
	place, err := readLine(h, join(t.own, "gitdir"))
	if err != nil {
		return "the other side does not confirm it: no gitdir in " + strconv.Quote(t.own)
	}
	real, err := h.RealPath(absolute(t.own, place))
	if err != nil || real != dotGit {
		return "the other side does not confirm it: gitdir there names " + strconv.Quote(place)
	}
	line, err := readLine(h, join(t.own, "commondir"))
	if err != nil {
		return "no commondir in " + strconv.Quote(t.own)
	}
	if real, err = h.RealPath(absolute(t.own, line)); err != nil || real != t.common {
		return "commondir in " + strconv.Quote(t.own) + " leads elsewhere"
	}
	entries, err := h.ReadDir(t.common)
	if err != nil || !(names{}).looksLikeGit(entries) {
		return strconv.Quote(t.common) + " is not a git folder"
	}
	return t.owned(h, filepath.Dir(dotGit))
}

// owned wants the git folders to belong to the workspace's owner or to the caller.
func (t tree) owned(h host.Host, workspace string) string {
	ws, err := h.Stat(workspace)
	if err != nil {
		return reason(err)
	}
	for _, p := range []string{t.own, t.common} {
		st, err := h.Stat(p)
		if err != nil || st.UID != ws.UID && st.UID != h.User.UID {
			return strconv.Quote(p) + " belongs to somebody else"
		}
	}
	return ""
}
