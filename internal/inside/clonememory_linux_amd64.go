package inside

import "golang.org/x/sys/unix"

// A server starts one command after the other: the memory of a child that has executed
// the init, or is dead, serves the next one, for fresh memory costs a page fault for
// every page that is written. Its contents are of no interest to anybody: a blob covers
// those of the last one, and the stack starts empty.
const (
	keptSize = 64 << 10 // more than an ordinary blob and its stack
	keptMost = 8        // as many as there are starts at once
)

// kept is memory for the next children.
var kept = make(chan []byte, keptMost)

// cloneMemory gives memory for a child, out of the garbage collector's sight.
func cloneMemory(size int) ([]byte, error) {
	if size > keptSize {
		return mapMemory(size)
	}
	select {
	case m := <-kept:
		return m, nil
	default:
		return mapMemory(keptSize)
	}
}

func mapMemory(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// freeMemory takes memory back that no child uses any more.
//
// SECURITY: a child that still used it would carry out the next one's program: see Clone
// for when Release may be called.
func freeMemory(m []byte) {
	if len(m) == keptSize {
		select {
		case kept <- m:
			return
		default:
		}
	}
	_ = unix.Munmap(m)
}
