package main

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/internal/winsandbox"
)

// sizePipe gives a pipe whose end for reading a child inherits, and its options.
func sizePipe(t *testing.T, c *exec.Cmd) (r, w *os.File, number string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	if err := windows.SetHandleInformation(windows.Handle(r.Fd()), windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
		t.Fatal(err)
	}
	if c != nil {
		c.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(r.Fd())}}
	}
	return r, w, strconv.FormatUint(uint64(r.Fd()), 10)
}

// TestSizesThroughAPipe: what the caller writes arrives, and the end of the pipe ends it.
func TestSizesThroughAPipe(t *testing.T) {
	r, w, _ := sizePipe(t, nil)
	var h windows.Handle
	if err := windows.DuplicateHandle(windows.CurrentProcess(), windows.Handle(r.Fd()), windows.CurrentProcess(), &h, 0, false, windows.DUPLICATE_SAME_ACCESS); err != nil {
		t.Fatal(err)
	}
	list, err := changes(uintptr(h))
	if err != nil {
		t.Fatal(err)
	}
	go func() { w.WriteString("100x30\n132x50\n"); w.Close() }()
	var got []winsandbox.Size
	for s := range list {
		got = append(got, s)
	}
	if !slices.Equal(got, []winsandbox.Size{{Cols: 100, Rows: 30}, {Cols: 132, Rows: 50}}) {
		t.Errorf("%v", got)
	}
	if list, err := changes(0); list != nil || err != nil {
		t.Error(list, err)
	}
	if _, err := changes(0xFFF0); err == nil {
		t.Error("a number that is no handle was taken")
	}
}

// TestConsoleThatIsResized runs a command with --tty. Under Wine, which connects no
// command to a pseudo console, only its end and its exit code can be seen; the sizes
// that it sees on a real Windows: not verified here.
func TestConsoleThatIsResized(t *testing.T) {
	r := newRig(t)
	c := r.cmd("serve", nil, "role:consolesizes")
	_, w, number := sizePipe(t, c)
	at := slices.Index(c.Args, "--mode")
	c.Args = slices.Insert(c.Args, at, "--tty", "--size", "90x30", "--sizes", number)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for i, s := range []string{"100x31\n", "110x32\n"} {
		time.Sleep(time.Duration(i+1) * time.Second)
		if _, err := w.WriteString(s); err != nil {
			t.Error(err)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case <-ended:
	case <-time.After(60 * time.Second):
		c.Process.Kill()
		t.Fatal("it hangs")
	}
	if wine() {
		if code := c.ProcessState.ExitCode(); code != 0 && code != 3 {
			t.Errorf("ended with %d: %s", code, errs.String())
		}
		return
	}
	for _, want := range []string{"<90x30>", "<100x31>", "<110x32>"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %q", want, out.String())
		}
	}
}

func TestBadSizePipe(t *testing.T) {
	r := newRig(t)
	c := r.cmd("serve", []string{"--tty", "--sizes", "65520"}, "role:touch", "made")
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Run(); err == nil || c.ProcessState.ExitCode() != 125 || !strings.Contains(errs.String(), "--sizes") || r.there("made") {
		t.Errorf("%v %q", err, errs.String())
	}
}
