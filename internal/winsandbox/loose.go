package winsandbox

import (
	"fmt"
	"slices"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// Bounds of the look below protected directories.
const (
	looseEntries = 4096
	looseTime    = time.Second
)

// Loose looks, when the entries of Edits are in the lists, for what lies below a protected
// directory and can be written all the same, and gives the denials that it needs itself.
// missed is the first thing that it did not see, "" when it saw all.
//
// SECURITY: a denial that is inherited comes after a file's own grants. And what is moved
// into a directory keeps the list of where it was: a hook that the user moves from the
// workspace to .git\hooks would stay writable for the command.
func Loose(d Disk, l Layout, restricting []winacl.SID) (out []Edit, missed string) {
	w := looseWalk{d: d, l: l, restricting: restricting, seen: map[string]bool{}}
	for _, p := range l.Protected {
		w.seen[fold(p)] = true // it has its own denial
		if !slices.Contains(l.Files, p) {
			w.queue = append(w.queue, p)
		}
	}
	for len(w.queue) > 0 && !w.full {
		dir := w.queue[0]
		w.queue = w.queue[1:]
		w.list(dir)
	}
	return w.out, w.first
}

type looseWalk struct {
	d           Disk
	l           Layout
	restricting []winacl.SID
	seen        map[string]bool
	queue       []string // near ones first
	looked      int
	out         []Edit
	full        bool   // a bound was met
	first       string // the first thing that was not seen
}

// missed notes what was not looked at.
func (w *looseWalk) missed(why string) {
	if w.first == "" {
		w.first = why
	}
}

func (w *looseWalk) list(dir string) {
	entries, err := w.d.Children(dir)
	if err != nil {
		w.missed(dir + ": " + err.Error())
		return
	}
	for _, e := range entries {
		p := dir + `\` + e.Name
		switch {
		case e.Link, w.seen[fold(p)], isRoot(w.l.Roots, p):
			continue
		case w.looked >= looseEntries:
			w.missed(fmt.Sprintf("%d entries", looseEntries))
			w.full = true
			return
		case w.d.Since() >= looseTime:
			w.missed(looseTime.String())
			w.full = true
			return
		}
		w.looked++
		w.look(p, e.Dir)
	}
}

func (w *looseWalk) look(p string, dir bool) {
	flags := winacl.Flags(0)
	if dir {
		w.queue = append(w.queue, p)
		flags = winacl.Inherit
	}
	sd, err := w.d.Security(p)
	if err != nil {
		w.missed(p + ": " + err.Error())
		return
	}
	if !winacl.MayWrite(sd, winacl.File, w.restricting) {
		return
	}
	for _, r := range w.l.Roots {
		if Within(r.Path, p) {
			w.out = append(w.out, Edit{p, winacl.ACE{Type: winacl.Deny, Flags: flags, Mask: denyWrite, SID: r.SID}, "protected, with a list of its own"})
		}
	}
}
