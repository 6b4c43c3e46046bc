package spec

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// RecordsOrigin is the origin of the rule that hides the launcher's records.
const RecordsOrigin = "records of the launcher"

// credentials hides the default list of secrets (FS-03). An entry that is not
// there stays as a rule only where somebody asks for explanations.
func (b *binder) credentials() error {
	if !b.s.Isolated() {
		return nil
	}
	there := newFolders()
	if dir := StateRoot(b.h); dir != "" && b.h.Exists(dir) {
		// SECURITY: the command must not touch the records that undo what it plants.
		b.addDeny(dir, RecordsOrigin)
	}
	b.store()
	for _, home := range b.homes {
		there.list(b.h, home)
	}
	for _, c := range policy.Credentials() {
		if !c.For(b.h.GOOS) || c.RootOnly && b.s.User.UID != 0 {
			continue // the file's own mode keeps an ordinary user out
		}
		if rest, ok := strings.CutPrefix(c.Path, "~/"); ok {
			for _, home := range b.homes {
				b.credential(there, home, rest, c)
			}
			continue
		}
		b.credential(there, "", c.Path[1:], c)
	}
	for _, base := range slices.Sorted(maps.Keys(there.globs)) {
		if err := b.walk(base, there.globs[base]); err != nil {
			return err
		}
	}
	return nil
}

// StoreEndings are the files next to a database that belong to it: SQLite's own
// (sqlite.org/tempfiles.html), and the snapshot of the policy.
var StoreEndings = []string{"", "-wal", "-shm", "-journal", ".snapshot"}

// store hides the user's policy.
//
// SECURITY: what a command writes there would be the policy of every later run. So the
// directory is also made when it is missing and the command could make it.
func (b *binder) store() {
	dir, file := StoreRoot(b.h), StoreFile(b.h)
	switch {
	case dir == "":
	case b.h.Exists(dir):
		b.addDeny(dir, storeOrigin)
	default:
		r, err := b.locate("store", dir)
		if err == nil && !b.s.User.Switch && b.inRoots(r.Path) {
			r.Access, r.Origin, r.Mount, r.Create = Deny, storeOrigin, true, true
			b.add(r)
		}
	}
	if file == "" || Within(dir, file) {
		return
	}
	for _, end := range StoreEndings {
		if b.h.Exists(file + end) {
			b.addDeny(file+end, storeOrigin)
		}
	}
}

const storeOrigin = "the user's stored policy"

// inRoots tells whether a path lies in a writable root.
func (b *binder) inRoots(path string) bool {
	for _, r := range b.roots {
		if Within(r.Path, path) {
			return true
		}
	}
	return false
}

// credential hides one entry below base.
func (b *binder) credential(there folders, base, rest string, c policy.Credential) {
	if !there.above(b.h, base, rest) {
		if b.cmd.Ask && c.Kind != "glob" {
			b.add(Rule{Path: base + "/" + rest, Given: base + "/" + rest, Access: Deny, Origin: "credential " + c.Path})
		}
		return
	}
	switch {
	case c.Kind == "glob":
		there.pattern(b.h, base+"/"+rest, "credential "+c.Path)
	case b.cmd.Ask || there.entry(b.h, base, rest):
		b.addDeny(base+"/"+rest, "credential "+c.Path)
	}
}

// folders remembers which folders are there, so that a list of hundreds of
// entries costs few system calls.
type folders struct {
	seen  map[[2]string]bool
	names map[string]map[string]bool // of a home directory: what lies in it
	globs map[string][]*glob         // by the directory in which they look: one walk for all of them
}

func newFolders() folders {
	return folders{map[[2]string]bool{}, map[string]map[string]bool{}, map[string][]*glob{}}
}

// pattern keeps a pattern for the walk.
func (f folders) pattern(h host.Host, pattern, origin string) {
	base, _ := policy.SplitBase(pattern)
	if _, known := f.globs[base]; !known && !h.Exists(base) {
		return
	}
	if g, err := newGlob(pattern, Deny, BuiltIn, origin); err == nil {
		f.globs[base] = append(f.globs[base], g)
	}
}

// list reads the names in a home directory once. Where that is not allowed every
// entry is looked at by itself.
func (f folders) list(h host.Host, home string) {
	names, err := h.Names(home)
	if err != nil {
		return
	}
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	f.names[home] = set
}

// entry tells whether base/rest is there.
func (f folders) entry(h host.Host, base, rest string) bool {
	if set, ok := f.names[base]; ok && strings.IndexByte(rest, '/') < 0 {
		return set[rest]
	}
	return h.Exists(base + "/" + rest)
}

// above tells whether every literal folder above base/rest is there.
func (f folders) above(h host.Host, base, rest string) bool {
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '*', '?', '[', '{':
			return true
		case '/':
		default:
			continue
		}
		key := [2]string{base, rest[:i]}
		ok, known := f.seen[key]
		if !known {
			ok = f.entry(h, base, rest[:i])
			f.seen[key] = ok
		}
		if !ok {
			return false
		}
	}
	return true
}

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

// sockets hides the host's AF_UNIX sockets that are reachable by path, except
// those that the policy lists (LNX-07).
func (b *binder) sockets() error {
	if b.h.GOOS == "windows" || !b.s.Isolated() {
		return nil
	}
	allowed := b.eff.Policy.Network.UnixSockets
	for i, p := range allowed {
		field := fmt.Sprintf("network.unixSockets[%d]", i)
		r, err := b.resolve(field, p, b.s.Workspace.Path)
		if err != nil {
			return err
		}
		if err := b.trusted(field, r); err != nil {
			return err
		}
		if r.Kind == Missing {
			b.s.notice("socket:missing", "the socket "+r.Given+" of network.unixSockets does not exist now; it will not be reachable")
			continue
		}
		r.Access, r.Layer, r.Origin, r.Mount = Read, User, b.origin("network.unixSockets", p, field), true
		b.add(r)
	}
	if b.h.GOOS != "linux" {
		return nil // macOS denies every socket that no rule allows
	}
	list, err := b.h.Sockets()
	if err != nil {
		b.s.notice("socket:unlisted", "the kernel's list of sockets could not be read: "+err.Error())
	}
	for _, p := range append(list, b.h.Getenv("SSH_AUTH_SOCK"), b.h.Getenv("XDG_RUNTIME_DIR")) {
		if p != "" {
			b.hideSocket(p)
		}
	}
	return nil
}

// hideSocket hides one socket unless it is out of sight anyway.
func (b *binder) hideSocket(p string) {
	r, err := b.locate("socket", filepath.Clean(p))
	if err != nil || r.Kind == Missing {
		return
	}
	if under, ok := longest(b.best, r.Path); ok && under.Access <= Private {
		return // inside a hidden or private place
	}
	r.Access, r.Origin, r.Mount = Deny, "socket of the host", true
	b.add(r)
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
