package seccomp

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// killed reports whether a process was ended by SIGSYS.
func killed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	ws, ok := exit.Sys().(syscall.WaitStatus)
	return ok && ws.Signaled() && ws.Signal() == syscall.SIGSYS
}

// TestKernelX32 makes x32's getpid.
func TestKernelX32(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("x32 is part of amd64")
	}
	calls := []rawCall{{Nr: 0x40000000 | 39}}
	if err := child(t, order{Filter: true, Opts: options(), Calls: calls}).Run(); !killed(err) {
		t.Errorf("an x32 call: %v, want SIGSYS", err)
	}
	if err := child(t, order{Calls: calls}).Run(); err != nil {
		t.Errorf("without the filter: %v", err)
	}
	calls[0].Nr = ^uintptr(0) // what a tracer writes to skip a call
	if got := errnos(t, order{Filter: true, Opts: options(), Calls: calls}); got[0] != unix.ENOSYS {
		t.Errorf("call -1: %v", got[0])
	}
}

// exitELF makes a program of one segment that runs i386's exit(0) by int 0x80:
// a 32-bit one, or a 64-bit one that uses the 32-bit entry, the classic way past a
// filter that does not look at the architecture.
func exitELF(bits int) []byte {
	code := []byte{0x31, 0xdb, 0xb8, 1, 0, 0, 0, 0xcd, 0x80} // xor ebx,ebx; mov eax,1; int 0x80
	const base = 0x400000
	le := binary.LittleEndian
	b := []byte{0x7f, 'E', 'L', 'F', byte(bits / 32), 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	b = le.AppendUint16(b, 2) // ET_EXEC
	if bits == 32 {
		b = le.AppendUint16(b, 3) // EM_386
		for _, v := range []uint32{1, base + 84, 52, 0, 0, 52 | 32<<16, 1 | 40<<16, 0} {
			b = le.AppendUint32(b, v)
		}
		for _, v := range []uint32{1, 0, base, base, 84 + 9, 84 + 9, 5, 0x1000} {
			b = le.AppendUint32(b, v)
		}
		return append(b, code...)
	}
	b = le.AppendUint16(b, 62) // EM_X86_64
	b = le.AppendUint32(b, 1)
	for _, v := range []uint64{base + 120, 64, 0} {
		b = le.AppendUint64(b, v)
	}
	for _, v := range []uint32{0, 64 | 56<<16, 1 | 64<<16, 0} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint32(b, 1)
	b = le.AppendUint32(b, 5)
	for _, v := range []uint64{0, base, base, 120 + 9, 120 + 9, 0x1000} {
		b = le.AppendUint64(b, v)
	}
	return append(b, code...)
}

// TestKernelForeignArchitecture runs i386 calls from 32-bit and from 64-bit code.
func TestKernelForeignArchitecture(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the programs are for amd64")
	}
	for _, bits := range []int{32, 64} {
		prog := filepath.Join(t.TempDir(), "exit")
		if err := os.WriteFile(prog, exitELF(bits), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := exec.Command(prog).Run(); err != nil {
			t.Logf("%d bits: not tested: this kernel does not run it: %v", bits, err)
			continue
		}
		if out, err := execute(t, order{Filter: true, Opts: options(), Exec: []string{prog}}); !killed(err) {
			t.Errorf("%d bits: %v %q, want SIGSYS", bits, err, out)
		}
	}
}

// programs are what people run. Each is a shell script that ends with "echo ok";
// need names what must be installed.
var programs = []struct{ name, need, script string }{
	{"bash", "bash", `bash -c 'x=$(echo a | tr a b); [ $x = b ] && (sleep 0.01 & wait) && test -w . && set -o pipefail'`},
	{"coreutils", "tar", `mkdir a && echo x >a/f && chmod 750 a && ln a/f a/g && ln -s f a/h && cp -a a b && tar -cf t.tar a && mkdir c && tar -C c -xf t.tar && mv b d && rm -r a d && mkfifo p && touch c/a/f && find c | sort | xargs ls -ld >/dev/null`},
	{"python", "python3", `python3 -c '
import threading, subprocess, socket, tempfile, os, multiprocessing, asyncio, ssl, mmap, select
t = threading.Thread(target=lambda: None); t.start(); t.join()
assert subprocess.run(["true"]).returncode == 0
a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
c = socket.create_connection(s.getsockname()); c.close()
socket.getaddrinfo("localhost", 80)
socket.if_nameindex()
with tempfile.TemporaryDirectory() as d: open(os.path.join(d, "f"), "w").write("x")
with multiprocessing.get_context("fork").Pool(2) as p: assert p.map(abs, [-1, 2]) == [1, 2]
asyncio.run(asyncio.sleep(0.01))
os.posix_spawn("/bin/true", ["true"], os.environ); os.wait()
'`},
	{"node", "node", `node -e '
const fs = require("fs"), cp = require("child_process"), { Worker } = require("worker_threads"), net = require("net");
fs.writeFileSync("f", "x"); cp.execFileSync("true");
fs.promises.readFile("f").then(() => {
  const s = net.createServer(c => c.end("x")).listen("sock", () => net.connect("sock").on("data", () => {}).on("close", () => {
    s.close(); const w = new Worker("0", { eval: true }); w.on("exit", () => fs.watch(".").close()); }));
});'`},
	{"npm", "npm", `npm --version >/dev/null && npm init -y >/dev/null && npm pkg get name >/dev/null`},
	{"git", "git", `git init -q r && cd r && git config user.email a@b && git config user.name n && echo x >f && git add f && git commit -qm m && git branch b && git switch -q b && git worktree add -q ../w && cd .. && git clone -q r c && git -C c log --oneline | grep -q m && git -C r gc -q`},
	{"gcc", "gcc", `printf '#include <stdio.h>\n#include <pthread.h>\nvoid*f(void*x){return x;}int main(){pthread_t t;pthread_create(&t,0,f,0);pthread_join(t,0);puts("hi");}' >a.c && gcc -pthread a.c -o a && ./a | grep -q hi`},
	{"make", "make", "printf 'all: a b\\na b:\\n\\t@touch $@\\n' >Makefile && make -s -j2 && test -f a"},
	{"java", "java", `printf 'public class A { public static void main(String[] a) throws Exception { Thread t = new Thread(() -> {}); t.start(); t.join(); new ProcessBuilder("true").start().waitFor(); java.nio.file.Files.createTempFile("a","b"); } }' >A.java && java -Djava.io.tmpdir=. A.java`},
	{"go", "go", `printf 'package main\nimport ("fmt";"os/exec";"os")\nfunc main(){ r,err:=os.OpenRoot("."); if err!=nil{panic(err)}; if _,err:=r.Create("x");err!=nil{panic(err)}; if err:=exec.Command("true").Run();err!=nil{panic(err)}; fmt.Println("hi")}\n' >a.go && GOCACHE=${GOCACHE:-$(go env GOCACHE)} GOFLAGS=-mod=mod go run a.go | grep -q hi`},
	{"rust", "rustc", `printf 'fn main(){ std::thread::spawn(||{}).join().unwrap(); std::process::Command::new("true").status().unwrap(); println!("hi"); }' >a.rs && rustc a.rs 2>&1 && ./a | grep -q hi`},
	{"tmux", "tmux", `tmux -S ./s -f /dev/null new-session -d 'echo x >out; sleep 5' && for i in 1 2 3 4 5 6 7 8 9 10; do test -s out && break; sleep 0.1; done; test -s out && tmux -S ./s kill-server`},
	{"perl", "perl", `perl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_STREAM,0) or die; system("true")==0 or die; fork() // die'`},
	{"strace", "strace", `strace -f -o tr sh -c 'true; true | true' && grep -q exit_group tr`},
	{"gdb", "gdb", `gdb -q -batch -ex run -ex 'info proc' --args true 2>&1 | grep -q 'exited normally'`},
	{"curl", "curl", `curl -s --max-time 2 http://127.0.0.1:1/ || test $? = 7`},
	{"ip", "ip", `ip link >/dev/null`},
	{"sqlite", "sqlite3", `sqlite3 db 'create table t(a); insert into t values(1); select * from t' | grep -q 1`},
}

// TestProgramsRun: usual programs work under the filter; the control is the same
// program without it, run only when it fails.
func TestProgramsRun(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			if _, err := exec.LookPath(p.need); err != nil {
				t.Skip(err)
			}
			run := []string{"sh", "-c", "set -e\n" + p.script + "\necho ok"}
			out, err := execute(t, order{Filter: true, Opts: options(), Exec: run})
			if err == nil && strings.HasSuffix(out, "ok") {
				return
			}
			control, controlErr := execute(t, order{Exec: run})
			if controlErr != nil || !strings.HasSuffix(control, "ok") {
				t.Skipf("fails without the filter too: %v\n%s", controlErr, control)
			}
			t.Errorf("under the filter: %v\n%s", err, out)
		})
	}
}

