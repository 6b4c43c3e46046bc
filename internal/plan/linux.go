package plan

import (
	"path/filepath"
	"sort"

	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// LinuxMounts turns the rules of a spec into mounts, general before special
// (LNX-02, LNX-03, LNX-04). Both Linux backends carry out the same list.
func LinuxMounts(s *spec.Spec) []Mount {
	if !s.Isolated() {
		return []Mount{{Kind: RootHost, Dst: "/", Origin: "mode permissive"}}
	}
	m := &mounter{s: s}
	top := level{path: "/", access: spec.Read}
	if s.Policy.Mode == policy.Strict {
		m.list = append(m.list, Mount{Kind: RootEmpty, Dst: "/", Dir: true, Mode: 0o755, Origin: "mode strict"})
		top = level{path: "/", access: spec.Deny, fresh: true}
	} else {
		m.list = append(m.list, Mount{Kind: RootHost, Dst: "/", Dir: true, ReadOnly: true, Origin: "mode compat"})
	}
	m.stack = []level{top}
	for _, r := range m.ordered() {
		m.rule(r)
	}
	m.seal()
	return m.list
}

// level is what holds at and below a path.
type level struct {
	path   string
	access spec.Access
	fresh  bool // a file system of ours: places to mount on must be made
}

type mounter struct {
	s     *spec.Spec
	list  []Mount
	stack []level
	seals []string
}

// ordered merges strict's system directories with the rules; a rule for the
// same path wins.
func (m *mounter) ordered() []spec.Rule {
	byPath := map[string]spec.Rule{}
	var links []spec.Rule
	for _, r := range m.s.System {
		if r.Given != r.Path {
			links = append(links, r)
			continue
		}
		byPath[r.Path] = r
	}
	for _, r := range m.s.Rules {
		byPath[r.Path] = r
	}
	out := make([]spec.Rule, 0, len(byPath)+len(links))
	for _, r := range byPath {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return spec.PathLess(out[i].Path, out[j].Path) })
	for _, l := range links {
		m.list = append(m.list, Mount{Kind: Symlink, Dst: l.Given, Target: l.Path, Origin: l.Origin})
	}
	return out
}

// above drops the levels that do not hold at path and gives the one that does.
func (m *mounter) above(path string) level {
	for len(m.stack) > 1 && !spec.Within(m.stack[len(m.stack)-1].path, path) {
		m.stack = m.stack[:len(m.stack)-1]
	}
	return m.stack[len(m.stack)-1]
}

// rule adds the mount of one rule, if it changes anything.
func (m *mounter) rule(r spec.Rule) {
	if !r.Mount || r.Kind == spec.Missing && !r.Create {
		return
	}
	up := m.above(r.Path)
	if r.Access == up.access && !r.Pin {
		if r.Access != spec.Private {
			return
		}
	}
	if r.Access == spec.Deny && up.access == spec.Private && up.path != r.Path {
		return // what the host has there is not visible anyway
	}
	mount := Mount{Src: r.Path, Dst: r.Path, ID: r.ID, Dir: r.Kind == spec.Dir || r.Create, Make: up.fresh, Origin: r.Origin}
	next := level{path: r.Path, access: r.Access}
	switch r.Access {
	case spec.Deny:
		m.hide(&mount, &next, r)
	case spec.Private:
		if !m.private(&mount, &next, r) {
			return
		}
	case spec.Read:
		mount.Kind, mount.ReadOnly = Bind, true
	case spec.Write:
		mount.Kind = Bind
	}
	m.list = append(m.list, mount)
	if r.Path == "/dev" || filepath.Base(r.Path) == "dev" && r.Access == spec.Private && r.Given == "/dev" {
		m.list = append(m.list, Mount{Kind: Tmpfs, Dst: r.Path + "/shm", Dir: true, Size: int64(m.s.Policy.Limits.Tmp), Mode: 0o1777, Make: true, Origin: "private /dev/shm"})
	}
	m.stack = append(m.stack, next)
}

// hide covers a path. A directory below which something is shown again stays
// searchable, so that the shown part can be reached.
func (m *mounter) hide(mount *Mount, next *level, r spec.Rule) {
	if r.Kind != spec.Dir {
		mount.Kind = HideFile
		return
	}
	mount.Kind, mount.ReadOnly = HideDir, true
	next.fresh = true
	if r.Empty {
		mount.Mode = 0o755
	}
	if m.shownBelow(r.Path) {
		mount.ReadOnly = false
		mount.Mode |= 0o111
		m.seals = append(m.seals, r.Path)
	}
}

func (m *mounter) shownBelow(path string) bool {
	for _, r := range m.s.Rules {
		if r.Path != path && spec.Within(path, r.Path) && r.Access > spec.Private && r.Mount {
			return true
		}
	}
	return false
}

func (m *mounter) private(mount *Mount, next *level, r spec.Rule) bool {
	next.fresh = true
	switch r.Given {
	case "/dev":
		mount.Kind = Dev
	case "/proc":
		mount.Kind = Proc
	default:
		mount.Kind, mount.Size, mount.Mode = Tmpfs, int64(m.s.Policy.Limits.Tmp), 0o1777
	}
	return true
}

// seal makes read-only what was left open for filling.
func (m *mounter) seal() {
	for _, p := range m.seals {
		m.list = append(m.list, Mount{Kind: Seal, Dst: p, Dir: true})
	}
	if m.s.Policy.Mode == policy.Strict {
		m.list = append(m.list, Mount{Kind: Seal, Dst: "/", Dir: true})
	}
}

// Creates lists the missing directories that the launcher makes before the start.
func Creates(s *spec.Spec) []string {
	var out []string
	for _, r := range s.Rules {
		if r.Create {
			out = append(out, r.Path)
		}
	}
	return out
}
