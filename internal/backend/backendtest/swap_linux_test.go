package backendtest

import (
	"testing"

	"golang.org/x/sys/unix"
)

// swap exchanges two names as fast as it can until stop is called.
func swap(t *testing.T, a, b string) (stop func()) {
	t.Helper()
	done, ended := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-done:
				ended <- n
				return
			default:
			}
			if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
				n++
			}
		}
	}()
	return func() {
		close(done)
		if n := <-ended; n < 100 {
			t.Errorf("INVALID: only %d exchanges", n)
		}
	}
}
