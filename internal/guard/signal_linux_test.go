package guard

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSignalsToUs: the runtime sends signals to its threads at any time. One that
// ended the delivery of a descriptor gave the command descriptor 0 instead, to which
// tar then wrote, and whose mode it changed.
func TestSignalsToUs(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Microsecond):
			}
			list, _ := os.ReadDir("/proc/self/task")
			for _, e := range list {
				tid, _ := strconv.Atoi(e.Name())
				unix.Tgkill(os.Getpid(), tid, unix.SIGURG)
			}
		}
	}()
	r := newRig(t, nil, false)
	out := r.sh(`python3 -c '
import os
bad=0
for i in range(4000):
    p="f%d"%(i%200); f=os.open(p,os.O_CREAT|os.O_WRONLY)
    if f<3 or os.fstat(f).st_ino!=os.stat(p).st_ino: bad+=1
    else: os.close(f)
print(bad)'`)
	if strings.TrimSpace(out) != "0" {
		t.Errorf("wrong descriptors: %s", out)
	}
}

// TestSignalsToTheCaller: a call is made once, however often its caller is interrupted
// (SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV). Until a worker takes it up it can be
// interrupted, with nothing done: a caller whose handler does not ask for restarts
// sees EINTR where the kernel alone never gives one.
func TestSignalsToTheCaller(t *testing.T) {
	r := newRig(t, nil, false)
	out := r.sh(`python3 -c '
import os,signal
signal.signal(signal.SIGALRM, lambda *a: None); signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
bad=0
def once(f,*a):
    global bad
    while True:
        try: return f(*a)
        except InterruptedError: pass
        except (FileExistsError,FileNotFoundError): bad+=1; return
for i in range(3000):
    once(os.mkdir,"d%d"%i); once(os.rename,"d%d"%i,"e%d"%i)
signal.setitimer(signal.ITIMER_REAL,0); print(bad)'`)
	if strings.TrimSpace(out) != "0" {
		t.Errorf("made twice: %s", out)
	}
}
