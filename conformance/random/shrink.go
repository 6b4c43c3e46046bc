package random

import "slices"

// Shrink makes a failing world smaller, as long as fails says that it still fails:
// one operation, then as few names and rules as it takes.
func Shrink(w World, op Op, fails func(World) bool) World {
	try := func(next World) bool {
		if !fails(next) {
			return false
		}
		w = next
		return true
	}
	single := w
	single.Ops = []Op{op}
	try(single) // an operation that needs another before it stays with all of them
	for again := true; again; {
		again = false
		for i := len(w.Nodes) - 1; i >= 0; i-- {
			again = i < len(w.Nodes) && try(w.withoutNode(w.Nodes[i].Path)) || again
		}
		for list := range 5 {
			for i := len(*w.Rules.list(list)) - 1; i >= 0; i-- {
				again = try(w.withoutRule(list, i)) || again
			}
		}
	}
	plain := w
	plain.Rules.Prevent = false
	if w.Rules.Prevent {
		try(plain)
	}
	return w
}

// withoutNode leaves a name out, and what needs it.
func (w World) withoutNode(path string) World {
	w.Nodes = slices.DeleteFunc(slices.Clone(w.Nodes), func(n Node) bool { return n.Path == path || n.needs(path) })
	return w
}

func (r *Rules) list(i int) *[]string {
	return []*[]string{&r.Writable, &r.Readable, &r.DenyRead, &r.DenyWrite, &r.AllowProtected}[i]
}

// withoutRule leaves one entry out.
func (w World) withoutRule(list, i int) World {
	l := w.Rules.list(list)
	*l = slices.Delete(slices.Clone(*l), i, i+1)
	return w
}
