package inside

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sandbox is a run of a real init, seen from the launcher's side.
type sandbox struct {
	t       testing.TB
	im      *Image
	cmd     *exec.Cmd
	control *os.File
	status  *os.File
	out     *os.File
}

type setup struct {
	kind     InitKind
	isolated bool
	stage    bool // through the second start of this binary
}

func (s setup) String() string {
	parts := []string{"asm", "direct", "plain"}
	if s.kind == InitGo {
		parts[0] = "go"
	}
	if s.isolated {
		parts[1] = "isolated"
	}
	if s.stage {
		parts[2] = "stage"
	}
	return strings.Join(parts, "-")
}

// eachInit runs f for every kind of init there is.
func eachInit(t *testing.T, f func(t *testing.T, s setup)) {
	for _, kind := range []InitKind{InitAuto, InitGo} {
		for _, isolated := range []bool{true, false} {
			s := setup{kind: kind, isolated: isolated}
			t.Run(s.String(), func(t *testing.T) { f(t, s) })
		}
	}
}

// eachIsolated runs f for what only a pid namespace gives.
func eachIsolated(t *testing.T, f func(t *testing.T, s setup)) {
	eachInit(t, func(t *testing.T, s setup) {
		if s.isolated {
			f(t, s)
		}
	})
}

func build(t testing.TB, b *Builder) *Image {
	t.Helper()
	im, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// addCommand writes the usual program Command.
func addCommand(b *Builder, argv ...string) {
	b.Call(Command, "new session", unix.SYS_SETSID)
	b.Call(Command, "execute "+argv[0], unix.SYS_EXECVE, Str(argv[0]), Ref(b.Strings(argv)),
		Ref(b.Strings([]string{"PATH=/usr/bin:/bin", "SECRET=in-the-blob"})))
}

func shell(t testing.TB, s setup, script string) *Image {
	b := NewBuilder(s.isolated)
	addCommand(b, "/bin/sh", "-c", script)
	return build(t, b)
}

func files(t testing.TB, fds [2]int) (a, b *os.File) {
	return os.NewFile(uintptr(fds[0]), "a"), os.NewFile(uintptr(fds[1]), "b")
}

// start starts the init and leaves it waiting for the go.
func start(t testing.TB, s setup, im *Image) *sandbox {
	t.Helper()
	if s.kind == InitAuto {
		if _, ok := AsmInit(); !ok {
			t.Skip("no assembly init on this architecture")
		}
	}
	exe, err := s.kind.Image()
	if err != nil {
		t.Fatal(err)
	}
	blob, err := BlobFile(im)
	if err != nil {
		t.Fatal(err)
	}
	defer blob.Close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	status, theirStatus := files(t, pair)
	theirControl, control, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 60})
	cmd := &exec.Cmd{
		Path: fmt.Sprintf("/proc/self/fd/%d", exe.Fd()), Args: []string{InitName}, Env: []string{}, Dir: "/",
		Stdout: theirOut, Stderr: theirOut,
		ExtraFiles:  []*os.File{theirControl, theirStatus, blob},
		SysProcAttr: &syscall.SysProcAttr{},
	}
	if s.stage {
		cmd.Path, cmd.Args = "/proc/self/exe", []string{StageName}
		cmd.ExtraFiles = append(cmd.ExtraFiles, exe)
	}
	if s.isolated {
		namespaces(cmd.SysProcAttr)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{theirOut, theirControl, theirStatus} {
		f.Close()
	}
	r := &sandbox{t: t, im: im, cmd: cmd, control: control, status: status, out: out}
	t.Cleanup(r.stop)
	return r
}

func namespaces(a *syscall.SysProcAttr) {
	a.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
}

func (r *sandbox) stop() {
	r.control.Close()
	r.wait()
	r.status.Close()
	r.out.Close()
}

// wait waits for the init itself.
func (r *sandbox) wait() {
	if r.cmd.ProcessState == nil {
		r.cmd.Wait()
	}
}

func (r *sandbox) send(b ...byte) {
	r.t.Helper()
	if _, err := r.control.Write(b); err != nil {
		r.t.Fatal(err)
	}
}

// receive returns the next message and a descriptor that came with it, or -1.
func (r *sandbox) receiveFD() (Message, int) {
	r.t.Helper()
	p, oob := make([]byte, MaxMessage), make([]byte, 64)
	n, on, _, _, err := unix.Recvmsg(int(r.status.Fd()), p, oob, 0)
	for err == unix.EINTR {
		n, on, _, _, err = unix.Recvmsg(int(r.status.Fd()), p, oob, 0)
	}
	if err != nil || n == 0 {
		r.t.Fatalf("no status message: %v (init: %v)", err, r.cmd.ProcessState)
	}
	m, err := Decode(p[:n])
	if err != nil {
		r.t.Fatal(err)
	}
	if on == 0 {
		return m, -1
	}
	cmsgs, err := unix.ParseSocketControlMessage(oob[:on])
	if err != nil {
		r.t.Fatal(err)
	}
	fds, err := unix.ParseUnixRights(&cmsgs[0])
	if err != nil || len(fds) != 1 {
		r.t.Fatalf("descriptors %v, %v", fds, err)
	}
	return m, fds[0]
}

func (r *sandbox) expect(k Kind) Message {
	r.t.Helper()
	m, _ := r.receiveFD()
	if m.Kind != k {
		r.t.Fatalf("message %+v (%s), want kind %d", m, r.im.Describe(m.Step), k)
	}
	return m
}

func (r *sandbox) expectFailed(p Program, label string, errno unix.Errno) {
	r.t.Helper()
	m := r.expect(KindFailed)
	if m.Program != p || r.im.Describe(m.Step) != label || unix.Errno(m.Errno) != errno {
		r.t.Fatalf("failed: %s, %q, %v; want %s, %q, %v", m.Program, r.im.Describe(m.Step), unix.Errno(m.Errno), p, label, errno)
	}
}

// started is start, Hello and the go.
func started(t testing.TB, s setup, im *Image) *sandbox {
	t.Helper()
	r := start(t, s, im)
	r.expect(KindHello)
	r.send(ControlGo)
	return r
}

func (r *sandbox) exited() unix.WaitStatus {
	r.t.Helper()
	return unix.WaitStatus(r.expect(KindExited).Status)
}

// output reads until the end of stdout, which comes when nobody holds it any more.
func (r *sandbox) output() string {
	r.t.Helper()
	r.out.SetReadDeadline(time.Now().Add(60 * time.Second))
	var b bytes.Buffer
	if _, err := b.ReadFrom(r.out); err != nil {
		r.t.Fatalf("output %q: %v", b.String(), err)
	}
	return b.String()
}

// line reads a line, byte by byte.
func (r *sandbox) line() string {
	r.t.Helper()
	r.out.SetReadDeadline(time.Now().Add(60 * time.Second))
	var b []byte
	for c := make([]byte, 1); ; {
		if _, err := r.out.Read(c); err != nil {
			r.t.Fatalf("line %q: %v", b, err)
		}
		if c[0] == '\n' {
			return string(b)
		}
		b = append(b, c[0])
	}
}
