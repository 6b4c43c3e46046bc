package supervise

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/report"
)

// show gives hints in one line each: the operations, the subject, and what was said.
func show(h *hints) []string {
	out := []string{}
	for _, n := range h.list {
		s := strings.Join(n.Operations, "|") + " " + n.Subject
		if n.Missing {
			s += " (missing)"
		}
		if n.Busy {
			s += " (busy)"
		}
		out = append(out, s)
	}
	return out
}

func heardIn(text string) []string {
	s := &scanner{hints: hints{cwd: "/ws"}}
	s.write([]byte(text))
	s.close()
	return show(&s.hints)
}

// Messages that real programs printed (Debian 12, in the sandbox), and what they say.
var messages = []struct {
	text string
	want []string
}{
	{"touch: cannot touch '/etc/x': Read-only file system", []string{"write /etc/x"}},
	{"mkdir: cannot create directory ‘/etc/xd’: Read-only file system", []string{"write /etc/xd"}},
	{"mv: cannot move '/etc/hostname' to '/etc/h2': Read-only file system", []string{"write /etc/hostname", "write /etc/h2"}},
	{"ln: failed to create symbolic link '/etc/l': Read-only file system", []string{"write /etc/l"}},
	{"chmod: changing permissions of '/etc/hostname': Operation not permitted", []string{"write /etc/hostname"}},
	{"tee: /etc/x: Read-only file system", []string{"write /etc/x"}},
	{"sh: 1: cannot create /etc/x: Read-only file system", []string{"write /etc/x"}},
	{"sh: 1: cannot create .git/hooks/pre-commit: Read-only file system", []string{"write /ws/.git/hooks/pre-commit"}},
	{"sh: 1: cannot create a b: Read-only file system", []string{"write /ws/a b"}},
	{"sh: 1: cannot open /etc/shadow: Permission denied", []string{"read /etc/shadow"}},
	{"bash: line 1: /etc/x: Read-only file system", []string{"write /etc/x"}},
	{"bash: line 1: /etc/a b: Read-only file system", []string{"write /etc/a b"}},
	{"bash: line 1: .git/config: Read-only file system", []string{"write /ws/.git/config"}},
	{"bash: line 1: /etc/shadow: Permission denied", []string{"read /etc/shadow"}},
	{"dd: failed to open '/etc/x': Read-only file system", []string{"write /etc/x"}},
	{"sed: couldn't open temporary file /etc/sedkSkKki: Read-only file system", []string{"write /etc/sedkSkKki"}},
	{"cat: /root/.ssh/id_rsa: No such file or directory", []string{"read /root/.ssh/id_rsa (missing)"}},
	{"ls: cannot access '/root/.ssh': No such file or directory", []string{"read /root/.ssh (missing)"}},
	{"cat: '/etc/it'\\''s \"x\"': Permission denied", []string{`read /etc/it's "x"`}},
	{"find: ‘/etc/ssl/private’: Permission denied", []string{"read /etc/ssl/private"}},
	{"find: cannot delete ‘/etc/ssl/certs/Főtanúsítvány.pem’: Read-only file system", []string{"write /etc/ssl/certs/Főtanúsítvány.pem"}},
	{"rm: cannot remove '.git/config': Device or resource busy", []string{"write /ws/.git/config (busy)"}},
	{"mv: cannot move '.git' to 'g2': Device or resource busy", []string{"write /ws/.git (busy)", "write /ws/g2 (busy)"}},
	{"tar: /etc/x.tar: Cannot open: Read-only file system", []string{"write /etc/x.tar"}},
	{"mktemp: failed to create file via template ‘/etc/tmp.XXXXXXXXXX’: Read-only file system", []string{"write /etc/tmp.XXXXXXXXXX"}},
	{"env: ‘/etc/passwd’: Permission denied", []string{"read /etc/passwd"}},
	{"make: /etc/shadow: Permission denied", []string{"read /etc/shadow"}},
	{"make: execvp: ./run.sh: Permission denied", []string{"exec /ws/run.sh"}},
	{"rsync: [receiver] mkstemp \"/etc/.a.go.xZvEfl\" failed: Read-only file system (30)", []string{"write /etc/.a.go.xZvEfl"}},
	{"Fatal error: can't create /etc/x.o: Read-only file system", []string{"write /etc/x.o"}},
	{"/usr/bin/ld: cannot open output file /etc/out: Read-only file system", []string{"write /etc/out"}},
	{"/usr/bin/ld: cannot open output file /etc/out: Permission denied", []string{"write /etc/out"}},
	{"fatal: cannot mkdir /etc/foo: Read-only file system", []string{"write /etc/foo"}},
	{"error: could not lock config file /root/.gitconfig: Read-only file system", []string{"write /root/.gitconfig"}},
	{"error: could not write config file .git/config: Device or resource busy", []string{"write /ws/.git/config (busy)"}},
	{"W: chown to _apt:root of directory /var/lib/apt/lists/partial failed - SetupAPTPartialDirectory (30: Read-only file system)", []string{"write /var/lib/apt/lists/partial"}},
	{"W: Problem unlinking the file /var/lib/apt/lists/partial/x_InRelease - PrepareFiles (13: Permission denied)", []string{"write /var/lib/apt/lists/partial/x_InRelease"}},
	{"E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)", []string{"write /var/lib/dpkg/lock-frontend"}},
	{"OSError: [Errno 30] Read-only file system: '/etc/x'", []string{"write /etc/x"}},
	{"OSError: [Errno 30] Read-only file system: \"/etc/it's\"", []string{"write /etc/it's"}},
	{"PermissionError: [Errno 13] Permission denied: '/root/.ssh/id'", []string{"read /root/.ssh/id"}},
	{"OSError: [Errno 18] Invalid cross-device link: 'a.go' -> '/etc/b'", []string{"write /ws/a.go", "write /etc/b"}},
	{"FileNotFoundError: [Errno 2] No such file or directory: '/home/u/.netrc'", []string{"read /home/u/.netrc (missing)"}},
	{"Error: EROFS: read-only file system, open '/etc/x'", []string{"write /etc/x"}},
	{"Error: EACCES: permission denied, open '/etc/shadow'", []string{"read /etc/shadow"}},
	{"npm error Error: EACCES: permission denied, mkdir '/usr/lib/node_modules/x'", []string{"write /usr/lib/node_modules/x"}},
	{"npm error code EACCES", []string{}},
	{"  code: 'EROFS',", []string{}},
	{"open /etc/x: read-only file system", []string{"write /etc/x"}},
	{"rename /etc/hostname /etc/z: read-only file system", []string{"write /etc/hostname", "write /etc/z"}},
	{"fork/exec /root/bin/x: permission denied", []string{"exec /root/bin/x"}},
	{"dial unix /var/run/docker.sock: connect: permission denied", []string{"connect /var/run/docker.sock"}},
	{"java.io.FileNotFoundException: /etc/x (Read-only file system)", []string{"write /etc/x"}},
	{"java.io.FileNotFoundException: /etc/shadow (Permission denied)", []string{"read /etc/shadow"}},
	{"java.nio.file.FileSystemException: /etc/x: Read-only file system", []string{"write /etc/x"}},
	{"java.nio.file.AccessDeniedException: /etc/shadow", []string{"read /etc/shadow"}},
	{"Permission denied @ rb_sysopen - /etc/shadow (Errno::EACCES)", []string{"read /etc/shadow"}},
	{"PHP Warning:  fopen(/etc/x): Failed to open stream: Read-only file system in - on line 1", []string{"write /etc/x"}},
	{"error: Read-only file system (os error 30) at path \"/etc/tUEg30p\"", []string{"write /etc/tUEg30p"}},
	{"error: failed to create package `foo` at `/etc/foo`\n\nCaused by:\n  failed to create directory `/etc/foo`\n\nCaused by:\n  Read-only file system (os error 30)\n", []string{"write /etc/foo"}},
	{"Could not create directory '/root/.ssh' (Read-only file system).", []string{"write /root/.ssh"}},
	{"Load key \"/root/.ssh/id_rsa\": Permission denied", []string{"read /root/.ssh/id_rsa"}},
	{"\x1b[1m\x1b[31merror\x1b[0m: open '\x1b[33m/etc/x\x1b[0m': Read-only file system\r\n", []string{"write /etc/x"}},
	{" 10%\r 20%\rtouch: cannot touch '/etc/x': Read-only file system\r\n", []string{"write /etc/x"}},

	{"curl: (6) Could not resolve host: example.com", []string{"connect example.com"}},
	{"curl: (7) Failed to connect to 10.1.2.3 port 80 after 24 ms: Couldn't connect to server", []string{"connect 10.1.2.3:80"}},
	{"wget: unable to resolve host address ‘example.com’", []string{"connect example.com"}},
	{"fatal: unable to access 'https://example.com/a.git/': Could not resolve host: example.com", []string{"connect example.com"}},
	{"ssh: Could not resolve hostname example.com: Temporary failure in name resolution", []string{"connect example.com"}},
	{"ssh: connect to host 1.2.3.4 port 22: Network is unreachable", []string{"connect 1.2.3.4:22"}},
	{"npm error request to https://registry.npmjs.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org", []string{"connect registry.npmjs.org"}},
	{"Error: getaddrinfo ENOTFOUND example.com", []string{"connect example.com"}},
	{"Error: connect ENETUNREACH 1.2.3.4:80 - Local (0.0.0.0:0)", []string{"connect 1.2.3.4:80"}},
	{"socket.gaierror: [Errno -3] Temporary failure in name resolution", []string{"connect "}},
	{"OSError: [Errno 101] Network is unreachable", []string{"connect "}},
	{"urllib3.exceptions.NameResolutionError: HTTPSConnection(host='pypi.org', port=443): Failed to resolve 'pypi.org' ([Errno -3] Temporary failure in name resolution)", []string{"connect pypi.org:443"}},
	{"  Temporary failure resolving 'deb.debian.org'", []string{"connect deb.debian.org"}},
	{"dial tcp: lookup example.com on 10.255.255.53:53: dial udp 10.255.255.53:53: connect: network is unreachable", []string{"connect example.com"}},
	{"dial tcp: lookup example.com: no such host", []string{"connect example.com"}},
	{"dial tcp 1.2.3.4:80: connect: network is unreachable", []string{"connect 1.2.3.4:80"}},
	{"java.net.UnknownHostException: example.com", []string{"connect example.com"}},
	{"java.net.SocketException: Network is unreachable", []string{"connect "}},
	{"ping: example.com: Temporary failure in name resolution", []string{"connect example.com"}},
	{"warning: spurious network error (3 tries remaining): [6] Could not resolve hostname (Could not resolve host: index.crates.io)", []string{"connect index.crates.io"}},
	{"Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", []string{"connect /var/run/docker.sock"}},
	{"permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get", []string{"connect /var/run/docker.sock"}},
	{"psql: error: could not translate host name \"db.example.com\" to address: Name or service not known", []string{"connect db.example.com"}},

	// What tells of nothing, or of nothing that can be named.
	{"git@github.com: Permission denied (publickey).", []string{"read /ws/git@github.com"}}, // a file of the workspace that may be read: not reported
	{"Permission denied, please try again.", []string{}},
	{"0 tests failed, permission denied was not seen", []string{}},
	{"CMake could not resolve the target", []string{}},
	{"touch: cannot touch '/etc/x\x00y': Read-only file system", []string{}},
	{"touch: cannot touch '/etc/\xff\xfe': Read-only file system", []string{"write /etc/\xff\xfe"}},
}

