package backendtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/report"
)

// TestExitCodes: PROC-01, a command's code passes exactly.
func TestExitCodes(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		for _, code := range []int{0, 1, 2, 3, 42, 77, 99, 124, 125, 126, 127, 128, 129, 137, 143, 200, 254, 255} {
			r := s.Run(t, p, Call{Command: []string{"/bin/sh", "-c", fmt.Sprintf("exit %d", code)}})
			if r.Err != nil || r.Exit.Code != code || r.Exit.Signal != "" || r.Exit.Cause != report.Exited {
				t.Errorf("exit %d: %s", code, r.Describe())
			}
		}
	})
}

// TestSignalsOfTheCommand: PROC-01, what ends the command is told by name.
func TestSignalsOfTheCommand(t *testing.T) {
	deadly := []syscall.Signal{1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 25, 26, 27, 29, 30, 31, 34, 64}
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		for _, sig := range deadly {
			r := s.Run(t, p, Call{Command: []string{"/bin/sh", "-c", fmt.Sprintf("kill -%d $$; sleep 5", sig)}})
			if r.Err != nil || r.Exit.Code != 128+int(sig) || r.Exit.Cause != report.Signaled {
				t.Errorf("signal %d: %s", sig, r.Describe())
				continue
			}
			if want := unix.SignalName(sig); want != "" && r.Exit.Signal != want {
				t.Errorf("signal %d is called %q, want %q", sig, r.Exit.Signal, want)
			}
		}
		if r := s.Run(t, p, Call{Command: []string{"/usr/bin/python3", "-c", "import os; os.abort()"}}); r.Err != nil || r.Exit.Signal != "SIGABRT" {
			t.Errorf("abort: %s", r.Describe())
		}
	})
}

// TestSignalSettingsAreDefault: PROC-01, also when the caller ignores or blocks some.
func TestSignalSettingsAreDefault(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		out := s.Must(t, NewPlace(t), Call{Command: []string{"/bin/cat", "/proc/self/status"}})
		if strings.Count(out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\n") != 1 {
			t.Errorf("not all zero:\n%s", out)
		}
		r := s.Run(t, NewPlace(t), Call{Script: `yes | head -1 >/dev/null; echo ${PIPESTATUS[0]}`})
		if r.Out != "141\n" {
			t.Errorf("SIGPIPE is ignored: %s", r.Describe())
		}
	})
}

// TestStreamsAreExact: PROC-01, apart, byte for byte, with the last bytes.
func TestStreamsAreExact(t *testing.T) {
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		p.Write(t, p.WS+"/data", string(data))
		r := s.Run(t, p, Call{Script: `cat data; printf last; printf other >&2; kill -9 $$`})
		if r.Out != string(data)+"last" || r.Msg != "other" {
			t.Errorf("%d bytes of %d, stderr %q", len(r.Out), len(data)+4, r.Msg)
		}
		r = s.Run(t, p, Call{Command: []string{"/bin/cat"}, Stdin: bytes.NewReader(data)})
		if r.Out != string(data) {
			t.Errorf("through stdin and back: %d bytes of %d", len(r.Out), len(data))
		}
		for range 20 {
			if r := s.Run(t, p, Call{Command: []string{"/bin/echo", "x"}}); r.Out != "x\n" {
				t.Fatalf("the last bytes are lost: %q", r.Out)
			}
		}
	})
}

// TestInput: PROC-01, the rules of stdin.
func TestInput(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		if out := s.Must(t, p, Call{Command: []string{"/bin/cat"}}); out != "" {
			t.Errorf("input that nobody gave: %q", out)
		}
		if out := s.Must(t, p, Call{Script: `head -c3; true`, Stdin: strings.NewReader(strings.Repeat("abc", 1<<20))}); out != "abc" {
			t.Errorf("a command that stops reading: %q", out)
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		defer r.Close()
		start := time.Now()
		s.Must(t, p, Call{Script: `true`, Stdin: r})
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("an open pipe as input held the call for %v", d)
		}
	})
}

// TestNoTerminalOfTheCaller: PROC-01, the command has no controlling terminal.
func TestNoTerminalOfTheCaller(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		s.Must(t, NewPlace(t), Call{Script: `for f in 0 1 2; do [ ! -t $f ] || exit 1; done; ! true < /dev/tty`})
	})
}

// TestCommandsThatCannotStart: the codes of fault.
func TestCommandsThatCannotStart(t *testing.T) {
	each(t, everywhere(), func(t *testing.T, s Setup) {
		p := NewPlace(t)
		p.Host(t, `printf '#!/no/such/interpreter\n' > bad; chmod +x bad; echo text > plain; mkdir dir; printf 'echo no shebang\n' > sh; chmod +x sh`)
		for cmd, want := range map[string]string{
			"nosuchcommand": "COMMAND_NOT_FOUND", "./missing": "COMMAND_NOT_FOUND", "./plain": "COMMAND_NOT_EXECUTABLE",
			"./dir": "COMMAND_NOT_EXECUTABLE", "./bad": "COMMAND_NOT_FOUND", "./sh": "COMMAND_NOT_EXECUTABLE", "": "USAGE_INVALID", "a\x00b": "USAGE_INVALID",
		} {
			r := s.Run(t, p, Call{Command: []string{cmd}})
			if r.Err == nil || r.Report.Error == nil || r.Report.Error.Code != want {
				t.Errorf("%q: want %s\n%s", cmd, want, r.Describe())
			}
		}
	})
}

// TestArgumentsAreExact: no shell looks at them.
func TestArgumentsAreExact(t *testing.T) {
	args := []string{"", " ", "a b", "$HOME", "`id`", "--", "-x", "*", "\xff\xfe", "目录", "new\nline", "'\"\\", strings.Repeat("x", 100_000)}
	each(t, everywhere(), func(t *testing.T, s Setup) {
		out := s.Must(t, NewPlace(t), Call{Command: append([]string{"/usr/bin/python3", "-c", "import sys,os\nfor a in sys.argv[1:]: sys.stdout.buffer.write(os.fsencode(a)+b'\\0')"}, args...)})
		if want := strings.Join(args, "\x00") + "\x00"; out != want {
			t.Errorf("got %q", clip(out))
		}
	})
}
