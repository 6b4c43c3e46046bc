package inside

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestProgramCompare: a file that was looked at outside is recognised inside, and another one is not.
func TestProgramCompare(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		var st unix.Stat_t
		if err := unix.Stat("/usr", &st); err != nil {
			t.Fatal(err)
		}
		id := make([]byte, 16) // st_dev, st_ino come first on 64-bit systems
		putU64(id, st.Dev)
		putU64(id[8:], st.Ino)
		for _, path := range []string{"/usr", "/etc"} {
			b := NewBuilder(s.isolated)
			seen := Buf(int(unsafe.Sizeof(st)))
			b.Call(Init, "look at "+path, unix.SYS_NEWFSTATAT, Int(unix.AT_FDCWD), Str(path), seen, Imm(0))
			b.Compare(Init, "still the same "+path, seen, Bytes(id), 16)
			addCommand(b, "/bin/true")
			r := start(t, s, build(t, b))
			if path == "/usr" {
				r.expect(KindHello)
			} else {
				r.expectFailed(Init, "still the same /etc", unix.ESTALE)
			}
		}
	})
}

func TestProgramTolerateSkipJump(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		b := NewBuilder(s.isolated)
		missing, word := b.NewSlot(), b.Data(make([]byte, 8))
		b.Call(Init, "tolerated", unix.SYS_CHDIR, Str("/nowhere")).Tolerate(uintptr(unix.ENOENT)).To(missing).SkipOnError(2)
		b.Call(Init, "must be left out", unix.SYS_CHDIR, Str("/nowhere"))
		b.Call(Init, "must be left out too", unix.SYS_CHDIR, Str("/nowhere"))
		b.Call(Init, "ignored", unix.SYS_CLOSE, FromSlot(missing)).Ignore().SkipOnError(0)
		b.Call(Init, "no error, no skip", unix.SYS_GETPID).Ignore().SkipOnError(1)
		b.Store32(Init, "store", Ref(word), FromSlot(missing))
		b.Compare(Init, "stored", Ref(word), Bytes([]byte{255, 255, 255, 255, 0, 0, 0, 0}), 8)
		b.Jump(Init, 1)
		b.Call(Init, "jumped over", unix.SYS_CHDIR, Str("/nowhere"))
		b.Call(Init, "other errno", unix.SYS_CHDIR, Str("/nowhere")).Tolerate(uintptr(unix.EACCES)).SkipOnError(1)
		b.Call(Init, "last", unix.SYS_GETPID)
		r := start(t, s, build(t, b))
		r.expectFailed(Init, "other errno", unix.ENOENT)
	})
}

// TestProgramStateReachesCommand: slots, buffers and descriptors of Init are there in Command.
func TestProgramStateReachesCommand(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		b := NewBuilder(s.isolated)
		dir, cwd := b.NewSlot(), Buf(64)
		b.Call(Init, "open /usr", unix.SYS_OPENAT, Int(unix.AT_FDCWD), Str("/usr"), Imm(unix.O_PATH|unix.O_CLOEXEC), Imm(0)).To(dir)
		b.Call(Init, "where are we", unix.SYS_GETCWD, cwd, Imm(64))
		b.Call(Command, "go to /usr", unix.SYS_FCHDIR, FromSlot(dir))
		b.Compare(Command, "we were in /", cwd, Bytes([]byte("/\x00\x00\x00\x00\x00\x00\x00")), 8)
		addCommand(b, "/bin/sh", "-c", "pwd")
		r := started(t, s, build(t, b))
		if st := r.exited(); st != 0 {
			t.Errorf("status %#x", uint32(st))
		}
		if got := r.output(); got != "/usr\n" {
			t.Errorf("output %q", got)
		}
	})
}

func TestProgramHundredThousandCalls(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		b := NewBuilder(s.isolated)
		slot := b.NewSlot()
		for range 100_000 {
			b.Call(Init, "call", unix.SYS_GETPPID).To(slot)
		}
		addCommand(b, "/bin/true")
		im := build(t, b)
		begin := time.Now()
		r := start(t, s, im)
		r.expect(KindHello)
		t.Logf("%d bytes, %v to Hello", len(im.Blob), time.Since(begin))
		r.send(ControlGo)
		r.exited()
	})
}

func ioctlPtr(nr uint) Arg { return Imm(uint64(nr)) }

