package inside

import (
	"errors"
	"fmt"
	"strings"
)

// Slot is a place for the result of a call, for use as an argument of a later one, also of a later program of the same
// process family (Init to Command; not from Setup, which runs before an exec).
type Slot int

// Data is a piece of the blob.
type Data struct {
	owner *Builder
	off   uint64 // in the data area
	size  uint64
}

type argKind uint8

const (
	argImm argKind = iota
	argSlot
	argString
	argBytes
	argBuffer
	argData
)

// Arg is an argument of a call; see Imm, Int, Str, Bytes, Buf, FromSlot, Ref and RefAt.
type Arg struct {
	kind   argKind
	value  uint64
	text   string
	bytes  []byte
	buffer *buffer
	data   Data
}

// buffer is shared by all copies of an Arg made by Buf; the first use gives it its place.
type buffer struct {
	size int
	data Data
}

// Imm is a number.
func Imm(v uint64) Arg { return Arg{kind: argImm, value: v} }

// Int is a number that may be negative (AT_FDCWD, -1).
func Int(v int) Arg { return Arg{kind: argImm, value: uint64(int64(v))} }

// Str is a pointer to a NUL-terminated copy of s. Equal strings share one copy, so a call must not write to it. A NUL in
// s is an error of Build.
func Str(s string) Arg { return Arg{kind: argString, text: s} }

// Bytes is a pointer to a copy of p, aligned to 8.
func Bytes(p []byte) Arg { return Arg{kind: argBytes, bytes: p} }

// Buf is a pointer to n bytes of zeros, aligned to 8, for a call to write to. All uses of one value are the same buffer;
// it belongs to the builder that sees it first.
func Buf(n int) Arg { return Arg{kind: argBuffer, buffer: &buffer{size: n}} }

// FromSlot is the value of a slot at the time of the call.
func FromSlot(s Slot) Arg { return Arg{kind: argSlot, value: uint64(int64(s))} }

// Ref is a pointer to d.
func Ref(d Data) Arg { return Arg{kind: argData, data: d} }

// RefAt is a pointer to byte off of d.
func RefAt(d Data, off int) Arg { return Arg{kind: argData, data: d, value: uint64(int64(off))} }

const chunkSize = 64

// Builder collects programs and data. It is for one goroutine; errors are kept until Build.
type Builder struct {
	isolated bool
	err      error
	slots    int
	calls    [programCount][]*[chunkSize]Call // in chunks, so that a *Call stays good
	counts   [programCount]int
	labels   []string
	data     []byte
	strings  map[string]Data
	relocs   []uint64 // offsets in the data area of words that point into the data area
	bytesFD  Data     // payload of SendFD, made once
}

