package guard

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// playRace attacks from two threads for a while and prints how often each got through.
func playRace(kind string) error {
	var stop atomic.Bool
	var tries, hits atomic.Int64
	other := func(f func()) {
		go func() {
			runtime.LockOSThread()
			for !stop.Load() {
				f()
			}
		}()
	}
	path := []byte("plain/commondir\x00\x00\x00\x00\x00\x00\x00\x00")
	switch kind {
	case "rename": // a folder gets its name while something is made in it
		other(func() { unix.Mkdir("g/agents", 0o755); unix.Rmdir("g/agents") })
	case "link": // a link on the way is turned
		other(func() {
			unix.Symlink("plain", "l1")
			unix.Rename("l1", "sw")
			unix.Symlink("repo/.git", "l2")
			unix.Rename("l2", "sw")
		})
	case "memory": // the path changes after it was looked at
		other(func() { copy(path, "repo/.git/commondir"); copy(path, "plain/commondir\x00") })
	}
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		var err unix.Errno
		switch kind {
		case "rename":
			err = errno(unix.Rename("g", ".github"))
			if unix.Access(".github/agents", 0) == nil {
				hits.Add(1)
			}
			unix.Rename(".github", "g")
		case "link":
			var fd int
			if fd, err = openat(unix.AT_FDCWD, "sw/commondir", unix.O_CREAT|unix.O_WRONLY, 0o644); err == 0 {
				unix.Close(fd)
			}
		case "memory":
			var fd uintptr
			if fd, _, err = unix.Syscall6(unix.SYS_OPENAT, uintptr(cwdFD), uintptr(unsafe.Pointer(&path[0])), unix.O_CREAT|unix.O_WRONLY, 0o644, 0, 0); err == 0 {
				unix.Close(int(fd))
			}
		}
		if err == 0 {
			tries.Add(1)
		}
		if unix.Access("repo/.git/commondir", 0) == nil {
			hits.Add(1)
			unix.Unlink("repo/.git/commondir")
		}
	}
	stop.Store(true)
	fmt.Println(tries.Load(), hits.Load())
	return nil
}

var cwdFD = unix.AT_FDCWD

func TestRaces(t *testing.T) {
	for _, kind := range []string{"rename", "link", "memory"} {
		for _, notify := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/guard=%v", kind, notify), func(t *testing.T) {
				r := newRig(t, nil, false)
				r.dir("g")
				r.dir("plain")
				r.dir("repo/.git")
				out, err := r.order(order{Notify: notify, Race: kind})
				var tries, hits int
				if _, e := fmt.Sscan(out, &tries, &hits); err != nil || e != nil {
					t.Fatal(out, err, e)
				}
				t.Logf("%d calls went through, %d hits", tries, hits)
				switch {
				case notify && hits > 0:
					t.Errorf("%d of %d attacks got through", hits, tries)
				case notify && tries == 0:
					t.Error("nothing went through, so nothing was tried")
				case !notify && hits == 0:
					t.Error("the control never hits")
				}
			})
		}
	}
}

// TestHeldUp: opens that wait for somebody hold up nobody else, a signal ends them,
// and so does Close.
func TestHeldUp(t *testing.T) {
	ways(t, func(t *testing.T, r *rig) {
		const script = `
			mkfifo p q
			for i in 1 2 3 4 5 6 7 8; do (echo $i > p) & done
			timeout 1 sh -c 'echo x > q' || echo $?
			for i in $(seq 50); do echo $i > f$i; done; echo many
			sh -c 'trap "echo caught" USR1; (sleep 0.3; kill -USR1 $$; sleep 1; timeout 1 cat q) & echo x > q; wait' 2>&1
			timeout 5 cat p > got; wait; wc -l < got`
		want, err := r.run(false, "sh", "-ec", script)
		if err != nil {
			t.Fatal(err)
		}
		os.RemoveAll(r.root)
		r.dir("")
		start := time.Now()
		if got := r.sh(script); got != want || !strings.Contains(got, "124\nmany\n") || !strings.Contains(got, "caught") {
			t.Errorf("the kernel says %q, the guard %q", want, got)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("it took %v", d)
		}
	})
}

