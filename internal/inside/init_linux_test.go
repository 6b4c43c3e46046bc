package inside

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestInitExitCodes(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		step := 1
		if s.kind == InitGo || testing.Short() {
			step = 15 // 0, 15, ... 255
		}
		for code := 0; code < 256; code += step {
			r := started(t, s, shell(t, s, fmt.Sprintf("exit %d", code)))
			if st := r.exited(); !st.Exited() || st.ExitStatus() != code {
				t.Fatalf("status %#x, want exit %d", uint32(st), code)
			}
			r.stop()
		}
	})
}

func TestInitCommandKilledBySignal(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGABRT, unix.SIGKILL, unix.SIGSEGV, unix.SIGTERM, 64} {
			r := started(t, s, shell(t, s, fmt.Sprintf("ulimit -c 0; kill -%d $$; sleep 100", sig)))
			if st := r.exited(); !st.Signaled() || st.Signal() != sig {
				t.Errorf("status %#x, want signal %d", uint32(st), sig)
			}
		}
	})
}

func TestInitUsage(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		r := started(t, s, shell(t, s, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"))
		m := r.expect(KindExited)
		if u := m.Usage(); u.UserMicros+u.SystemMicros < 1000 || u.MaxRSSKiB < 100 {
			t.Errorf("usage %+v", u)
		}
	})
}

func TestInitThroughStage(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		s.stage = true
		b := NewBuilder(s.isolated)
		b.Call(Setup, "go to /usr", unix.SYS_CHDIR, Str("/usr"))
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

func TestInitFailedSteps(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		for _, p := range []Program{Setup, Init, Command} {
			s.stage = p == Setup
			b := NewBuilder(s.isolated)
			b.Call(p, "fine", unix.SYS_GETPID)
			b.Call(p, "go to nowhere", unix.SYS_CHDIR, Str("/does/not/exist"))
			if p != Command {
				addCommand(b, "/bin/true")
			}
			im := build(t, b)
			if p != Command {
				r := start(t, s, im)
				r.expectFailed(p, "go to nowhere", unix.ENOENT)
				r.wait()
				if code := r.cmd.ProcessState.ExitCode(); code != ExitFailed {
					t.Errorf("%s: exit code %d", p, code)
				}
				continue
			}
			r := started(t, s, im)
			r.expectFailed(p, "go to nowhere", unix.ENOENT)
			if st := r.exited(); st.ExitStatus() != ExitCommandFailed {
				t.Errorf("status %#x", uint32(st))
			}
		}
	})
}

func TestInitCommandWithoutExec(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		r := started(t, s, build(t, NewBuilder(s.isolated)))
		r.expectFailed(Command, "execute the command", unix.ENOEXEC)
		r.exited()
	})
}

func TestInitNothingRunsWithoutGo(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		for _, first := range []string{"", "\x0f", "\xfe"} {
			mark := filepath.Join(t.TempDir(), "ran")
			r := start(t, s, shell(t, s, "echo > "+mark))
			r.expect(KindHello)
			r.send([]byte(first)...)
			r.control.Close()
			r.output()
			r.wait()
			if _, err := os.Stat(mark); err == nil {
				t.Errorf("the command ran after %q", first)
			}
		}
	})
}

func TestInitControlEndKillsAll(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		script := "trap '' TERM HUP INT; sleep 1000 & echo up; while :; do sleep 1; done"
		if s.isolated { // a daemon; without a pid namespace only the group can be reached
			script = "setsid sleep 1000 & " + script
		}
		r := started(t, s, shell(t, s, script))
		r.line()
		r.control.Close()
		r.output() // ends when the last holder of stdout is dead
		r.wait()
	})
}

func TestInitDaemonDiesWithCommand(t *testing.T) {
	eachIsolated(t, func(t *testing.T, s setup) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		if err := unix.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		r := started(t, s, shell(t, s, "setsid sh -c 'trap \"\" TERM HUP; echo up; echo > "+fifo+"; sleep 1000' & read x < "+fifo+"; exit 3"))
		if st := r.exited(); st.ExitStatus() != 3 {
			t.Errorf("status %#x", uint32(st))
		}
		if got := r.output(); got != "up\n" {
			t.Errorf("output %q", got)
		}
	})
}

