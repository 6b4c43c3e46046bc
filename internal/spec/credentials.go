package spec

import (
	"maps"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/policy"
)

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