// TestLease: a file under another program's lease (the filter grants the command
// none) holds its opener up, and nobody else.
func TestLease(t *testing.T) {
	r := newRig(t, nil, false)
	holder := exec.Command("python3", "-c", `
import fcntl,os,signal,time
signal.signal(signal.SIGIO, lambda *a: None)
f=os.open("leased",os.O_RDONLY|os.O_CREAT); fcntl.fcntl(f,fcntl.F_SETLEASE,fcntl.F_RDLCK); open("ready","w").close()
end=time.time()+2
while time.time()<end: time.sleep(0.1)
fcntl.fcntl(f,fcntl.F_SETLEASE,fcntl.F_UNLCK)`)
	holder.Dir = r.root
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer holder.Wait()
	out := r.sh(`
		n=0; while ! [ -e ready ]; do sleep 0.05; n=$((n+1)); [ $n -lt 200 ] || exit 1; done
		(echo y > leased; date +%s%N > after) &
		sleep 0.3; date +%s%N > before; for i in $(seq 20); do echo $i > g$i; done; date +%s%N > made; wait
		[ $(cat made) -lt $(cat after) ] && echo order; cat leased`)
	if out != "order\ny\n" {
		t.Errorf("%q", out)
	}
}

// TestClose ends everything, also what waits, and the calls that come later.
func TestClose(t *testing.T) {
	for range 5 {
		r := newRig(t, nil, false)
		cmd := r.child(order{Notify: true, Exec: []string{"sh", "-c", `mkfifo p; (echo x > p) 2>/dev/null & touch up; while touch t$i 2>/dev/null; do :; done; touch after || echo no`}})
		var b strings.Builder
		cmd.Stdout, cmd.Stderr = &b, &b
		done := r.start(cmd, order{Notify: true})
		for range 100 {
			if _, err := os.Stat(filepath.Join(r.root, "up")); err == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		start := time.Now()
		done()
		if d := time.Since(start); d > time.Second {
			t.Errorf("Close took %v", d)
		}
		finished := make(chan error, 1)
		go func() { finished <- cmd.Wait() }()
		select {
		case <-finished:
		case <-time.After(10 * time.Second):
			cmd.Process.Kill()
			t.Error("the command goes on without an answer")
		}
		if !strings.Contains(b.String(), "no") || !strings.Contains(b.String(), "not implemented") {
			t.Errorf("after Close: %q", b.String())
		}
	}
}

// TestManyAtOnce: threads and processes side by side, none loses a call.
func TestManyAtOnce(t *testing.T) {
	r := newRig(t, nil, false)
	out := r.sh(`
		for p in 1 2 3 4 5 6; do (mkdir p$p; for i in $(seq 60); do echo $i > p$p/t$i; mv p$p/t$i p$p/f$i; ln p$p/f$i p$p/l$i; done) & done
		python3 -c '
import threading,os
def f(n):
    for i in range(200):
        p="y%d_%d"%(n,i); os.close(os.open(p,os.O_CREAT|os.O_EXCL|os.O_WRONLY)); os.rename(p,p+"z")
ts=[threading.Thread(target=f,args=(n,)) for n in range(6)]
[t.start() for t in ts]; [t.join() for t in ts]'
		wait; ls p?/f* | wc -l; ls p?/l* | wc -l; ls y*z | wc -l`)
	if strings.Join(strings.Fields(out), " ") != "360 360 1200" {
		t.Error(out)
	}
}

// TestLeavesNothing: no descriptor and no thread stays behind.
func TestLeavesNothing(t *testing.T) {
	count := func() (fds, threads int) {
		f, _ := os.ReadDir("/proc/self/fd")
		n, _ := os.ReadDir("/proc/self/task")
		return len(f), len(n)
	}
	once := func() {
		r := newRig(t, nil, false)
		r.sh(`mkfifo p; (timeout 0.2 sh -c 'echo > p') || true; touch a; echo > /dev/null; mv a b; git init -q g; mkdir .vscode || true`)
	}
	once()
	fds, threads := count()
	for range 8 {
		once()
	}
	time.Sleep(50 * time.Millisecond)
	if f, n := count(); f > fds || n > threads+4 {
		t.Errorf("%d descriptors and %d threads before, %d and %d after", fds, threads, f, n)
	}
}
