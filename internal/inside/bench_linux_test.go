package inside

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// The cost of the init beside that of the command alone, both by os/exec:
//
//	go test -run '^$' -bench Start ./internal/inside
func BenchmarkStartBare(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkInit(b *testing.B, s setup) {
	im := benchImage(b, s)
	if _, err := s.kind.Image(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := started(b, s, im)
		if st := r.exited(); st != 0 {
			b.Fatalf("status %#x", uint32(st))
		}
		r.stop()
	}
}

func benchImage(b *testing.B, s setup) *Image {
	bl := NewBuilder(s.isolated)
	bl.Call(Command, "new session", unix.SYS_SETSID)
	argv := []string{"/bin/true"}
	bl.Call(Command, "execute", unix.SYS_EXECVE, Str(argv[0]), Ref(bl.Strings(argv)), Ref(bl.Strings(nil)))
	return build(b, bl)
}

func BenchmarkStartAsmInit(b *testing.B)     { benchmarkInit(b, setup{}) }
func BenchmarkStartAsmIsolated(b *testing.B) { benchmarkInit(b, setup{isolated: true}) }
func BenchmarkStartAsmStage(b *testing.B)    { benchmarkInit(b, setup{stage: true}) }
func BenchmarkStartGoInit(b *testing.B)      { benchmarkInit(b, setup{kind: InitGo}) }
func BenchmarkStartGoIsolated(b *testing.B)  { benchmarkInit(b, setup{kind: InitGo, isolated: true}) }
