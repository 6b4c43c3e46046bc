package inside

import (
	"bytes"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestInterpretersAgree runs random programs with both interpreters, and compares everything they leave behind.
func TestInterpretersAgree(t *testing.T) {
	ended := 0
	for seed := range uint64(2000) {
		im := build(t, randomProgram(rand.New(rand.NewPCG(seed, 1))))
		a, b := load(t, im), load(t, im)
		step, errno := a.run(Init)
		asmStep, asmErrno := interpretAsm(b.base, int(Init))
		if step != asmStep || uint32(errno) != asmErrno {
			t.Fatalf("seed %d: Go stops at %q, %v; assembly at %q, %v", seed, im.Describe(step), errno, im.Describe(asmStep), unix.Errno(asmErrno))
		}
		if errno == 0 {
			ended++
		}
		a.relocate(-uint64(a.base))
		b.relocate(-uint64(b.base))
		if !bytes.Equal(a.p, b.p) {
			t.Fatalf("seed %d: the memories differ", seed)
		}
		a.close()
		b.close()
	}
	if ended < 50 {
		t.Errorf("only %d programs came to their end", ended)
	}
}

func load(t testing.TB, im *Image) *memory {
	f, err := BlobFile(im)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := mapBlob(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAsmInitIsSmall(t *testing.T) {
	p, ok := AsmInit()
	if !ok {
		t.Fatal("no end marker")
	}
	if size := len(p) - elfCodeAt; size >= 2048 {
		t.Errorf("%d bytes of code", size)
	}
	again, _ := AsmInit()
	if !bytes.Equal(p, again) || bytes.Contains(p, endMarker) {
		t.Error("not the same bytes each time, or the marker is in them")
	}
	t.Logf("init: %d bytes, of them %d code", len(p), len(p)-elfCodeAt)
}

// TestLayoutMatchesAssembly: the header of the assembler repeats format.go.
func TestLayoutMatchesAssembly(t *testing.T) {
	text, err := os.ReadFile("layout_amd64.h")
	if err != nil {
		t.Skip("no sources here: ", err)
	}
	want := map[string]int{
		"hdrMagic": offMagic, "hdrSize": offSize, "hdrFlags": offFlags, "hdrReloc": offReloc, "hdrPrograms": offPrograms,
		"hdrInit": offPrograms + 16*int(Init), "hdrCommand": offPrograms + 16*int(Command),
		"blobSlots": offSlots, "blobScratch": offScratch, "blobCode": offCode,
		"insNr": 0, "insFlags": 4, "insDst": 8, "insStep": 12, "insOk": 16, "insSkip": 20, "insArgs": 32, "insSize": instructionSize,
	}
	for _, m := range regexp.MustCompile(`#define (\w+) (\d+)`).FindAllStringSubmatch(string(text), -1) {
		if n, _ := strconv.Atoi(m[2]); want[m[1]] != n {
			t.Errorf("%s is %d, want %d", m[1], n, want[m[1]])
		}
		delete(want, m[1])
	}
	if len(want) > 0 {
		t.Errorf("not defined: %v", want)
	}
}
