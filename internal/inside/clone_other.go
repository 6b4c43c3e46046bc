//go:build linux && !amd64

package inside

import "golang.org/x/sys/unix"

// CanClone tells whether Clone works on this architecture.
const CanClone = false

// Child is the memory that a cloned child lives in; there is none here.
type Child struct{ PID int }

// Clone needs an interpreter in assembly, which this architecture does not have.
func Clone(*Image, uintptr, map[Slot]int, int, int) (*Child, error) { return nil, unix.ENOSYS }

// Release does nothing.
func (c *Child) Release() {}