func TestMessages(t *testing.T) {
	for _, m := range messages {
		if got := heardIn(m.text + "\n"); !slices.Equal(got, m.want) {
			t.Errorf("%q\n got %q\nwant %q", m.text, got, m.want)
		}
	}
}

// However the stream is cut into pieces, the same is heard.
func TestMessagesInPieces(t *testing.T) {
	var all strings.Builder
	for _, m := range messages {
		all.WriteString("some other line of output that says nothing\n" + m.text + "\n")
	}
	want := heardIn(all.String())
	if len(want) < 50 {
		t.Fatalf("only %d heard", len(want))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := &scanner{hints: hints{cwd: "/ws"}}
		for p := []byte(all.String()); len(p) > 0; {
			n := 1 + r.IntN(min(len(p), 1+r.IntN(3*maxLine)))
			s.write(p[:n])
			p = p[n:]
		}
		s.close()
		if got := show(&s.hints); !slices.Equal(got, want) {
			t.Fatalf("got %q\nwant %q", got, want)
		}
	}
}

func TestLongLines(t *testing.T) {
	const msg = "cp: cannot create regular file '/etc/h2': Read-only file system"
	long := strings.Repeat("x", 5*maxLine)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"before", long + "\n" + msg + "\n", []string{"write /etc/h2"}},
		{"after", msg + "\n" + long, []string{"write /etc/h2"}},
		{"none ends", long, []string{}},
		{"path is lost", "cp: '/etc/" + long + "': Permission denied\n", []string{}},
	} {
		for _, piece := range []int{1 << 20, 4 << 10, 100} {
			s := &scanner{hints: hints{cwd: "/ws"}}
			for p := []byte(c.text); len(p) > 0; {
				n := min(piece, len(p))
				s.write(p[:n])
				p = p[n:]
			}
			if cap(s.buf) > 4*maxLine {
				t.Errorf("%s: %d bytes are kept", c.name, cap(s.buf))
			}
			s.close()
			if got := show(&s.hints); !slices.Equal(got, c.want) {
				t.Errorf("%s by %d: got %.200q, want %q", c.name, piece, got, c.want)
			}
		}
	}
}