// NewBuilder starts an empty image. isolated says that the init will be PID 1 of a pid namespace of its own.
func NewBuilder(isolated bool) *Builder {
	return &Builder{
		isolated: isolated,
		labels:   make([]string, 0, 2*chunkSize),
		data:     make([]byte, 0, 4096),
		strings:  make(map[string]Data, chunkSize),
	}
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// NewSlot reserves a slot; there are 64.
func (b *Builder) NewSlot() Slot {
	if b.slots == slotCount {
		b.fail(errors.New("inside: more than 64 slots"))
		return 0
	}
	b.slots++
	return Slot(b.slots - 1)
}

// Data puts a copy of p into the blob, aligned to 8.
func (b *Builder) Data(p []byte) Data {
	d := b.reserve(len(p))
	copy(b.data[d.off:], p)
	return d
}

// reserve makes n zeroed bytes, aligned to 8.
func (b *Builder) reserve(n int) Data {
	if n < 0 || n > maxBlobSize {
		b.fail(fmt.Errorf("inside: buffer of %d bytes", n))
		n = 0
	}
	off := (len(b.data) + 7) &^ 7
	b.grow(off - len(b.data) + n)
	return Data{owner: b, off: uint64(off), size: uint64(n)}
}

// grow appends n zero bytes.
func (b *Builder) grow(n int) {
	if n <= cap(b.data)-len(b.data) {
		old := len(b.data)
		b.data = b.data[:old+n]
		clear(b.data[old:])
		return
	}
	b.data = append(b.data, make([]byte, n)...)
}

func (b *Builder) text(s string) Data {
	if d, ok := b.strings[s]; ok {
		return d
	}
	if strings.IndexByte(s, 0) >= 0 {
		b.fail(fmt.Errorf("inside: string %q has a NUL", s))
		return Data{owner: b}
	}
	d := Data{owner: b, off: uint64(len(b.data)), size: uint64(len(s)) + 1}
	b.data = append(b.data, s...)
	b.data = append(b.data, 0)
	b.strings[s] = d
	return d
}

// Strings is a NULL-terminated array of pointers to strings: argv or envp.
func (b *Builder) Strings(list []string) Data {
	d := b.reserve(8 * (len(list) + 1))
	for i, s := range list {
		b.putPointer(d.off+8*uint64(i), b.text(s).off)
	}
	return d
}

// Pointers is an array of words, each a number (Imm, Int) or a pointer into the blob (all others except FromSlot): an
// iovec, a msghdr, a sock_fprog.
func (b *Builder) Pointers(words ...Arg) Data {
	d := b.reserve(8 * len(words))
	for i, w := range words {
		at := d.off + 8*uint64(i)
		switch w.kind {
		case argImm:
			putU64(b.data[at:], w.value)
		case argSlot:
			b.fail(errors.New("inside: a slot in a pointer array; use Store32"))
		default:
			b.putPointer(at, b.place(w))
		}
	}
	return d
}

func (b *Builder) putPointer(at, target uint64) {
	putU64(b.data[at:], target) // data-relative until Build
	b.relocs = append(b.relocs, at)
}

// place returns the offset in the data area of an argument that is a pointer, putting it there if need be.
func (b *Builder) place(a Arg) uint64 {
	switch a.kind {
	case argString:
		return b.text(a.text).off
	case argBytes:
		return b.Data(a.bytes).off
	case argBuffer:
		if a.buffer.data.owner == nil {
			a.buffer.data = b.reserve(a.buffer.size)
		}
		return b.inside(a.buffer.data, 0)
	case argData:
		return b.inside(a.data, a.value)
	}
	b.fail(errors.New("inside: a pointer is wanted, not a number"))
	return 0
}

func (b *Builder) inside(d Data, off uint64) uint64 {
	if d.owner != b {
		b.fail(errors.New("inside: data or buffer of another builder"))
	} else if off > d.size {
		b.fail(fmt.Errorf("inside: offset %d is outside data of %d bytes", int64(off), d.size))
	}
	return d.off + off
}

// Call is one instruction; the methods qualify it and return it again.
type Call struct {
	b     *Builder
	nr    uint32
	flags uint32
	dst   int32
	step  uint32
	ok    uint32
	skip  uint32
	args  [6]uint64
}

// Call appends a system call to program p. label says in messages what the call is for. An error of the call stops the
// program unless Ignore or Tolerate say otherwise.
func (b *Builder) Call(p Program, label string, nr uintptr, args ...Arg) *Call {
	if nr >= pseudoFirst {
		b.fail(fmt.Errorf("inside: %s: no system call has the number %#x", label, nr))
	}
	return b.add(p, label, uint32(nr), args)
}

// Compare appends a comparison of n bytes (a multiple of 8) at a and at b2. Where they differ the program fails with
// ESTALE: what was checked outside is no longer what is there.
func (b *Builder) Compare(p Program, label string, a, b2 Arg, n int) *Call {
	if n < 0 || n%8 != 0 {
		b.fail(fmt.Errorf("inside: %s: comparison of %d bytes, not a multiple of 8", label, n))
	}
	b.wantPointer(label, a, n)
	b.wantPointer(label, b2, n)
	return b.add(p, label, pseudoCompare, []Arg{a, b2, Int(n)})
}

// Store32 appends an instruction that stores the low 32 bits of v (mostly a slot) at the pointer at.
func (b *Builder) Store32(p Program, label string, at, v Arg) *Call {
	b.wantPointer(label, at, 4)
	return b.add(p, label, pseudoStore32, []Arg{at, v})
}

// Jump appends an instruction that leaves out the n following ones: the end of a first way when a second one follows.
func (b *Builder) Jump(p Program, n int) *Call {
	if n < 0 || n > maxBlobSize {
		b.fail(fmt.Errorf("inside: jump by %d", n))
	}
	c := b.add(p, "jump", pseudoJump, nil)
	c.skip = uint32(n)
	return c
}

// wantPointer checks that a points to n bytes of the blob; these are the interpreter's own accesses, which no kernel checks.
func (b *Builder) wantPointer(label string, a Arg, n int) {
	size := 0
	switch a.kind {
	case argString:
		size = len(a.text) + 1
	case argBytes:
		size = len(a.bytes)
	case argBuffer:
		size = a.buffer.size
	case argData:
		size = int(int64(a.data.size - a.value))
	}
	if size < n {
		b.fail(fmt.Errorf("inside: %s: a pointer to %d bytes of the blob is wanted", label, n))
	}
}

// Len is the number of instructions in program p so far, to count what SkipOnError and Jump need.
func (b *Builder) Len(p Program) int { return b.counts[p] }

func (b *Builder) add(p Program, label string, nr uint32, args []Arg) *Call {
	if p < Setup || p >= programCount {
		b.fail(fmt.Errorf("inside: %s: program %d", label, p))
		return &Call{b: b}
	}
	if len(args) > 6 {
		b.fail(fmt.Errorf("inside: %s: %d arguments", label, len(args)))
		args = args[:6]
	}
	n := b.counts[p]
	if n%chunkSize == 0 {
		b.calls[p] = append(b.calls[p], new([chunkSize]Call))
	}
	b.counts[p]++
	c := &b.calls[p][n/chunkSize][n%chunkSize]
	*c = Call{b: b, nr: nr, dst: -1, step: uint32(len(b.labels))}
	b.labels = append(b.labels, label)
	for i := range args {
		c.setArg(i, &args[i])
	}
	return c
}

func (c *Call) setArg(i int, a *Arg) {
	switch a.kind {
	case argImm:
		c.args[i] = a.value
	case argSlot:
		c.args[i] = uint64(c.b.checkSlot(Slot(int64(a.value))))
		c.flags |= 1 << (insSlotShift + i)
	default:
		c.args[i] = c.b.place(*a) // data-relative until Build
		c.flags |= 1 << i
	}
}

func (b *Builder) checkSlot(s Slot) Slot {
	if s < 0 || int(s) >= b.slots {
		b.fail(fmt.Errorf("inside: slot %d was not reserved", s))
		return 0
	}
	return s
}

// To keeps the result in s; -1 when the call failed and that was tolerated.
func (c *Call) To(s Slot) *Call {
	c.dst = int32(c.b.checkSlot(s))
	return c
}

// Ignore lets the program go on whatever the error.
func (c *Call) Ignore() *Call {
	c.flags |= insIgnore
	return c
}

// Tolerate lets the program go on when the error is errno (a number; there can be one).
func (c *Call) Tolerate(errno uintptr) *Call {
	if c.ok != 0 && c.ok != uint32(errno) {
		c.b.fail(fmt.Errorf("inside: %s: more than one tolerated errno", c.b.labels[c.step]))
	}
	c.ok = uint32(errno)
	return c
}

// SkipOnError leaves out the n following instructions after an error that was ignored or tolerated.
func (c *Call) SkipOnError(n int) *Call {
	if n < 0 || n > maxBlobSize {
		c.b.fail(fmt.Errorf("inside: skip of %d", n))
		n = 0
	}
	c.skip = uint32(n)
	return c
}

// AllThreads marks a call that changes one thread only (credentials, no_new_privs, Landlock): a process with several
// threads, the Go init, must make it on all of them.
func (c *Call) AllThreads() *Call {
	c.flags |= insAllThreads
	return c
}

// SendFD appends the two instructions that send the descriptor in slot to the launcher, as a message of KindPTY with
// SCM_RIGHTS (unix(7), cmsg(3)). The number is only known when the program runs, hence Store32.
func (b *Builder) SendFD(p Program, label string, slot Slot) *Call {
	if b.bytesFD.owner == nil {
		b.bytesFD = b.Data(Message{Kind: KindPTY}.Encode())
	}
	const cmsgLen, cmsgSpace = 20, 24
	cmsg := b.Pointers(Imm(cmsgLen), Imm(1|1<<32), Imm(0)) // SOL_SOCKET and SCM_RIGHTS are both 1
	iov := b.Pointers(Ref(b.bytesFD), Imm(b.bytesFD.size))
	msg := b.Pointers(Imm(0), Imm(0), Ref(iov), Imm(1), Ref(cmsg), Imm(cmsgSpace), Imm(0))
	b.Store32(p, label, RefAt(cmsg, 16), FromSlot(slot))
	return b.Call(p, label, sysSendmsg, Int(FDStatus), Ref(msg), Imm(msgNoSignal))
}
