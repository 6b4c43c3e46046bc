package spec

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// ErrChanged says that a path changed while the policy was being bound. To bind
// again is the right answer.
var ErrChanged = errors.New("it changed while the sandbox was being built")

// freshLink is how old a link must be to be followed: longer than the scheduler
// lets one who swaps all the time wait. A link that its owner made just before the
// start is old enough at the second or third attempt.
const freshLink = 250 * time.Millisecond

// maxLinks is the kernel's own limit on links in one path (path_resolution(7)).
const maxLinks = 40

// link is a symbolic link on the way to a path, by its real place.
type link struct {
	at      string
	changed time.Time
}

// trusted looks at the links that a path of the policy goes through.
//
// SECURITY: a link in a writable root may have been planted by an earlier run and
// grants nothing outside that root (FS-09). One that appeared since Bind began is a
// swap: whoever swaps a directory for a link and back must not choose what becomes
// writable (FS-06). The links are taken from the walk that found the place, not
// looked for afterwards, when they may be directories again.
func (b *binder) trusted(field string, r Rule) error {
	if r.Path == r.Given || !b.s.Isolated() || b.h.GOOS == "windows" {
		return nil
	}
	real, links, err := follow(b.h, r.Given)
	if err != nil {
		return fault.Wrap(fault.PathInvalid, "resolve "+field, r.Given, err)
	}
	if real != r.Path && !b.otherForm(real, r) {
		return fault.Wrap(fault.PathInvalid, "resolve "+field, r.Given, ErrChanged)
	}
	for _, l := range links {
		if l.changed.After(b.began.Add(-freshLink)) {
			return fault.Wrap(fault.PathInvalid, "resolve "+field, r.Given, ErrChanged).WithHint("the link " + l.at + " was made just now")
		}
		for _, root := range b.roots {
			if Within(root.Path, filepath.Dir(l.at)) && !Within(root.Path, r.Path) {
				return fault.New(fault.PathInvalid, "use "+field, r.Given,
					"it goes through the link "+l.at+", which lies in a writable root and may have been planted; name the target "+r.Path+" if you mean it")
			}
		}
	}
	return nil
}

// otherForm tells whether a path without links is the place of a rule in another
// form: macOS gives the name on the disk, in its own case.
func (b *binder) otherForm(path string, r Rule) bool {
	if !foldsCase(b.h.GOOS) {
		return false
	}
	if r.Kind == Missing {
		return strings.EqualFold(path, r.Path)
	}
	st, err := b.h.Lstat(path)
	return err == nil && !st.IsLink() && r.ID == ID{st.Dev, st.Ino}
}

// follow walks a path as the kernel does and tells the links that it went through.
// What does not exist is taken as it is written.
func follow(h host.Host, path string) (real string, links []link, err error) {
	cur, rest := "/", strings.Split(path, "/")
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			cur = filepath.Dir(cur)
			continue
		}
		p := filepath.Join(cur, part)
		st, err := h.Lstat(p)
		if err != nil || !st.IsLink() {
			cur = p
			continue
		}
		if links = append(links, link{p, st.Changed}); len(links) > maxLinks {
			return "", nil, errors.New("too many links")
		}
		target, err := h.Readlink(p)
		if err != nil {
			return "", nil, err
		}
		if filepath.IsAbs(target) {
			cur = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return cur, links, nil
}
