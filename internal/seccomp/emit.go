package seccomp

import "slices"

// label is a place in a program under construction: how many instructions lie
// from it to the end, itself included. It stays valid as code is put in front.
type label int

// assembler writes a program from its end to its start. Classic BPF jumps only
// forward, so written backwards every target is known when its jump is written.
type assembler struct {
	rev  []Insn // the program, last instruction first
	rets []ret  // the newest "return" of each verdict, for sharing
}

type ret struct {
	verdict uint32
	at      label
}

// put adds an instruction in front and returns its place.
func (a *assembler) put(i Insn) label {
	a.rev = append(a.rev, i)
	return label(len(a.rev))
}

// maxSkip is the farthest a conditional jump goes; nearReturn is how far off a
// "return" may be to be shared, with room for what comes between.
const (
	maxSkip    = 255
	nearReturn = 200
)

// skip is how many instructions a jump written now passes over to reach to.
func (a *assembler) skip(to label) int { return len(a.rev) - int(to) }

// ret returns the place of a "return verdict", writing one unless one is near.
func (a *assembler) ret(v uint32) label {
	for i := range a.rets {
		if a.rets[i].verdict == v {
			if a.skip(a.rets[i].at) > nearReturn {
				a.rets[i].at = a.put(Insn{Code: opRet, K: v})
			}
			return a.rets[i].at
		}
	}
	at := a.put(Insn{Code: opRet, K: v})
	a.rets = append(a.rets, ret{v, at})
	return at
}

// jump writes a conditional jump. A target that is too far off for its 8 bits is
// reached by way of an unconditional one.
func (a *assembler) jump(code uint16, k uint32, yes, no label) label {
	if a.skip(no) > maxSkip-1 {
		no = a.put(Insn{Code: opJump, K: uint32(a.skip(no))})
	}
	if a.skip(yes) > maxSkip {
		yes = a.put(Insn{Code: opJump, K: uint32(a.skip(yes))})
	}
	return a.put(Insn{Code: code, Jt: uint8(a.skip(yes)), Jf: uint8(a.skip(no)), K: k})
}

// program returns the finished program, in order.
func (a *assembler) program() Program {
	p := Program(a.rev)
	slices.Reverse(p)
	return p
}

// test is the code of one condition: full loads the argument first, bare takes
// the argument as loaded.
type test struct {
	full, bare label
	arg        int
}

// after is where to go on to t when argument arg is in the accumulator (-1: none is).
func (t test) after(arg int) label {
	if arg >= 0 && arg == t.arg {
		return t.bare
	}
	return t.full
}

// leaves is the argument that a condition leaves in the accumulator, -1 for none.
func (c Cond) leaves() int {
	if c.Op == MaskedEq { // the AND overwrites it
		return -1
	}
	return int(c.Arg)
}

// rows writes the code of one call: the rows in force, the last without conditions.
func (a *assembler) rows(rs []Rule) label {
	last := rs[len(rs)-1]
	end := a.ret(verdict(last.Action, last.Errno))
	next := test{full: end, bare: end, arg: -1}
	for i := len(rs) - 2; i >= 0; i-- {
		hit := a.ret(verdict(rs[i].Action, rs[i].Errno))
		next = a.row(rs, i, test{full: hit, bare: hit, arg: -1}, next)
	}
	return next.full
}

// row writes the conditions of rs[i], the last one first.
func (a *assembler) row(rs []Rule, i int, hit, miss test) test {
	when := rs[i].When
	for j := len(when) - 1; j >= 0; j-- {
		c := when[j]
		t := test{arg: int(c.Arg)}
		t.bare = a.compare(c, hit.after(c.leaves()), miss.after(c.leaves()))
		t.full = t.bare
		if needsLoad(rs, i, j) {
			t.full = a.put(Insn{Code: opLoad, K: argLow(c.Arg)})
		}
		hit = t
	}
	return hit
}

// needsLoad reports whether some way to condition j of rs[i] comes without its
// argument in the accumulator.
func needsLoad(rs []Rule, i, j int) bool {
	arg := int(rs[i].When[j].Arg)
	if j > 0 {
		return rs[i].When[j-1].leaves() != arg
	}
	if i == 0 {
		return true
	}
	for _, c := range rs[i-1].When {
		if c.leaves() != arg {
			return true
		}
	}
	return false
}

// compare writes the comparison alone; the argument is in the accumulator.
func (a *assembler) compare(c Cond, yes, no label) label {
	switch c.Op {
	case AnyBits:
		return a.jump(opJset, c.Mask, yes, no)
	case MaskedEq:
		a.jump(opJeq, c.Value, yes, no)
		return a.put(Insn{Code: opAnd, K: c.Mask})
	case In:
		at := no
		for _, v := range slices.Backward(c.Set) {
			at = a.jump(opJeq, v, yes, at)
		}
		return at
	}
	return a.jump(opJeq, c.Value, yes, no)
}