func TestBounds(t *testing.T) {
	s := &scanner{hints: hints{cwd: "/ws"}}
	for i := range 10 * maxHints {
		s.write(fmt.Appendf(nil, "cat: /x/%d: Permission denied\n", i))
	}
	s.close()
	deny := func(n Hint) (report.Denial, bool) {
		return report.Denial{Operation: n.Operations[0], Subject: n.Subject, Certain: true}, true
	}
	list, more := s.denials(deny)
	if len(s.list) != maxHints || len(list) != maxDenials || !more || list[0].Certain {
		t.Fatalf("%d hints, %d denials, more %v, certain %v", len(s.list), len(list), more, list[0].Certain)
	}

	s = &scanner{hints: hints{cwd: "/ws"}}
	line := []byte("cat: /x/1: Permission denied\n")
	for range 2 * maxParsed {
		s.write(line)
	}
	s.close()
	if list, more := s.denials(deny); len(list) != 1 || !more || !s.done {
		t.Fatalf("%d denials, more %v: a command that repeats itself is listened to for ever", len(list), more)
	}
}

// A host that no message names is told of only when no other is, and once.
func TestUnnamedHost(t *testing.T) {
	deny := func(n Hint) (report.Denial, bool) {
		return report.Denial{Operation: "connect", Subject: n.Subject}, true
	}
	s := &scanner{}
	s.write([]byte("socket.gaierror: [Errno -3] Temporary failure in name resolution\ncurl: (6) Could not resolve host: a.b\n"))
	s.close()
	if list, _ := s.denials(deny); len(list) != 1 || list[0].Subject != "a.b" {
		t.Fatalf("%+v", list)
	}
}

