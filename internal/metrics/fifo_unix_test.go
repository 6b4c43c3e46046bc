//go:build unix

package metrics

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestCountsThatAreNoFile: a FIFO in their place does not block, a link is not
// followed; both are replaced.
func TestCountsThatAreNoFile(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"FIFO": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link": func(path string) error { return os.Symlink("audit.jsonl", path) },
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := logged(t, started("a"))
			state := filepath.Join(filepath.Dir(path), File)
			if err := plant(state); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				c, unkept, err := Update(path)
				if err == nil && (unkept == nil || c.Started[labels("backend", "linux-native", "mode", "compat")] != 1) {
					t.Errorf("%v, %v", unkept, c.Started)
				}
				done <- err
			}()
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("it waits for a writer")
			}
			if st, err := os.Lstat(state); err != nil || !st.Mode().IsRegular() {
				t.Errorf("%v, %v", st, err)
			}
		})
	}
}
