package winsandbox

import (
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// The rights that our entries give and take (WIN-05).
const (
	// allowHere is for a root itself: its contents may be changed, it may not be
	// removed or renamed.
	allowHere = winacl.Mask(0x1201BF) // FILE_GENERIC_READ | FILE_GENERIC_WRITE | FILE_GENERIC_EXECUTE
	// allowBelow is for everything below a root.
	//
	// SECURITY: no DELETE_CHILD in either. With it the command could delete .git, which
	// its own list protects, by a right on the directory above.
	allowBelow = allowHere | winacl.Delete
	// denyWrite takes all writing away, and the right to change the list back.
	denyWrite = winacl.WriteData | winacl.AppendData | winacl.WriteEA | winacl.WriteAttribs | winacl.Delete | winacl.DeleteChild |
		winacl.WriteDAC | winacl.WriteOwner
	// denyMove keeps a directory where it is, and what its own list protects in it.
	denyMove = winacl.Delete | winacl.DeleteChild | winacl.WriteDAC | winacl.WriteOwner
)

// Root is a directory that the command may write, with the identifier that opens it.
type Root struct {
	Path string
	SID  winacl.SID
}

// Layout is what one run opens and closes. All paths are clean and real.
type Layout struct {
	Roots     []Root   // none in read-only
	Protected []string // existing paths inside roots that stay read-only (FS-04)
	Files     []string // those of Protected that are files
	Flagged   []string // directories outside the roots that anybody may write (WIN-07)
	Holder    winacl.SID
}

// SIDs gives every capability of the run, each once: of the roots, and the one that
// stands for the workspace when nothing is writable.
func (l Layout) SIDs() []winacl.SID {
	var out []winacl.SID
	for _, r := range l.Roots {
		if !slices.Contains(out, r.SID) {
			out = append(out, r.SID)
		}
	}
	if !l.Holder.IsZero() && !slices.Contains(out, l.Holder) {
		out = append(out, l.Holder)
	}
	return out
}

// Edit is one entry that goes into the list of one path.
type Edit struct {
	Path string
	ACE  winacl.ACE
	Why  string
}

// Edits computes every entry of a run: grants on roots, denials on what is protected
// in them, denials that keep the way there in its place, and denials on directories
// outside that anybody may write.
func Edits(l Layout) []Edit {
	var out []Edit
	sids := l.SIDs()
	for _, r := range l.Roots {
		out = append(out,
			Edit{r.Path, winacl.ACE{Type: winacl.Deny, Mask: denyMove, SID: r.SID}, "a root is not moved"},
			Edit{r.Path, winacl.ACE{Type: winacl.Allow, Mask: allowHere, SID: r.SID}, "writable root"},
			Edit{r.Path, winacl.ACE{Type: winacl.Allow, Flags: winacl.Inherit | winacl.InheritOnly, Mask: allowBelow, SID: r.SID}, "writable root, below"})
	}
	for _, p := range pins(l) {
		// The identifier of the innermost root is enough: one denial settles a right for the whole second check.
		out = append(out, Edit{p, winacl.ACE{Type: winacl.Deny, Mask: denyMove, SID: sidAt(l.Roots, p)}, "holds something protected"})
	}
	for _, p := range l.Protected {
		flags := winacl.Inherit
		if slices.Contains(l.Files, p) {
			flags = 0 // nothing inherits from a file, and Windows may leave the flags out: the entry would not be the one we look for
		}
		for _, r := range l.Roots {
			if Within(r.Path, p) {
				out = append(out, Edit{p, winacl.ACE{Type: winacl.Deny, Flags: flags, Mask: denyWrite, SID: r.SID}, "protected"})
			}
		}
	}
	for _, p := range l.Flagged {
		if len(sids) > 0 && !inRoots(l.Roots, p) {
			out = append(out, Edit{p, winacl.ACE{Type: winacl.Deny, Flags: winacl.Inherit, Mask: denyWrite, SID: sids[0]}, "anybody may write there"})
		}
	}
	return unique(out)
}

// Paths lists the paths of edits, each once, in their order.
func Paths(edits []Edit) []string {
	var out []string
	seen := map[string]bool{}
	for _, e := range edits {
		if !seen[e.Path] {
			out, seen[e.Path] = append(out, e.Path), true
		}
	}
	return out
}

// ACEs gives the entries for one path.
func ACEs(edits []Edit, p string) []winacl.ACE {
	var out []winacl.ACE
	for _, e := range edits {
		if e.Path == p {
			out = append(out, e.ACE)
		}
	}
	return out
}

// Stale tells which records are denials that ended runs have left and this one's policy no
// longer has: what was kept from being written then would else be so for ever.
func Stale(edits []Edit, sids []winacl.SID, running func(winacl.Record) bool) func(winacl.Record) bool {
	wanted := map[winacl.Record]bool{}
	for _, e := range edits {
		wanted[winacl.NewRecord(fold(e.Path), e.ACE)] = true
	}
	return func(r winacl.Record) bool {
		return r.Keep && r.Type == "deny" && slices.Contains(sids, r.SID) && !wanted[winacl.NewRecord(fold(r.Path), r.ACE())] && !running(r)
	}
}

func unique(list []Edit) []Edit {
	seen := map[winacl.Record]bool{} // of entries that we make, it says all
	return slices.DeleteFunc(list, func(e Edit) bool {
		k := winacl.NewRecord(fold(e.Path), e.ACE)
		again := seen[k]
		seen[k] = true
		return again
	})
}

// pins lists the directories between a root and what is protected in it.
func pins(l Layout) []string {
	var out []string
	for _, p := range l.Protected {
		for d := Dir(p); inRoots(l.Roots, d) && !isRoot(l.Roots, d) && len(d) > 3; d = Dir(d) {
			if !slices.ContainsFunc(out, func(o string) bool { return fold(o) == fold(d) }) {
				out = append(out, d)
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(fold(a), fold(b)) })
	return out
}

func inRoots(roots []Root, p string) bool {
	return slices.ContainsFunc(roots, func(r Root) bool { return Within(r.Path, p) })
}

func isRoot(roots []Root, p string) bool {
	return slices.ContainsFunc(roots, func(r Root) bool { return fold(r.Path) == fold(p) })
}

// sidAt gives the identifier of the innermost root around a path.
func sidAt(roots []Root, p string) winacl.SID {
	var best Root
	for _, r := range roots {
		if Within(r.Path, p) && len(r.Path) > len(best.Path) {
			best = r
		}
	}
	return best.SID
}