func TestInitForwardsSignals(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		r := started(t, s, shell(t, s, "trap 'exit 7' TERM; echo up; while :; do sleep 0.05; done"))
		r.line()
		r.send(0, 65, 127, 0x80, 0x80|65, 0xF0, byte(unix.SIGTERM)) // those before are nothing
		if st := r.exited(); st.ExitStatus() != 7 {
			t.Errorf("status %#x", uint32(st))
		}
	})
}

func TestInitKillAll(t *testing.T) {
	eachIsolated(t, func(t *testing.T, s setup) {
		r := started(t, s, shell(t, s, "trap 'exit 9' TERM; setsid sh -c 'trap \"echo got; exit\" TERM; echo up; while :; do sleep 0.05; done' & wait; sleep 1; exit 1"))
		r.line()
		r.send(ControlAll | byte(unix.SIGTERM))
		r.exited()
		r = started(t, s, shell(t, s, "setsid sleep 1000 & echo up; sleep 1000"))
		r.line()
		r.send(ControlAll | byte(unix.SIGKILL))
		if st := r.exited(); st.Signal() != unix.SIGKILL {
			t.Errorf("status %#x", uint32(st))
		}
		r.output()
	})
}

// TestInitDirectStays: without a pid namespace the init stays until told to go, holds no end of the command's pipes, and
// still kills what the command left in its group.
func TestInitDirectStays(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		if s.isolated {
			return
		}
		r := started(t, s, shell(t, s, "echo last"))
		r.exited()
		if got := r.output(); got != "last\n" {
			t.Errorf("output %q", got)
		}
		if err := r.cmd.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("the init is gone: %v", err)
		}
		r.send(ControlQuit)
		r.wait()
		if code := r.cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		r = started(t, s, shell(t, s, "sleep 1000 & exit 0"))
		r.exited()
		r.send(byte(unix.SIGKILL))
		r.output()
	})
}

func zombiesOf(t *testing.T, pid int) (n int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, _ := os.ReadFile(name)
		_, rest, _ := strings.Cut(string(text), ") ")
		if strings.HasPrefix(rest, fmt.Sprintf("Z %d ", pid)) {
			n++
		}
	}
	return n
}

func TestInitReapsOrphans(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		r := started(t, s, shell(t, s, "i=0; while [ $i -lt 200 ]; do (: &); i=$((i+1)); done; echo done; read x; sleep 1000"))
		r.line()
		deadline := time.Now().Add(10 * time.Second)
		for zombiesOf(t, r.cmd.Process.Pid) > 0 && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		if n := zombiesOf(t, r.cmd.Process.Pid); n > 0 {
			t.Errorf("%d zombies", n)
		}
	})
}

// TestInitOrphanStorm: a command that makes orphans without end cannot keep the kill from being read.
func TestInitOrphanStorm(t *testing.T) {
	eachIsolated(t, func(t *testing.T, s setup) {
		r := started(t, s, shell(t, s, "echo up; while :; do (: & ); (: & ); done"))
		r.line()
		time.Sleep(300 * time.Millisecond)
		begin := time.Now()
		r.send(ControlAll | byte(unix.SIGKILL))
		r.exited()
		r.output()
		r.wait()
		if d := time.Since(begin); d > 2*time.Second {
			t.Errorf("it took %v", d)
		}
	})
}

func TestInitDescriptorsAndSignalsOfCommand(t *testing.T) {
	signal.Ignore(unix.SIGUSR1, unix.SIGPIPE)
	defer signal.Reset(unix.SIGUSR1, unix.SIGPIPE)
	eachInit(t, func(t *testing.T, s setup) {
		b := NewBuilder(s.isolated)
		b.Call(Init, "leak", unix.SYS_OPENAT, Int(unix.AT_FDCWD), Str("/etc/passwd"), Imm(unix.O_RDONLY), Imm(0)).To(b.NewSlot())
		addCommand(b, "/bin/sh", "-c", "ls /proc/self/fd | tr '\\n' ' '; grep -h -E 'Sig(Blk|Ign)' /proc/self/status | tr '\\n\\t' '  '; env | tr '\\n' ' '")
		r := started(t, s, build(t, b))
		r.exited()
		const zero = "0000000000000000"
		want := "0 1 2 3 SigBlk: " + zero + " SigIgn: " + zero + " PATH="
		if got := r.output(); !strings.HasPrefix(got, want) {
			t.Errorf("output %q, want %q...", got, want)
		}
	})
}

