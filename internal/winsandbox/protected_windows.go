package winsandbox

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/protect"
)

// denied resolves --deny-write.
//
// SECURITY: by the real path. A short name (8.3) or other letter case in a root's name
// would lie in no root by its spelling, and be left out.
func (r *run) denied() error {
	for _, p := range r.DenyWrite {
		clean, err := CleanPath("--deny-write", p)
		if err != nil {
			return err
		}
		h, real, err := openNoFollow(clean, windows.READ_CONTROL)
		if errors.Is(err, fs.ErrNotExist) {
			r.out.notice("deny-write:missing", p+" is not there: nothing is kept from being written at it")
			continue
		}
		if err != nil {
			return err
		}
		windows.CloseHandle(h)
		if inList(r.roots, real) {
			return fault.New(fault.PolicyInvalid, "keep --deny-write", p, "it is one of the writable roots; leave it out of one of the two")
		}
		r.deny = append(r.deny, real)
	}
	return nil
}

// protected finds what stays read-only in the roots: each root's own .git as a whole,
// the names of policy/protected.json, and what the caller names (FS-04, WN-07). A
// caller that looks for new names has looked for those that exist, too.
func (r *run) protected() error {
	for _, root := range r.roots {
		r.protect(root + `\.git`)
	}
	for _, p := range r.deny {
		r.protect(p)
	}
	if r.NewNames == NewNamesCallers {
		return nil
	}
	r.watch.found = protect.Scan(r.watch.h, r.roots, []string{r.at.Home}, nil, protect.Limits{})
	found := r.watch.found
	for _, it := range found.Items {
		if it.Action != protect.Watch && it.Action != protect.Pin {
			r.protect(it.Path)
		}
	}
	if n := len(found.NotWalked); n > 0 {
		r.out.notice("protected:not-walked", "protected names were not looked for everywhere: "+found.NotWalked[0])
	}
	return nil
}

// protect adds a path that is there. A symbolic link has no list that would be asked:
// where it leads is protected by itself, and the look at the end sees another link.
func (r *run) protect(p string) {
	l := &r.layout
	clean, err := CleanPath("protected", p)
	if err != nil {
		r.out.notice("protected:not-kept", err.Error())
		return
	}
	if !inRoots(l.Roots, clean) || isRoot(l.Roots, clean) || inList(l.Protected, clean) {
		return
	}
	st, err := os.Lstat(clean)
	switch {
	case err != nil:
		return
	case st.Mode()&fs.ModeSymlink != 0:
		r.out.notice("protected:link", clean+" is a symbolic link; it is looked at when the run has ended")
		return
	case !st.IsDir():
		l.Files = append(l.Files, clean)
	}
	l.Protected = append(l.Protected, clean)
}
