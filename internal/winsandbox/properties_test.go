package winsandbox

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// randomCase makes a tree with lists of all kinds and a layout over it.
func randomCase(r *rand.Rand) (*disk, Layout) {
	tops := []string{usual, usual + "(A;OICI;FA;;;WD)", usual + "(A;OICI;0x1301bf;;;AU)(A;OICIIO;FA;;;CO)", usual + "(A;OICI;FRFX;;;BU)(A;CI;0x4;;;BU)", "(A;OICI;FA;;;S-1-5-21-1-2-3-1000)(A;OICI;FW;;;WD)"}
	d := newDisk(tops[r.IntN(len(tops))])
	dirs := []string{`C:\`}
	for i := range 6 + r.IntN(14) {
		p := strings.TrimSuffix(dirs[r.IntN(len(dirs))], `\`) + fmt.Sprintf(`\d%d`, i)
		d.add(p, winacl.Container)
		d.add(p+`\f`, winacl.Leaf)
		dirs = append(dirs, p)
	}
	l := Layout{Holder: capability(1)}
	for i := range 1 + r.IntN(3) {
		p := dirs[1+r.IntN(len(dirs)-1)]
		if !isRoot(l.Roots, p) {
			l.Roots = append(l.Roots, Root{p, capability(uint32(i + 1))})
		}
	}
	for _, p := range dirs[1:] {
		if inRoots(l.Roots, p) && !isRoot(l.Roots, p) && r.IntN(3) == 0 { // also one that holds a root: deny, allow, deny
			l.Protected = append(l.Protected, p)
		}
		if f := p + `\f`; inRoots(l.Roots, f) && r.IntN(4) == 0 {
			l.Protected, l.Files = append(l.Protected, f), append(l.Files, f)
		}
	}
	return d, l
}

func holdsRoot(l Layout, p string) bool {
	return slices.ContainsFunc(l.Roots, func(r Root) bool { return Within(p, r.Path) })
}

// TestProperties: over random trees, lists and layouts.
func TestProperties(t *testing.T) {
	for seed := range uint64(1500) {
		d, l := randomCase(rand.New(rand.NewPCG(seed, 2)))
		mine := wish(l, WriteRestricted).Model(winacl.Users)
		foreign := TokenWish{User: user, Logon: logon, Caps: []winacl.SID{capability(99)}}.Model(winacl.Users)
		free := map[string]bool{} // what anybody may write before we came
		for p, n := range d.nodes {
			free[p] = winacl.EveryoneMayWrite(n.sd, winacl.File)
		}
		l.Flagged = flaggedOutside(d, l, free)
		rng := rand.New(rand.NewPCG(seed, 5))
		for _, p := range d.paths() { // below what is protected, lists of all kinds
			if guardedIn(l, p) && rng.IntN(3) == 0 {
				free[p] = true // to others, too
				d.own(p, winacl.ACE{Mask: winacl.Mask(rng.Uint32()) & 0x1f01ff, SID: []winacl.SID{winacl.Everyone, logon, capability(1), capability(2)}[rng.IntN(4)]})
			}
		}
		d.apply(Edits(l))
		more, _ := Loose(d, l, wish(l, WriteRestricted).Restricting())
		d.apply(more)
		for p, n := range d.nodes {
			if why := violates(d, l, p, n, mine, foreign, free); why != "" {
				t.Fatalf("seed %d: %s\nlist %s\nroots %v\nprotected %v\nflagged %v", seed, why, n.sd.SDDL(), l.Roots, l.Protected, l.Flagged)
			}
		}
	}
}

func flaggedOutside(d *disk, l Layout, free map[string]bool) []string {
	var out []string
	for _, p := range d.paths() {
		if free[p] && d.nodes[p].kind == winacl.Container && !inRoots(l.Roots, p) && !holdsRoot(l, p) {
			out = append(out, p)
		}
	}
	return out
}

// guardedIn: the innermost of what is protected and what can be written decides.
func guardedIn(l Layout, p string) bool {
	guard := 0
	for _, g := range l.Protected {
		if Within(g, p) {
			guard = max(guard, len(g))
		}
	}
	for _, r := range l.Roots {
		if Within(r.Path, p) && len(r.Path) > guard {
			return false
		}
	}
	return guard > 0
}

func violates(d *disk, l Layout, p string, n *node, mine, foreign *winacl.Token, free map[string]bool) string {
	flagged := slices.ContainsFunc(l.Flagged, func(f string) bool { return Within(f, p) })
	guarded := guardedIn(l, p)
	for _, r := range winacl.Readings() {
		write := winacl.Check(n.sd, mine, winacl.WriteData, winacl.File, r)
		switch {
		case guarded && write:
			return p + " is protected and can be written"
		case guarded && r == winacl.Wide && (d.canRemove(mine, p, r) || winacl.Check(n.sd, mine, winacl.WriteDAC, winacl.File, r)):
			return p + " is protected and can be removed"
		case !guarded && inRoots(l.Roots, p) && !write:
			return p + " lies in a root and cannot be written"
		case !inRoots(l.Roots, p) && write && !(free[p] && !flagged):
			return p + " lies outside and can be written"
		case !winacl.Check(n.sd, mine, winacl.File.Read, winacl.File, r):
			return p + " cannot be read"
		case !free[p] && winacl.Check(n.sd, foreign, winacl.WriteData, winacl.File, r):
			return p + " is open to another workspace's capability"
		case r == winacl.Wide && !inRoots(l.Roots, p) && p != `C:\` && !free[p] && !free[Dir(p)] && d.canRemove(mine, p, r):
			return p + " lies outside and can be removed"
		}
	}
	return ""
}
