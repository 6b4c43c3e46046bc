package seccomp

import "fmt"

// Data is what a filter looks at: struct seccomp_data.
type Data struct {
	Nr   uint32
	Arch uint32 // AUDIT_ARCH_*
	IP   uint64
	Args [6]uint64
}

// word returns the 32 bits at a byte offset, as the kernel's loads do.
func (d *Data) word(off uint32) (uint32, bool) {
	switch {
	case off == offNr:
		return d.Nr, true
	case off == offArch:
		return d.Arch, true
	case off == 8:
		return uint32(d.IP), true
	case off == 12:
		return uint32(d.IP >> 32), true
	case off >= offArgs && off < offArgs+48 && off%4 == 0:
		return uint32(d.Args[(off-offArgs)/8] >> (off % 8 * 8)), true
	}
	return 0, false
}

// Eval runs the program as the kernel would and returns its verdict. A program
// that the kernel would not take gives RetKillProcess; [Trace] says why.
func Eval(p Program, d Data) uint32 {
	ret, _, err := Trace(p, d)
	if err != nil {
		return RetKillProcess
	}
	return ret
}

// Trace is Eval that also counts the instructions run and says what is wrong
// with a broken program.
func Trace(p Program, d Data) (ret uint32, steps int, err error) {
	var a uint32
	for pc := 0; pc < len(p); pc++ {
		i := p[pc]
		steps++
		taken := false
		switch i.Code {
		case opRet:
			return i.K, steps, nil
		case opLoad:
			v, ok := d.word(i.K)
			if !ok {
				return 0, steps, fmt.Errorf("instruction %d loads offset %d", pc, i.K)
			}
			a = v
			continue
		case opAnd:
			a &= i.K
			continue
		case opJump:
			pc += int(i.K)
			continue
		case opJeq:
			taken = a == i.K
		case opJge:
			taken = a >= i.K
		case opJset:
			taken = a&i.K != 0
		default:
			return 0, steps, fmt.Errorf("instruction %d has code %#x", pc, i.Code)
		}
		if taken {
			pc += int(i.Jt)
		} else {
			pc += int(i.Jf)
		}
	}
	return 0, steps, fmt.Errorf("the program has no end (%d instructions)", len(p))
}
