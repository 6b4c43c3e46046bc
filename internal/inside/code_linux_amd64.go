package inside

import (
	"bytes"
	"encoding/binary"
	"unsafe"
)

// initCode is the machine code of the init, see init_linux_amd64.s. It is never called: only its bytes are used.
//
//lint:ignore U1000 the assembler needs the declaration
func initCode()

// initAddress returns where initCode is. The assembler knows; a Go func value would lead to an ABI wrapper.
func initAddress() uintptr

// interpretAsm runs a program of a relocated blob with the assembly interpreter on the calling thread. errno is 0 when
// it came to its end.
func interpretAsm(base uintptr, program int) (step uint32, errno uint32)

// maxCodeSize bounds the search for the end marker, which a test keeps within half of it.
const maxCodeSize = 4096

// endMarker is what initCode ends in.
var endMarker = []byte{
	0x15, 0x7C, 0x4A, 0x7F, 0xB9, 0x79, 0x37, 0x9E,
	0x03, 0xED, 0x92, 0xD1, 0x32, 0x4A, 0xB5, 0xD1,
}

func initBytes() ([]byte, bool) {
	start := initAddress()
	for n := uintptr(0); n <= maxCodeSize; n++ {
		// Byte by byte, so that nothing behind the marker is ever read.
		p := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), start)), n+1)
		if p[n] == endMarker[len(endMarker)-1] && bytes.HasSuffix(p, endMarker) {
			return bytes.Clone(p[:len(p)-len(endMarker)]), true
		}
	}
	return nil, false
}

const (
	elfHeaderSize = 64
	elfSegments   = 2
	elfSegment    = 56
	elfCodeAt     = elfHeaderSize + elfSegments*elfSegment
	elfLoadAt     = 0x400000
)

// AsmInit returns the executable of the assembly init; false where there is none.
//
// It is the smallest ELF that the kernel loads (elf(5)): the header, one segment that maps the whole file read-only and
// executable, and one that says that the stack is not executable. There is no writable segment at all.
func AsmInit() ([]byte, bool) {
	code, ok := initBytes()
	if !ok {
		return nil, false
	}
	size := uint64(elfCodeAt + len(code))
	p := make([]byte, elfCodeAt, size)
	le := binary.LittleEndian
	copy(p, "\x7fELF\x02\x01\x01") // 64 bits, little-endian, version 1
	le.PutUint16(p[16:], 2)        // ET_EXEC
	le.PutUint16(p[18:], 62)       // EM_X86_64
	le.PutUint32(p[20:], 1)
	le.PutUint64(p[24:], elfLoadAt+elfCodeAt) // entry
	le.PutUint64(p[32:], elfHeaderSize)       // program headers
	le.PutUint16(p[52:], elfHeaderSize)
	le.PutUint16(p[54:], elfSegment)
	le.PutUint16(p[56:], elfSegments)
	load := p[elfHeaderSize:]
	le.PutUint32(load[0:], 1) // PT_LOAD
	le.PutUint32(load[4:], 5) // read, execute
	le.PutUint64(load[16:], elfLoadAt)
	le.PutUint64(load[24:], elfLoadAt)
	le.PutUint64(load[32:], size)
	le.PutUint64(load[40:], size)
	le.PutUint64(load[48:], 4096)
	stack := p[elfHeaderSize+elfSegment:]
	le.PutUint32(stack[0:], 0x6474E551) // PT_GNU_STACK
	le.PutUint32(stack[4:], 6)          // read, write
	return append(p, code...), true
}
