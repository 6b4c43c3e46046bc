package inside

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Image is a finished blob and the labels of its steps. The labels stay outside.
type Image struct {
	Blob   []byte
	Labels []string
}

func putU64(p []byte, v uint64) { binary.LittleEndian.PutUint64(p, v) }
func getU64(p []byte) uint64    { return binary.LittleEndian.Uint64(p) }

// Build lays the blob out. The builder must not be used afterwards.
func (b *Builder) Build() (*Image, error) {
	if b.err != nil {
		return nil, b.err
	}
	total := 0
	for _, n := range b.counts {
		total += n
	}
	dataAt := offCode + total*instructionSize
	relocAt := (dataAt + len(b.data) + 7) &^ 7
	size := relocAt + 8*len(b.relocs)
	if size > maxBlobSize {
		return nil, fmt.Errorf("inside: blob of %d bytes", size)
	}
	blob := make([]byte, size)
	copy(blob[dataAt:], b.data)
	b.putRelocs(blob, uint64(dataAt), uint64(relocAt))
	if err := b.putPrograms(blob, uint64(dataAt)); err != nil {
		return nil, err
	}
	putU64(blob[offMagic:], Magic)
	putU64(blob[offSize:], uint64(size))
	if b.isolated {
		putU64(blob[offFlags:], flagIsolated)
	}
	for i := range slotCount {
		putU64(blob[offSlots+8*i:], ^uint64(0)) // a slot used too early is a bad descriptor, not stdin
	}
	return &Image{Blob: blob, Labels: b.labels}, nil
}

// putRelocs writes the table and turns the words it names from offsets in the data into offsets in the blob.
func (b *Builder) putRelocs(blob []byte, dataAt, relocAt uint64) {
	putU64(blob[offReloc:], relocAt)
	putU64(blob[offReloc+8:], uint64(len(b.relocs)))
	for i, r := range b.relocs {
		word := blob[dataAt+r:]
		putU64(word, getU64(word)+dataAt)
		putU64(blob[relocAt+8*uint64(i):], dataAt+r)
	}
}

func (b *Builder) putPrograms(blob []byte, dataAt uint64) error {
	at := uint64(offCode)
	for p, count := range b.counts {
		putU64(blob[offPrograms+16*p:], at)
		putU64(blob[offPrograms+16*p+8:], uint64(count))
		for i := range count {
			c := &b.calls[p][i/chunkSize][i%chunkSize]
			if uint64(c.skip) > uint64(count-1-i) {
				return fmt.Errorf("inside: %s: skip of %d goes past the end of program %s", b.labels[c.step], c.skip, Program(p))
			}
			c.put(blob[at:at+instructionSize], dataAt)
			at += instructionSize
		}
	}
	return nil
}

func (c *Call) put(p []byte, dataAt uint64) {
	le := binary.LittleEndian
	le.PutUint32(p[0:], c.nr)
	le.PutUint32(p[4:], c.flags)
	le.PutUint32(p[8:], uint32(c.dst))
	le.PutUint32(p[12:], c.step)
	le.PutUint32(p[16:], c.ok)
	le.PutUint32(p[20:], c.skip)
	for i, v := range c.args {
		if c.flags&(1<<i) != 0 {
			v += dataAt
		}
		putU64(p[32+8*i:], v)
	}
}

// Describe says what a step was, for a Failed message.
func (im *Image) Describe(step uint32) string {
	switch step {
	case StepBlob:
		return "read the prepared program"
	case StepStart:
		return "prepare the init"
	case StepFork:
		return "fork the command"
	case StepExec:
		return "start the init"
	case StepReturn:
		return "execute the command"
	}
	if im != nil && uint64(step) < uint64(len(im.Labels)) {
		return im.Labels[step]
	}
	return fmt.Sprintf("unknown step %d", step)
}

var errBlob = errors.New("inside: not a blob of this version")

// checkBlob says whether everything that the header names lies inside the blob. Interpreters rely on nothing else: the
// rest comes from Build, through a sealed file.
func checkBlob(p []byte) error {
	if len(p) < offCode || getU64(p[offMagic:]) != Magic || getU64(p[offSize:]) != uint64(len(p)) {
		return errBlob
	}
	size := uint64(len(p))
	if !fits(getU64(p[offReloc:]), getU64(p[offReloc+8:]), 8, size) {
		return errBlob
	}
	for i := range uint64(programCount) {
		if !fits(getU64(p[offPrograms+16*i:]), getU64(p[offPrograms+16*i+8:]), instructionSize, size) {
			return errBlob
		}
	}
	return checkRelocs(p)
}

func checkRelocs(p []byte) error {
	at, count := getU64(p[offReloc:]), getU64(p[offReloc+8:])
	for i := range count {
		if !fits(getU64(p[at+8*i:]), 1, 8, uint64(len(p))) {
			return errBlob
		}
	}
	return nil
}

// fits says whether count items of the given size at off lie in the blob, behind its fixed part.
func fits(off, count, item, size uint64) bool {
	return off >= offCode && off <= size && count <= (size-off)/item && off%8 == 0
}
