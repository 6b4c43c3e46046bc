package seccomp

import (
	"fmt"
	"slices"
	"sync"
)

// arch is what the filter must know of an architecture.
type arch struct {
	audit uint32 // AUDIT_ARCH_*, of include/uapi/linux/audit.h
	x32   bool   // has the x32 calls, whose numbers have bit 30 set
}

// archOf finds an architecture by its GOARCH name.
func archOf(name string) (arch, bool) {
	switch name {
	case "amd64":
		return arch{audit: AuditAMD64, x32: true}, true
	case "arm64":
		return arch{audit: AuditARM64}, true
	}
	return arch{}, false
}

// Architecture numbers as the kernel hands them to a filter.
const (
	AuditAMD64 uint32 = 0xc000003e // AUDIT_ARCH_X86_64
	AuditARM64 uint32 = 0xc00000b7 // AUDIT_ARCH_AARCH64
)

// x32Bit is __X32_SYSCALL_BIT. The number -1 has it too but is no x32 call: it
// is what a tracer writes to skip a call, and gets ENOSYS.
const (
	x32Bit = 0x40000000
	noCall = 0xffffffff
)

// compiled keeps the programs made so far that are not in precompiled.go.
var compiled sync.Map // Options → Program

// Compile makes the filter for the options. The caller owns the result.
//
// The usual options are looked up in precompiled.go, which a test holds to what
// compile makes: in a process that runs one command and ends, the compiler's first
// run costs ten times its later ones, all of it page faults.
func Compile(o Options) (Program, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if text := precompiled(o); text != "" {
		return decode(text), nil
	}
	if p, ok := compiled.Load(o); ok {
		return slices.Clone(p.(Program)), nil
	}
	p, err := compile(o)
	if err != nil {
		return nil, err
	}
	compiled.Store(o, p)
	return slices.Clone(p), nil
}

// compile builds a program: the architecture, then a search tree over the numbers.
func compile(o Options) (Program, error) {
	ar, _ := archOf(o.Arch)
	b := builder{opts: o, asm: assembler{rev: make([]Insn, 0, 512), rets: make([]ret, 0, 8)}}
	b.tree(b.runs(ar))
	b.asm.put(Insn{Code: opLoad, K: offNr})
	// SECURITY: a number means another call on another architecture (int 0x80 on
	// amd64, 32-bit code on both), so nothing else is looked at before this.
	b.asm.put(Insn{Code: opRet, K: RetKillProcess})
	b.asm.put(Insn{Code: opJeq, Jt: 1, K: ar.audit})
	b.asm.put(Insn{Code: opLoad, K: offArch})
	p := b.asm.program()
	if len(p) > MaxInsns {
		return nil, fmt.Errorf("seccomp: the filter has %d instructions, the kernel takes %d", len(p), MaxInsns)
	}
	return p, nil
}

// builder holds what one compilation needs.
type builder struct {
	opts Options
	asm  assembler
}

// answer is what the filter does with a number: return ret or, where group is
// set, look at arguments by the rows from rules[group-1] on.
type answer struct {
	ret   uint32
	group uint16
}

// run is a stretch of numbers, from first to the next run's first, with one answer.
type run struct {
	first  uint32
	ans    answer
	weight int
}

// Weights of a call that is hot and of one that is not.
const (
	hotWeight  = 32
	coldWeight = 1
)

// runs lists the answers for all 2^32 numbers, in order.
func (b *builder) runs(ar arch) []run {
	var table [Newest + 1]run // first is not used
	for i := range table {
		// SECURITY: a number that no row names is refused, never passed.
		table[i] = run{ans: answer{ret: verdict(Refuse, ENOSYS)}, weight: coldWeight}
	}
	b.fill(&table)
	out := make([]run, 0, 192)
	for nr, r := range table {
		if n := len(out); n > 0 && out[n-1].ans == r.ans {
			out[n-1].weight += r.weight
			continue
		}
		r.first = uint32(nr)
		out = append(out, r)
	}
	out = append(out, run{first: Newest + 1, ans: answer{ret: verdict(Refuse, ENOSYS)}, weight: coldWeight})
	if ar.x32 {
		out = append(out,
			run{first: x32Bit, ans: answer{ret: RetKillProcess}, weight: coldWeight},
			run{first: noCall, ans: answer{ret: verdict(Refuse, ENOSYS)}, weight: coldWeight})
	}
	return out
}

// fill writes the table's rows into an array by number.
func (b *builder) fill(table *[Newest + 1]run) {
	for _, c := range plain {
		nr := c.arm64
		if b.opts.Arch == "amd64" {
			nr = c.amd64
		}
		if nr != none {
			table[nr] = run{ans: answer{ret: RetAllow}, weight: weightOf(c.hot)}
		}
	}
	for start := 0; start < len(rules); start = groupEnd(start) {
		if nr, ok := rules[start].Number(b.opts.Arch); ok {
			table[nr] = run{ans: b.answer(start), weight: weightOf(rules[start].hot)}
		}
	}
}

func weightOf(hot bool) int {
	if hot {
		return hotWeight
	}
	return coldWeight
}

// groupEnd is the index after the last row of the call at start.
func groupEnd(start int) int {
	end := start + 1
	for end < len(rules) && rules[end].Call == rules[start].Call {
		end++
	}
	return end
}

// answer decides whether the call at start needs a look at its arguments.
func (b *builder) answer(start int) answer {
	for i := start; ; i++ { // every call's last row is unconditional: a test holds the table to it
		if !rules[i].Gate.open(b.opts) {
			continue
		}
		if len(rules[i].When) > 0 {
			return answer{group: uint16(start + 1)}
		}
		return answer{ret: verdict(rules[i].Action, rules[i].Errno)}
	}
}

// inForce returns the rows of the call at start that the options put in force,
// up to the first without conditions.
func (b *builder) inForce(start int) []Rule {
	out := make([]Rule, 0, 8)
	for i := start; i < groupEnd(start); i++ {
		if rules[i].Gate.open(b.opts) {
			out = append(out, rules[i])
			if len(rules[i].When) == 0 {
				break
			}
		}
	}
	return out
}

// tree writes a search tree over the runs, split where both sides are as heavy.
func (b *builder) tree(rs []run) label {
	if len(rs) == 1 {
		return b.leaf(rs[0].ans)
	}
	at := balance(rs)
	right := b.tree(rs[at:])
	left := b.tree(rs[:at])
	return b.asm.jump(opJge, rs[at].first, right, left)
}

// leaf writes an answer.
func (b *builder) leaf(a answer) label {
	if a.group == 0 {
		return b.asm.ret(a.ret)
	}
	return b.asm.rows(b.inForce(int(a.group) - 1))
}

// balance finds the cut that leaves the two sides closest in weight.
func balance(rs []run) int {
	total, left := 0, 0
	for _, r := range rs {
		total += r.weight
	}
	best, at := total+1, 1
	for i := 1; i < len(rs); i++ {
		left += rs[i-1].weight
		if d := max(2*left-total, total-2*left); d < best {
			best, at = d, i
		}
	}
	return at
}
