// Command winedll writes a library that lets Go programs start under Wine 8: since
// 1.22 they take random numbers from ProcessPrng in bcryptprimitives.dll, which that
// Wine lacks. The library has no code. Its one export is passed on by name to
// SystemFunction036 of advapi32.dll, which does the same (RtlGenRandom).
//
// Usage: winedll FILE. The layout is that of "PE Format", Microsoft Learn.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
)

const (
	headers = 0x200  // size of all headers in the file, and where the section begins there
	base    = 0x1000 // where the section begins in memory
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: winedll FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], image(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "winedll:", err)
		os.Exit(1)
	}
}

// buffer collects little-endian values.
type buffer []byte

func (b *buffer) u16(v ...uint16) {
	for _, x := range v {
		*b = binary.LittleEndian.AppendUint16(*b, x)
	}
}

func (b *buffer) u32(v ...uint32) {
	for _, x := range v {
		*b = binary.LittleEndian.AppendUint32(*b, x)
	}
}

func (b *buffer) u64(v ...uint64) {
	for _, x := range v {
		*b = binary.LittleEndian.AppendUint64(*b, x)
	}
}

func (b *buffer) pad(to int) { *b = append(*b, make([]byte, to-len(*b))...) }

// image is headers, then the one section with the export directory.
func image() []byte {
	table := exports()
	var b buffer
	b = append(b, "MZ"...)
	b.pad(0x3c)
	b.u32(0x40) // where the signature is
	b = append(b, "PE\x00\x00"...)
	b.u16(0x8664, 1) // AMD64, one section
	b.u32(0, 0, 0)
	b.u16(240, 0x2022) // size of what follows; executable, large addresses, library
	optional(&b, uint32(len(table)))
	b = append(b, ".rdata\x00\x00"...)
	b.u32(uint32(len(table)), base, headers, headers, 0, 0, 0, 0x40000040) // initialised, readable
	b.pad(headers)
	b = append(b, table...)
	b.pad(2 * headers)
	return b
}

// optional is the optional header, PE32+, with sixteen directories.
func optional(b *buffer, exports uint32) {
	b.u16(0x20b, 0)
	b.u32(0, headers, 0, 0, 0) // code, data, no entry point
	b.u64(0x180000000)
	b.u32(base, headers)
	b.u16(6, 0, 0, 0, 6, 0)
	b.u32(0, 2*base, headers, 0)
	b.u16(2, 0x160) // GUI; address space layout and no-execute are fine
	b.u64(1<<20, 1<<12, 1<<20, 1<<12)
	b.u32(0, 16)
	b.u32(base, exports) // the export directory comes first
	b.u64(make([]uint64, 15)...)
}

// exports is the export directory: a single name, whose address lies inside the
// directory itself, which means that it is passed on.
func exports() []byte {
	const library, name, target = "bcryptprimitives.dll\x00", "ProcessPrng\x00", "advapi32.SystemFunction036\x00"
	const functions, names, ordinals, text = base + 40, base + 44, base + 48, base + 52
	const libraryAt, nameAt, targetAt = text, text + len(library), text + len(library) + len(name)
	var b buffer
	b.u32(0, 0, 0, libraryAt, 1, 1, 1, functions, names, ordinals)
	b.u32(uint32(targetAt), uint32(nameAt))
	b.u16(0, 0)
	return append(b, library+name+target...)
}
