package backendtest

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
)

// screen collects what a terminal shows, and types when it shows something.
type screen struct {
	mu    sync.Mutex
	text  strings.Builder
	in    *io.PipeWriter
	steps []step
	sess  *qsandbox.Session
}

// step is typed, or done, when wait was shown.
type step struct {
	wait, send string
	do         func(*qsandbox.Session)
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(b)
	for len(s.steps) > 0 && strings.Contains(s.text.String(), s.steps[0].wait) {
		st := s.steps[0]
		s.steps = s.steps[1:]
		go func() {
			if st.do != nil {
				st.do(s.sess)
			}
			_, _ = io.WriteString(s.in, st.send)
		}()
	}
	return len(b), nil
}

// onTerminal runs a script on a terminal of 30 by 100 and gives what was shown.
func onTerminal(t *testing.T, s Setup, command []string, steps ...step) (string, Result) {
	t.Helper()
	r, w := io.Pipe()
	defer w.Close()
	scr := &screen{in: w, steps: steps}
	res := s.Run(t, NewPlace(t), Call{Command: command, Stdin: r, Stdout: scr, Terminal: &qsandbox.Terminal{Rows: 30, Cols: 100},
		Started: func(x *qsandbox.Session) { scr.mu.Lock(); scr.sess = x; scr.mu.Unlock() }})
	scr.mu.Lock()
	defer scr.mu.Unlock()
	return scr.text.String(), res
}

// TestTerminal: PROC-04, it is one, has the size, and is the controlling one.
func TestTerminal(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		out, r := onTerminal(t, s, []string{"/bin/bash", "-c", `test -t 0 && test -t 1 && test -t 2 && stty size && tty && echo x > /dev/tty && [ -n "$TERM" ] && echo ok`})
		if !r.OK() || !strings.Contains(out, "30 100") || !strings.Contains(out, "ok") {
			t.Errorf("%q\n%s", out, r.Describe())
		}
	})
}

// TestTerminalResize: PROC-04.
func TestTerminalResize(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		out, r := onTerminal(t, s, []string{"/bin/bash", "-c", `trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep .02; done`},
			step{wait: "ready", do: func(x *qsandbox.Session) { _ = x.Resize(qsandbox.Terminal{Rows: 50, Cols: 132}) }})
		if !r.OK() || !strings.Contains(out, "50 132") {
			t.Errorf("%q\n%s", out, r.Describe())
		}
	})
}

// TestJobControl: PROC-04, an interactive shell with a job in the background.
func TestJobControl(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		out, r := onTerminal(t, s, []string{"/bin/bash", "--norc", "--noprofile", "-i"},
			step{wait: "bash-", send: "PS1='P''>'\r"},
			step{wait: "P>", send: "sleep 60\r"},
			step{wait: "sleep 60\r\n", do: func(*qsandbox.Session) { time.Sleep(300 * time.Millisecond) }, send: "\x1a"},
			step{wait: "Stopped", send: "bg; jobs; kill %1; wait; echo EN''D; exit 5\r"})
		if r.Err != nil || r.Exit.Code != 5 || !strings.Contains(out, "Stopped") || !strings.Contains(out, "END") || strings.Contains(out, "no job control") {
			t.Errorf("%q\n%s", out, r.Describe())
		}
	})
}

// TestInterruptKey: PROC-04, Ctrl-C reaches the program in the foreground.
func TestInterruptKey(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		out, r := onTerminal(t, s, []string{"/bin/bash", "-c", `trap 'echo INT; exit 3' INT; echo ready; while :; do sleep .02; done`}, step{wait: "ready", send: "\x03"})
		if r.Err != nil || r.Exit.Code != 3 {
			t.Errorf("%q\n%s", out, r.Describe())
		}
	})
}

// TestNoInputCanBePushed: PROC-04, TIOCSTI and TIOCLINUX in any width.
func TestNoInputCanBePushed(t *testing.T) {
	const push = `import ctypes,os
libc = ctypes.CDLL(None, use_errno=True)
bad = 0
for nr in (0x5412, 0x5412 | 1 << 32, 0x541C, 0x541C | 7 << 32):
    if libc.ioctl(0, ctypes.c_ulong(nr), b"x") == 0: bad += 1
print("pushed", bad)`
	each(t, setups, func(t *testing.T, s Setup) {
		out, r := onTerminal(t, s, []string{"/usr/bin/python3", "-c", push})
		if !strings.Contains(out, "pushed 0") {
			t.Errorf("%q\n%s", out, r.Describe())
		}
	})
}
