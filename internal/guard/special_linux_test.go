package guard

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestOtherProcesses: what the command may not look into, the Guard does not open
// for it; compared with the kernel's own answer.
func TestOtherProcesses(t *testing.T) {
	const script = `
		echo secret > s; echo open > o
		python3 -c 'import ctypes,time,os; f=os.open("s",os.O_RDWR); os.dup2(f,9); ctypes.CDLL(None).prctl(4,0); open("hidden","w").write(str(os.getpid())); time.sleep(300)' &
		while ! [ -s hidden ]; do sleep 0.05; done; h=$(cat hidden)
		(echo x > /proc/$h/fd/9) 2>&1 | grep -o 'Permission denied'; (echo x > /proc/$h/cwd/new) 2>&1 | grep -o 'Permission denied'
		python3 -c 'import os,sys; os.open("/proc/%s/mem"%sys.argv[1],os.O_RDWR|os.O_CREAT)' $h 2>&1 | grep -o 'Permission denied'
		python3 -c 'import os,sys; os.open("/proc/self/mem",os.O_RDWR|os.O_CREAT); print("own")'
		cat s; kill $!; wait`
	ways(t, func(t *testing.T, r *rig) {
		r.needsSight()
		want, err := r.run(false, "sh", "-c", script)
		if err != nil {
			t.Fatal(err)
		}
		os.RemoveAll(r.root)
		r.dir("")
		if got, err := r.run(true, "sh", "-c", script); err != nil || got != want {
			t.Errorf("%v: the kernel says %q, the guard %q", err, want, got)
		}
		if os.Geteuid() != 0 && strings.Count(want, "denied") != 3 {
			t.Errorf("the control is %q", want)
		}
	})
}

// needsSight skips where a process that made itself undumpable cannot be read at all:
// its calls fail with EPERM. In a run of the product an ordinary user's command is
// always in a user namespace, whose owner may read it.
func (r *rig) needsSight() {
	if os.Geteuid() != 0 && !r.ns {
		r.t.Skip("an ordinary user without a user namespace cannot serve undumpable processes")
	}
}

// TestUndumpable: a process that nobody may look into is served too.
func TestUndumpable(t *testing.T) {
	ways(t, func(t *testing.T, r *rig) {
		r.needsSight()
		out := r.sh(`mkdir d; python3 -c '
import ctypes,os
ctypes.CDLL(None).prctl(4,0)
open("a","w").write("x"); os.mkdir("d/e"); f=os.open("d",0); os.close(os.open("b",os.O_CREAT|os.O_WRONLY,dir_fd=f)); os.rename("a","d/c")
print(sorted(os.listdir("d")))'`)
		if out != "['b', 'c', 'e']\n" {
			t.Error(out)
		}
	})
}

// TestTerminal: /dev/tty is the command's terminal, never the launcher's.
func TestTerminal(t *testing.T) {
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("script(1) is not installed")
	}
	ways(t, func(t *testing.T, r *rig) {
		out, err := r.run(true, "sh", "-c", `script -qec 'echo hi > /dev/tty; tty' /dev/null < /dev/null; setsid sh -c 'echo lost > /dev/tty'`)
		if !strings.Contains(out, "hi") || !strings.Contains(out, "No such device or address") || strings.Contains(out, "lost\n") {
			t.Errorf("%q %v", out, err)
		}
	})
}

// TestPlaces: what Landlock would refuse is refused, and existing files can still be opened.
func TestPlaces(t *testing.T) {
	ways(t, func(t *testing.T, r *rig) {
		r.dir("in")
		r.dir("out")
		r.file("out/there", "x\n")
		root := r.root
		r.cfg = func(c *Config) { c.Roots, c.Places = []string{root + "/in"}, []string{root + "/in", "/dev/shm"} }
		out := r.sh(`
			echo a > in/a; echo b >> out/there; echo n > /dev/null
			for c in 'echo x > out/new' 'mkdir out/d' 'mv in/a out/a' 'mv out/there in/' 'ln in/a out/l' 'ln -s x out/s' 'mkfifo out/f' ; do (eval "$c") 2>/dev/null && echo "$c"; done
			cat out/there`)
		if out != "x\nb\n" {
			t.Errorf("%q %s", out, r.rules())
		}
		if !r.refused("places") {
			t.Error("no denial was told of")
		}
	})
}

// TestReadOnlyMounts: the caller's mounts hold for the Guard, which has more rights outside.
func TestReadOnlyMounts(t *testing.T) {
	ways(t, func(t *testing.T, r *rig) {
		if !r.jailed() {
			t.Skip("no mount namespace without rights")
		}
		out, _ := r.run(true, "sh", "-c", `echo x > /usr/guard-test; mkdir /etc/guard-test; touch /bin/ls; echo x > /etc/hostname`)
		if n := strings.Count(out, "Read-only file system") + strings.Count(out, "Permission denied"); n != 4 {
			t.Error(out)
		}
	})
}

// TestDeep: below 4,096 bytes the kernel tells no path; names are refused that may be protected.
func TestDeep(t *testing.T) {
	r := newRig(t, nil, false)
	out := r.sh(`python3 -c '
import os
for i in range(30):
    os.mkdir("d"*200); os.chdir("d"*200)
open("ok","w").close(); os.mkdir("src")
for n in ".vscode","hooks","config",".mcp.json":
    try: os.mkdir(n); print("made",n)
    except PermissionError: pass
os.rename("ok","fine"); print(os.listdir("."))' ; rm -r ddd*`)
	if strings.Contains(out, "made") || !strings.Contains(out, "fine") {
		t.Error(out)
	}
}

// TestSetID: no set-ID mode comes through the call whose mode the filter cannot see.
func TestSetID(t *testing.T) {
	r := newRig(t, nil, false)
	out := r.sh(`python3 -c '
import ctypes,struct,os
l=ctypes.CDLL(None,use_errno=True)
def o2(p,flags,mode):
    h=struct.pack("QQQ",flags,mode,0); r=l.syscall(437,-100,p,h,24); return r if r>=0 else -ctypes.get_errno()
print(o2(b"s",0o101,0o4755), o2(b"t",0o101,0o640)>0, oct(os.stat("t").st_mode), os.path.exists("s"), o2(b".",0o10000000,0))'`)
	if out != "-1 True 0o100640 False -38\n" {
		t.Error(out)
	}
}

// TestAsOrdinaryUser runs the tests above as somebody who is not root.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is an ordinary user")
	}
	dir, err := os.MkdirTemp("", "guard")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	os.Chown(dir, nobody, nobody)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	bin := dir + "/test"
	os.WriteFile(bin, self, 0o755)
	cmd := exec.Command(bin, "-test.run", "Programs|Plain|NewRepo|Kernel|Attacks$|Daily|HeldUp|Other|Undumpable|Terminal|Places|Close", "-test.short")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