// addProc mounts a proc of the new pid namespace.
func addProc(b *Builder, p Program) {
	b.Call(p, "private mounts", unix.SYS_MOUNT, Str("none"), Str("/"), Imm(0), Imm(unix.MS_REC|unix.MS_PRIVATE), Imm(0))
	b.Call(p, "mount proc", unix.SYS_MOUNT, Str("proc"), Str("/proc"), Str("proc"), Imm(0), Imm(0))
}

// addDropCaps takes all capabilities away for good.
func addDropCaps(b *Builder, p Program) {
	for c := range 64 {
		b.Call(p, "drop from the bounding set", unix.SYS_PRCTL, Imm(unix.PR_CAPBSET_DROP), Int(c), Imm(0), Imm(0), Imm(0)).Tolerate(uintptr(unix.EINVAL)).AllThreads()
	}
	b.Call(p, "no new privileges", unix.SYS_PRCTL, Imm(unix.PR_SET_NO_NEW_PRIVS), Imm(1), Imm(0), Imm(0), Imm(0)).AllThreads()
	header := b.Data([]byte{0x22, 0x05, 0x08, 0x20, 0, 0, 0, 0})
	b.Call(p, "drop capabilities", unix.SYS_CAPSET, Ref(header), Buf(24)).AllThreads()
}

func TestInitIsClosedToCommand(t *testing.T) {
	eachIsolated(t, func(t *testing.T, s setup) {
		b := NewBuilder(true)
		addProc(b, Init)
		addDropCaps(b, Init)
		addCommand(b, "/bin/sh", "-c", `cat /proc/self/environ >/dev/null && echo twin
for f in environ mem maps auxv; do (cat /proc/1/$f) 2>/dev/null && echo "$f read"; done
for f in exe cwd root fd/3 fd/4; do readlink /proc/1/$f 2>/dev/null && echo "$f read"; done
chmod 4711 /proc/1/exe 2>/dev/null && echo exe changed
grep CapEff /proc/1/status; kill -KILL 1; kill -TERM 1; kill -SEGV 1; echo end`)
		r := started(t, s, build(t, b))
		r.exited()
		if got := r.output(); got != "twin\nCapEff:\t0000000000000000\nend\n" {
			t.Errorf("output %q", got)
		}
	})
}

func TestInitEnvironmentIsEmpty(t *testing.T) {
	eachInit(t, func(t *testing.T, s setup) {
		if os.Getuid() != 0 {
			t.Skip("only root may look")
		}
		s.stage = true
		t.Setenv("SECRET", "of the launcher")
		r := started(t, s, shell(t, s, "echo up; sleep 1000"))
		r.line()
		dir := fmt.Sprintf("/proc/%d/", r.cmd.Process.Pid)
		env, err := os.ReadFile(dir + "environ")
		if err != nil || len(env) != 0 {
			t.Errorf("environ %q, %v", env, err)
		}
		if exe, err := os.Readlink(dir + "exe"); !strings.HasPrefix(exe, "/memfd:qsandbox-init") {
			t.Errorf("exe %q, %v", exe, err)
		}
		if s.kind == InitAuto {
			maps, _ := os.ReadFile(dir + "maps")
			t.Logf("\n%s", maps)
			if strings.Contains(string(maps), " rwx") {
				t.Error("a writable and executable mapping")
			}
		}
	})
}

// TestAsOrdinaryUser plays the tests of this file again without root's rights.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("not root: this is already an ordinary user")
	}
	dir, err := os.MkdirTemp("/tmp", "inside")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	args := []string{"inside.test", "-test.run=^Test(Init|Program|SendFD)", "-test.short", "-test.v"}
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: args, Dir: dir, Env: []string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir, "HOME=" + dir}}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestInitExitCodes") {
		t.Errorf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "--- SKIP"); n > 0 {
		t.Logf("%d skipped as an ordinary user", n)
	}
}