func FuzzMessages(f *testing.F) {
	for _, m := range messages {
		f.Add([]byte(m.text), 7)
	}
	f.Fuzz(func(t *testing.T, p []byte, piece int) {
		piece = 1 + int(uint(piece)%20000)
		whole, parts := &scanner{hints: hints{cwd: "/ws"}}, &scanner{hints: hints{cwd: "/ws"}}
		whole.write(p)
		whole.close()
		for rest := p; len(rest) > 0; {
			n := min(piece, len(rest))
			parts.write(rest[:n])
			rest = rest[n:]
		}
		parts.close()
		for _, n := range whole.list {
			if len(n.Operations) == 0 || len(n.Subject) > maxSubject || n.Operations[0] != "connect" && n.Subject[0] != '/' {
				t.Fatalf("%+v", n)
			}
		}
		// Long lines are cut where pieces end; short ones give the same in any pieces.
		if len(p) < maxLine/2 && !slices.Equal(show(&whole.hints), show(&parts.hints)) {
			t.Fatalf("whole %q\nparts %q", show(&whole.hints), show(&parts.hints))
		}
	})
}

// Output that says nothing must not be slowed: over 500 MB/s, and nothing allocated.
func BenchmarkScan(b *testing.B) {
	quiet := bytes.Repeat([]byte("   Compiling serde v1.0.203 (/home/user/.cargo/registry/src/index/serde-1.0.203) in 3.2 s\n"), 700)
	noise := make([]byte, 64<<10)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for _, c := range []struct {
		name  string
		text  []byte
		piece int
	}{
		{"64KiB", quiet, 64 << 10}, {"4KiB", quiet, 4 << 10}, {"line", quiet, 90}, {"binary", noise, 64 << 10},
		{"long", bytes.Repeat([]byte("x y z 0 "), 8<<10), 64 << 10},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := &scanner{hints: hints{cwd: "/ws"}}
			s.write(c.text)
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				for p := c.text; len(p) > 0; {
					n := min(c.piece, len(p))
					s.write(p[:n])
					p = p[n:]
				}
			}
		})
	}
}
