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
	if !b.cmd.Ask && there.absent(base, rest) {
		return
	}
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
	names map[string]map[string]bool // what lies in a folder; nil: it cannot be listed
	asked map[string]int             // how often each was asked about
	globs map[string][]*glob         // by the directory in which they look: one walk for all of them
}

// worthListing is how many questions about a folder cost more than its listing.
const worthListing = 4

func newFolders() folders {
	return folders{map[[2]string]bool{}, map[string]map[string]bool{}, map[string]int{}, map[string][]*glob{}}
}

// pattern keeps a pattern for the walk.
func (f folders) pattern(h host.Host, pattern, origin string) {
	base, _ := policy.SplitBase(pattern)
	if _, known := f.globs[base]; !known && !h.Exists(base) {
		return
	}
	if g, err := newGlob(h, pattern, Deny, BuiltIn, origin, false); err == nil {
		f.globs[base] = append(f.globs[base], g)
	}
}

// list reads the names in a folder once. Where that is not allowed every entry
// is looked at by itself; so it is where two spellings can be one name.
func (f folders) list(h host.Host, dir string) map[string]bool {
	if h.GOOS != "linux" {
		f.names[dir] = nil
		return nil
	}
	names, err := h.Names(dir)
	if err != nil {
		f.names[dir] = nil
		return nil
	}
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	f.names[dir] = set
	return set
}

// absent tells whether a folder that was listed lacks the first part of rest. Nearly
// the whole list is about programs that nobody has here, and this costs no memory.
func (f folders) absent(base, rest string) bool {
	set := f.names[base]
	if set == nil {
		return false // not listed: look
	}
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '*', '?', '[', '{':
			return false
		case '/':
			return !set[rest[:i]]
		}
	}
	return !set[rest]
}

// entry tells whether base/rest is there.
func (f folders) entry(h host.Host, base, rest string) bool {
	path := base + "/" + rest
	cut := strings.LastIndexByte(path, '/')
	dir := path[:cut]
	set, listed := f.names[dir]
	if !listed {
		if f.asked[dir]++; f.asked[dir] == worthListing && dir != "" {
			set = f.list(h, dir)
		}
	}
	if set != nil {
		return set[path[cut+1:]]
	}
	return h.Exists(path)
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
