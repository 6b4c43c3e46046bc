package inside

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

func TestBuilderErrors(t *testing.T) {
	other := NewBuilder(true)
	foreign := other.Data([]byte("x"))
	used := Buf(8)
	other.Call(Init, "use", 1, used)
	for name, f := range map[string]func(b *Builder){
		"NUL in a string":     func(b *Builder) { b.Call(Init, "x", 1, Str("a\x00b")) },
		"NUL in a list":       func(b *Builder) { b.Strings([]string{"ok", "a\x00"}) },
		"foreign data":        func(b *Builder) { b.Call(Init, "x", 1, Ref(foreign)) },
		"foreign buffer":      func(b *Builder) { b.Call(Init, "x", 1, used) },
		"no data":             func(b *Builder) { b.Call(Init, "x", 1, Ref(Data{})) },
		"offset outside":      func(b *Builder) { b.Call(Init, "x", 1, RefAt(b.Data([]byte("x")), 9)) },
		"negative offset":     func(b *Builder) { b.Call(Init, "x", 1, RefAt(b.Data([]byte("x")), -1)) },
		"unknown slot":        func(b *Builder) { b.Call(Init, "x", 1, FromSlot(0)) },
		"unknown destination": func(b *Builder) { b.Call(Init, "x", 1).To(3) },
		"too many slots": func(b *Builder) {
			for range 65 {
				b.NewSlot()
			}
		},
		"too many arguments":  func(b *Builder) { b.Call(Init, "x", 1, Imm(1), Imm(1), Imm(1), Imm(1), Imm(1), Imm(1), Imm(1)) },
		"no such program":     func(b *Builder) { b.Call(3, "x", 1) },
		"pseudo number":       func(b *Builder) { b.Call(Init, "x", pseudoJump) },
		"odd comparison":      func(b *Builder) { b.Compare(Init, "x", Buf(8), Buf(8), 7) },
		"compare a number":    func(b *Builder) { b.Compare(Init, "x", Imm(8), Buf(8), 8) },
		"store to a number":   func(b *Builder) { b.Store32(Init, "x", Imm(8), Imm(1)) },
		"slot in pointers":    func(b *Builder) { b.Pointers(FromSlot(b.NewSlot())) },
		"skip past the end":   func(b *Builder) { b.Call(Init, "x", 1).Ignore().SkipOnError(1) },
		"jump past the end":   func(b *Builder) { b.Jump(Init, 1); b.Call(Command, "x", 1) },
		"negative skip":       func(b *Builder) { b.Call(Init, "x", 1).SkipOnError(-1) },
		"two errnos":          func(b *Builder) { b.Call(Init, "x", 1).Tolerate(1).Tolerate(2) },
		"negative buffer":     func(b *Builder) { b.Call(Init, "x", 1, Buf(-1)) },
		"comparison too long": func(b *Builder) { b.Compare(Init, "x", Buf(8), Buf(16), 16) },
		"store at the end":    func(b *Builder) { b.Store32(Init, "x", RefAt(b.Data(make([]byte, 8)), 6), Imm(1)) },
	} {
		b := NewBuilder(true)
		f(b)
		if im, err := b.Build(); err == nil || im != nil {
			t.Errorf("%s: no error", name)
		} else if !strings.HasPrefix(err.Error(), "inside: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBuilderLayout reads back what the interpreters will read.
func TestBuilderLayout(t *testing.T) {
	b := NewBuilder(true)
	slot := b.NewSlot()
	argv := b.Strings([]string{"a", "b\xff", "a"})
	b.Call(Init, "first", 7, Int(-1), Str("a"), FromSlot(slot)).To(slot).Tolerate(5).AllThreads()
	b.Call(Command, "second", 8, Ref(argv)).Ignore()
	im, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	p, le := im.Blob, binary.LittleEndian
	if err := checkBlob(p); err != nil {
		t.Fatal(err)
	}
	if getU64(p[offFlags:]) != flagIsolated || string(p[:8]) != "QSBLOB01" {
		t.Errorf("header %q", p[:24])
	}
	ins := p[getU64(p[offPrograms+16:]):]
	want := []uint32{7, 1<<1 | 1<<(8+2) | insAllThreads, 0, 0, 5, 0}
	for i, w := range want {
		if got := le.Uint32(ins[4*i:]); got != w {
			t.Errorf("word %d of the instruction: %#x, want %#x", i, got, w)
		}
	}
	text := getU64(ins[40:])
	if getU64(ins[32:]) != ^uint64(0) || string(p[text:text+2]) != "a\x00" || getU64(ins[48:]) != uint64(slot) {
		t.Errorf("arguments % x", ins[32:56])
	}
	array := p[getU64(p[getU64(p[offPrograms+32:])+32:]):]
	if getU64(array) != text || getU64(array[16:]) != text || getU64(array[24:]) != 0 {
		t.Error("equal strings are not one, or the array has no end")
	}
	if s := p[getU64(array[8:]):]; !bytes.HasPrefix(s, []byte("b\xff\x00")) {
		t.Errorf("second string %q", s[:3])
	}
	if n := getU64(p[offReloc+8:]); n != 3 {
		t.Errorf("%d relocations", n)
	}
	for i := range slotCount {
		if getU64(p[offSlots+8*i:]) != ^uint64(0) {
			t.Errorf("slot %d is set", i)
		}
	}
	if im.Describe(0) != "first" || im.Describe(1) != "second" || im.Describe(2) != "unknown step 2" || im.Describe(StepFork) != "fork the command" {
		t.Error("labels")
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range []Message{{Kind: KindHello}, {Kind: KindFailed, Program: Command, Step: StepReturn, Errno: 8}, {Kind: KindExited, Status: 0x8B}, {Kind: KindPTY}} {
		f.Add(m.Encode())
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, p []byte) {
		m, err := Decode(p)
		if err == nil && !bytes.Equal(m.Encode(), p) {
			t.Errorf("% x decodes to %+v", p, m)
		}
		m.Usage()
		(&Image{}).Describe(m.Step)
	})
}

func FuzzCheckBlob(f *testing.F) {
	b := NewBuilder(false)
	b.Call(Init, "x", 1, Ref(b.Strings([]string{"a", "b"})))
	im, err := b.Build()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(im.Blob)
	f.Add(im.Blob[:headerSize])
	f.Fuzz(func(t *testing.T, p []byte) {
		if checkBlob(p) != nil {
			return
		}
		for i := range programCount { // must not panic
			at, n := getU64(p[offPrograms+16*i:]), getU64(p[offPrograms+16*i+8:])
			_ = p[at : at+n*instructionSize]
		}
		at := getU64(p[offReloc:])
		for i := range getU64(p[offReloc+8:]) {
			_ = p[getU64(p[at+8*i:]):][:8]
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		bl := NewBuilder(true)
		s := bl.NewSlot()
		for i := range 2000 {
			bl.Call(Setup, "mount", 165, Str("none"), Str(paths[i%len(paths)]), FromSlot(s), Imm(4)).To(s).Ignore()
		}
		if _, err := bl.Build(); err != nil {
			b.Fatal(err)
		}
	}
}

var paths = strings.Fields(strings.Repeat("/usr/lib /usr/share /etc /opt /home/user/project/node_modules ", 20))
