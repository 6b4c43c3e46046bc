package spec

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// addDeny hides an existing path, at its real place.
func (b *binder) addDeny(p, origin string) {
	r, err := b.locate(origin, p)
	if err != nil {
		return // a dangling link hides nothing: its target is not there
	}
	r.Access, r.Origin, r.Mount = Deny, origin, r.Kind != Missing
	b.add(r)
}

// userRules takes the literal entries of readable, denyRead and denyWrite.
func (b *binder) userRules() error {
	fs := b.eff.Policy.Filesystem
	for _, set := range []struct {
		list    string
		entries []string
		access  Access
	}{
		{"filesystem.readable", fs.Readable, Read},
		{"filesystem.denyRead", fs.DenyRead, Deny},
		{"filesystem.denyWrite", fs.DenyWrite, Read},
	} {
		for i, e := range set.entries {
			if policy.HasMeta(e) {
				continue // globs() expands it
			}
			field := fmt.Sprintf("%s[%d]", set.list, i)
			r, err := b.resolve(field, policy.Unescape(e), b.s.Workspace.Path)
			if err != nil {
				return err
			}
			r.Layer, r.Access, r.Origin = User, set.access, b.origin(set.list, e, field)
			r.Mount = r.Kind != Missing
			if set.access == Read && set.list == "filesystem.readable" {
				// SECURITY: a link that an earlier command planted must not show its target.
				if err := b.trusted(field, r); err != nil {
					return err
				}
			}
			if set.list == "filesystem.denyWrite" {
				b.limits = append(b.limits, r)
				continue
			}
			b.add(r)
		}
	}
	return nil
}

// cache gives the command a private cache per workspace that only sandboxes use
// (VAR-04). The directory is made by the launcher; when the user's cache
// directory cannot be written, the cache lies in the private /tmp instead.
func (b *binder) cache() error {
	if b.h.GOOS != "linux" && b.h.GOOS != "darwin" {
		return nil
	}
	root := CacheRoot(b.h)
	if root == "" || b.s.User.Switch {
		return nil
	}
	r, err := b.locate("cache", filepath.Join(root, CacheName(b.s.Workspace.Path)))
	if err != nil {
		return nil
	}
	if !b.canMake(r) || b.trusted("cache", r) != nil {
		return nil
	}
	// The other workspaces' caches are not for this one.
	parent, err := b.locate("cache", root)
	if err == nil {
		parent.Access, parent.Origin, parent.Mount = Deny, "private caches of other workspaces", parent.Kind == Dir
		b.add(parent)
	}
	if !b.s.Isolated() {
		return nil
	}
	r.Access, r.Origin, r.Mount, r.Create = Write, "private cache of this workspace", true, r.Kind == Missing
	b.add(r)
	b.s.Cache = r.Path
	return nil
}

// canMake tells whether the launcher can write a directory or make it.
func (b *binder) canMake(r Rule) bool {
	p := r.Path
	for !b.h.Exists(p) && filepath.Dir(p) != p {
		p = filepath.Dir(p)
	}
	return b.h.Writable(p)
}

// longest finds the most specific rule at or above a path.
func longest(rules map[string]Rule, path string) (Rule, bool) {
	for p := path; ; p = filepath.Dir(p) {
		if r, ok := rules[p]; ok {
			return r, true
		}
		if filepath.Dir(p) == p {
			return Rule{}, false
		}
	}
}

// systemDirs are what strict shows of the system (LNX-03).
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt", "/usr/local"}

// system collects what strict mounts read-only: the fixed directories, the
// command's directory and those of absolute arguments. None of them is a rule
// of its own: they never override a rule (LNX-03).
func (b *binder) system() error {
	if b.s.Policy.Mode != policy.Strict || b.h.GOOS != "linux" {
		return nil
	}
	seen := map[string]bool{}
	for _, p := range systemDirs {
		if r, err := b.locate("system", p); err == nil && r.Kind != Missing && !seen[r.Given] {
			seen[r.Given] = true
			r.Access, r.Origin, r.Mount = Read, "strict: system directory", true
			b.s.System = append(b.s.System, r)
		}
	}
	for i, a := range b.cmd.Argv {
		if i == 0 {
			b.commandDir(a)
		} else if filepath.IsAbs(a) {
			b.argument(filepath.Clean(a), false)
		}
	}
	return nil
}

// commandDir mounts the directory of the command, as it is named and where its
// links lead: both are needed to execute it.
func (b *binder) commandDir(name string) {
	p := name
	if !strings.ContainsRune(name, '/') {
		p = b.inPath(name)
	}
	if p == "" || !filepath.IsAbs(p) {
		return
	}
	b.argument(filepath.Dir(filepath.Clean(p)), false)
	b.argument(filepath.Clean(p), true)
}

// inPath finds a program in the PATH that the command will have, on the host.
func (b *binder) inPath(name string) string {
	for _, dir := range filepath.SplitList(b.lookupEnv("PATH")) {
		p := filepath.Join(dir, name)
		if st, err := b.h.Stat(p); err == nil && !st.IsDir() && st.Mode.Perm()&0o111 != 0 && filepath.IsAbs(dir) {
			return p
		}
	}
	return ""
}

// argument mounts the directory of an absolute argument, within limits.
//
// SECURITY: an argument comes from the agent. It never opens "/", a home
// directory or its parents, a hidden place, or what is already covered.
func (b *binder) argument(a string, isCommand bool) {
	r, err := b.locate("argument", a)
	if err != nil || r.Kind == Missing {
		return
	}
	if r.Kind != Dir || isCommand {
		if r, err = b.locate("argument", filepath.Dir(r.Path)); err != nil || r.Kind != Dir {
			return
		}
	}
	if r.Path == "/" {
		return
	}
	for _, home := range append([]string{b.s.User.Home}, b.homes...) {
		if real, _, err := realPath(b.h, home); err == nil && Within(r.Path, real) {
			return
		}
	}
	if under, ok := longest(b.best, r.Path); ok && under.Path != "/" {
		return // a rule decides there
	}
	for _, w := range wideRoots {
		if r.Path == w {
			return
		}
	}
	for _, have := range b.s.System {
		if Within(have.Path, r.Path) {
			return
		}
	}
	r.Access, r.Origin, r.Mount = Read, "strict: directory of an argument", true
	b.s.System = append(b.s.System, r)
}
