//go:build unix

package host

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestReadFileTakesRegularFilesOnly(t *testing.T) { // FS-10
	dir := t.TempDir()
	file, link, fifo := filepath.Join(dir, "f"), filepath.Join(dir, "l"), filepath.Join(dir, "p")
	if err := os.WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	h := Real()
	if b, err := h.ReadFile(file, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q %v", b, err)
	}
	for name, c := range map[string]struct {
		path string
		max  int
	}{"a link": {link, 100}, "a FIFO": {fifo, 100}, "a directory": {dir, 100}, "a file that is too large": {file, 4}, "a device": {"/dev/zero", 100}, "nothing": {dir + "/none", 100}} {
		done := make(chan error, 1)
		go func() { _, err := h.ReadFile(c.path, c.max); done <- err }()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s was read", name)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s blocks", name)
		}
	}
}

func TestWithinGivesUp(t *testing.T) { // LNX-12
	block := make(chan struct{})
	defer close(block)
	start := time.Now()
	err := Real().Within(20*time.Millisecond, func() error { <-block; return nil })
	if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) > 3*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if err := Real().Within(time.Minute, func() error { return syscall.EPERM }); !errors.Is(err, syscall.EPERM) {
		t.Error(err)
	}
}

func TestAccounts(t *testing.T) {
	h := Real()
	byName, err := h.UserByID("root")
	if err != nil || byName.UID != 0 || byName.Home == "" {
		t.Errorf("%+v %v", byName, err)
	}
	if byID, err := h.UserByID("0"); err != nil || byID.Name != byName.Name {
		t.Errorf("%+v %v", byID, err)
	}
	if u, err := h.UserByID("no such account"); err == nil {
		t.Errorf("%+v", u)
	}
	if u, err := h.UserByID("-1"); err == nil {
		t.Errorf("a negative id: %+v", u)
	}
}

func TestHomeIsAbsolute(t *testing.T) {
	h := Real()
	h.User.Home = "/account"
	for env, want := range map[string]string{"": "/account", "relative": "/account", "/set": "/set"} {
		h.Lookup = func(string) (string, bool) { return env, env != "" }
		if got := h.HomeDir(); got != want {
			t.Errorf("HOME=%q: %q", env, got)
		}
	}
}