// TestSendFD makes a terminal inside, hands its master out, and runs the command on it with job control.
func TestSendFD(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		b := NewBuilder(s.isolated)
		master, slave := b.NewSlot(), b.NewSlot()
		b.Call(Init, "open ptmx", unix.SYS_OPENAT, Int(unix.AT_FDCWD), Str("/dev/ptmx"), Imm(unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC), Imm(0)).To(master)
		b.Call(Init, "unlock", unix.SYS_IOCTL, FromSlot(master), ioctlPtr(unix.TIOCSPTLCK), Ref(b.Data(make([]byte, 8))))
		b.Call(Init, "open the other end", unix.SYS_IOCTL, FromSlot(master), ioctlPtr(unix.TIOCGPTPEER), Imm(unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)).To(slave)
		b.SendFD(Init, "send the terminal", master)
		b.Call(Init, "close the terminal", unix.SYS_CLOSE, FromSlot(master))
		b.Call(Command, "new session", unix.SYS_SETSID)
		for fd := range 3 {
			b.Call(Command, "stdio", unix.SYS_DUP3, FromSlot(slave), Int(fd), Imm(0))
		}
		b.Call(Command, "controlling terminal", unix.SYS_IOCTL, Imm(0), ioctlPtr(unix.TIOCSCTTY), Imm(0))
		argv := []string{"/bin/sh", "-c", "test -t 0 && test -t 1 && echo hello > /dev/tty && read x && echo got $x"}
		b.Call(Command, "execute", unix.SYS_EXECVE, Str(argv[0]), Ref(b.Strings(argv)), Ref(b.Strings(nil)))
		r := start(t, s, build(t, b))
		m, fd := r.receiveFD()
		if m.Kind != KindPTY || fd < 0 {
			t.Fatalf("%+v, descriptor %d; %s %v", m, fd, r.im.Describe(m.Step), unix.Errno(m.Errno))
		}
		term := os.NewFile(uintptr(fd), "terminal")
		defer term.Close()
		r.expect(KindHello)
		r.send(ControlGo)
		if _, err := term.WriteString("abc\n"); err != nil {
			t.Fatal(err)
		}
		if st := r.exited(); st != 0 {
			t.Errorf("status %#x", uint32(st))
		}
		p := make([]byte, 1000)
		n, _ := term.Read(p)
		for k := n; k > 0 && n < len(p); n += k {
			k, _ = term.Read(p[n:])
			if k < 0 {
				k = 0
			}
			if k == 0 {
				break
			}
		}
		t.Logf("terminal: %q", p[:n])
	})
}

// randomProgram makes harmless calls whose results are the same in whoever runs it in this process.
func randomProgram(rng *rand.Rand) *Builder {
	b := NewBuilder(false)
	slots := make([]Slot, 8)
	for i := range slots {
		slots[i] = b.NewSlot()
	}
	pick := func() Slot { return slots[rng.IntN(len(slots))] }
	bufs := []Arg{Buf(256), Buf(256), Bytes(make([]byte, 256))}
	buf := func() Arg { return bufs[rng.IntN(len(bufs))] }
	for i := range 1 + rng.IntN(200) {
		label := fmt.Sprint("step ", i)
		var c *Call
		switch rng.IntN(9) {
		case 0:
			c = b.Call(Init, label, unix.SYS_GETPID).To(pick())
		case 1:
			c = b.Call(Init, label, unix.SYS_FCNTL, Imm(0), Imm(unix.F_GETFD)).To(pick())
		case 2:
			c = b.Call(Init, label, unix.SYS_FSTAT, FromSlot(pick()), buf()).To(pick())
		case 3:
			c = b.Call(Init, label, unix.SYS_NEWFSTATAT, Int(-100), Str([]string{"/usr", "/etc", "/nowhere"}[rng.IntN(3)]), buf(), Imm(0)).To(pick())
		case 4:
			c = b.Compare(Init, label, buf(), buf(), 8*rng.IntN(33))
		case 5:
			c = b.Store32(Init, label, buf(), FromSlot(pick()))
		case 6:
			c = b.Call(Init, label, unix.SYS_CLOSE, Int(-1-rng.IntN(3))).To(pick())
		case 7:
			c = b.Call(Init, label, unix.SYS_GETCWD, buf(), Int(rng.IntN(256))).To(pick())
		case 8:
			c = b.Call(Init, label, unix.SYS_UMASK, Imm(0o22)).To(pick())
		}
		switch rng.IntN(20) {
		case 0:
		case 1:
			c.Tolerate(uintptr(unix.EBADF))
		case 2:
			c.Tolerate(uintptr(unix.ENOENT))
		default:
			c.Ignore()
		}
		if i%7 == 3 {
			n := rng.IntN(3)
			c.SkipOnError(n)
			for range n {
				b.Call(Init, "filler", unix.SYS_GETPID).To(pick())
			}
		}
		if i%31 == 30 {
			b.Jump(Init, 1)
			b.Call(Init, "jumped over", unix.SYS_GETPID).To(pick())
		}
	}
	return b
}
