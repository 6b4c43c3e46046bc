package backendtest

import (
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// swap exchanges two names as fast as it can until stop is called, or with rests of up
// to rest in between: a whole start can fall into one.
func swap(t *testing.T, a, b string, rest time.Duration) (stop func()) {
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
			if rest > 0 {
				time.Sleep(rand.N(rest))
			}
		}
	}()
	return func() {
		close(done)
		if n := <-ended; n < 100 && rest == 0 || n == 0 {
			t.Errorf("INVALID: only %d exchanges", n)
		}
	}
}