// TestRefusalsAsProgramsSeeThem: the same things that a person would try, each
// with its control.
func TestRefusalsAsProgramsSeeThem(t *testing.T) {
	for _, p := range []struct{ name, script, says string }{
		{"chmod u+s", "touch f && chmod u+s f", "not permitted"},
		{"install -m 4755", "touch f && install -m 4755 f g", "not permitted"},
		{"chmod g+s dir", "mkdir d && chmod g+s d", "not permitted"},
		{"unshare", "unshare -Ur true", "not permitted"},
		{"mknod", "mknod n c 1 3", "not permitted"},
		{"setarch", "setarch -R true", "not permitted"},
		{"mount", "unshare -m true", "not permitted"},
	} {
		t.Run(p.name, func(t *testing.T) {
			run := []string{"sh", "-c", p.script}
			if out, err := execute(t, order{Exec: run}); err != nil {
				t.Skipf("fails without the filter too: %v %s", err, out)
			}
			if out, err := execute(t, order{Filter: true, Opts: options(), Exec: run}); err == nil || !strings.Contains(out, p.says) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestNested: exec.nested opens user namespaces and mounts in them, and nothing of
// what the other refusals protect.
func TestNested(t *testing.T) {
	o := options()
	o.Nested = true
	for _, p := range []struct {
		name, script string
		works        bool
	}{
		{"user namespace", "unshare -Ur true", true},
		{"mount in it", "unshare -Urm sh -c 'mount -t tmpfs none /mnt && touch /mnt/x'", true},
		{"bwrap", "bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev true", true},
		{"chmod u+s", "touch f && chmod u+s f", false},
		{"chmod u+s in it", "touch f && unshare -Ur chmod u+s f", false},
	} {
		t.Run(p.name, func(t *testing.T) {
			run := []string{"sh", "-c", p.script}
			if out, err := execute(t, order{Exec: run}); err != nil {
				t.Skipf("fails without the filter too: %v %s", err, out)
			}
			if out, err := execute(t, order{Filter: true, Opts: o, Exec: run}); (err == nil) != p.works {
				t.Errorf("%v: %s", err, out)
			}
			if _, err := execute(t, order{Filter: true, Opts: options(), Exec: run}); err == nil {
				t.Error("works without exec.nested")
			}
		})
	}
}
