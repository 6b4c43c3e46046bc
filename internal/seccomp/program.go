package seccomp

import "encoding/binary"

// Insn is one instruction of classic BPF: struct sock_filter of
// include/uapi/linux/filter.h.
type Insn struct {
	Code   uint16
	Jt, Jf uint8 // instructions to skip when a comparison is true, false
	K      uint32
}

// Program is a filter in the form that the kernel takes.
type Program []Insn

// MaxInsns is the kernel's limit, BPF_MAXINSNS.
const MaxInsns = 4096

// insnSize is sizeof(struct sock_filter).
const insnSize = 8

// Bytes encodes the program as an array of struct sock_filter, little-endian as
// on amd64 and arm64: what sock_fprog points to, and what bwrap's --seccomp reads.
func (p Program) Bytes() []byte {
	out := make([]byte, 0, len(p)*insnSize)
	for _, i := range p {
		out = binary.LittleEndian.AppendUint16(out, i.Code)
		out = append(out, i.Jt, i.Jf)
		out = binary.LittleEndian.AppendUint32(out, i.K)
	}
	return out
}

// decode is the inverse of Bytes.
func decode(b string) Program {
	p := make(Program, len(b)/insnSize)
	for i := range p {
		c := b[i*insnSize : (i+1)*insnSize]
		p[i] = Insn{
			Code: uint16(c[0]) | uint16(c[1])<<8, Jt: c[2], Jf: c[3],
			K: uint32(c[4]) | uint32(c[5])<<8 | uint32(c[6])<<16 | uint32(c[7])<<24,
		}
	}
	return p
}

// The instructions that the compiler uses, of include/uapi/linux/bpf_common.h.
const (
	opLoad = 0x20 // BPF_LD | BPF_W | BPF_ABS
	opJump = 0x05 // BPF_JMP | BPF_JA
	opJeq  = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	opJge  = 0x35 // BPF_JMP | BPF_JGE | BPF_K
	opJset = 0x45 // BPF_JMP | BPF_JSET | BPF_K
	opAnd  = 0x54 // BPF_ALU | BPF_AND | BPF_K
	opRet  = 0x06 // BPF_RET | BPF_K
)

// What a filter returns, of include/uapi/linux/seccomp.h. The low 16 bits are
// data: the errno of RetErrno.
const (
	RetKillProcess uint32 = 0x80000000
	RetErrno       uint32 = 0x00050000
	RetUserNotif   uint32 = 0x7fc00000
	RetAllow       uint32 = 0x7fff0000
)

// Offsets in struct seccomp_data. The low half of a little-endian argument comes first.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

// argLow is the offset of the low 32 bits of an argument.
func argLow(arg uint8) uint32 { return offArgs + 8*uint32(arg) }

// verdict is what the filter returns for an action.
func verdict(a Action, e Errno) uint32 {
	switch a {
	case Allow:
		return RetAllow
	case Notify:
		return RetUserNotif
	case Refuse:
		return RetErrno | uint32(e)
	}
	return RetKillProcess
}
