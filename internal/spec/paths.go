package spec

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

func itoa(n int) string { return strconv.Itoa(n) }

// expand makes an entry absolute: "~" is the command's home directory, a
// relative entry is taken from base.
func (b *binder) expand(field, entry, base string) (string, error) {
	if strings.IndexByte(entry, 0) >= 0 {
		return "", fault.New(fault.PathInvalid, "read "+field, entry, "a path cannot contain a NUL byte")
	}
	if entry == "" {
		return "", fault.New(fault.PathInvalid, "read "+field, entry, "a path cannot be empty")
	}
	switch {
	case entry == "~":
		entry = b.s.User.Home
	case strings.HasPrefix(entry, "~/"):
		entry = filepath.Join(b.s.User.Home, entry[2:])
	case !filepath.IsAbs(entry):
		entry = filepath.Join(base, entry)
	}
	return filepath.Clean(entry), nil
}

// resolve makes an entry absolute and follows its links (FS-01, FS-06).
func (b *binder) resolve(field, entry, base string) (Rule, error) {
	given, err := b.expand(field, entry, base)
	if err != nil {
		return Rule{}, err
	}
	return b.locate(field, given)
}

// locate finds the real path of a clean absolute path. A path that does not
// exist is taken from its deepest existing ancestor.
func (b *binder) locate(field, given string) (Rule, error) {
	r := Rule{Given: given}
	real, missing, err := realPath(b.h, given)
	if err != nil {
		return r, fault.Wrap(fault.PathInvalid, "resolve "+field, given, err)
	}
	r.Path = real
	if missing {
		return r, nil
	}
	st, err := b.h.Lstat(real)
	if err != nil {
		return r, fault.Wrap(fault.PathInvalid, "resolve "+field, given, err)
	}
	if st.IsLink() {
		return r, fault.Wrap(fault.PathInvalid, "resolve "+field, given, ErrChanged) // it was none a moment ago
	}
	r.Kind, r.ID = kindOf(st), ID{st.Dev, st.Ino}
	return r, nil
}

func kindOf(st host.Info) Kind {
	switch {
	case st.IsDir():
		return Dir
	case st.IsSocket():
		return Socket
	}
	return File
}

// realPath follows links. For a path that does not exist it gives the real path
// of the deepest existing ancestor with the rest appended, and missing = true.
// A dangling link is an error: what it will point to is anybody's guess.
func realPath(h host.Host, p string) (real string, missing bool, err error) {
	if real, err = h.RealPath(p); err == nil {
		return real, false, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	if st, lerr := h.Lstat(p); lerr == nil && st.IsLink() {
		return "", false, errors.New("a link that points to nothing")
	}
	dir := filepath.Dir(p)
	if dir == p {
		return "", false, err
	}
	parent, _, err := realPath(h, dir)
	if err != nil {
		return "", false, err
	}
	return filepath.Join(parent, filepath.Base(p)), true, nil
}

// wideRoots may not be writable outside permissive: writing there opens everything (FS-09).
var wideRoots = []string{
	"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/run", "/sbin", "/sys", "/usr", "/usr/local", "/var",
	"/System", "/Library", "/Users", "/private", "/private/var", "/private/etc", "/Applications", "/Volumes",
}

// refuseWide refuses a writable root that would open everything.
func (b *binder) refuseWide(field string, r Rule) error {
	if !b.s.Isolated() {
		return nil
	}
	const hint = "writing there would open everything; name a directory below it, or run with --mode permissive"
	bad := fault.New(fault.PathInvalid, "allow writing by "+field, r.Given, hint)
	for _, w := range wideRoots {
		if r.Path == w {
			return bad
		}
	}
	if b.h.GOOS == "windows" && filepath.Dir(r.Path) == r.Path {
		return bad
	}
	for _, home := range b.homes {
		real, _, err := realPath(b.h, home)
		if err == nil && real != r.Path && Within(r.Path, real) {
			return bad
		}
	}
	return nil
}

// add keeps the stronger of two rules for one path: the higher layer, then the
// stricter access (FS-02).
func (b *binder) add(r Rule) {
	have, ok := b.best[r.Path]
	if ok && have.Layer != r.Layer {
		if have.Layer > r.Layer {
			return
		}
	} else if ok && have.Found != r.Found { // a path that was written down is more specific than a pattern
		if r.Found {
			return
		}
	} else if ok && have.Access <= r.Access {
		return
	}
	b.best[r.Path] = r
}

// addPath adds a rule for an existing path; one that cannot be looked at is left out.
func (b *binder) addPath(p string, a Access, l Layer, origin string) {
	r, err := b.locate(origin, filepath.Clean(p))
	if err != nil || r.Kind == Missing {
		return
	}
	r.Access, r.Layer, r.Origin, r.Mount = a, l, origin, true
	b.add(r)
}

// sortRules puts general before special, and all that lies below a path right
// behind it.
func sortRules(rules []Rule) {
	sort.SliceStable(rules, func(i, j int) bool { return PathLess(rules[i].Path, rules[j].Path) })
}

// PathLess orders paths as a walk over the tree meets them: "/w", "/w/sub",
// "/w.b". In plain order "/w.b" comes between, and who keeps track of the place
// above would take "/w/sub" for a child of "/".
func PathLess(a, b string) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			return a[i] == '/' || b[i] != '/' && a[i] < b[i]
		}
	}
	return len(a) < len(b)
}
