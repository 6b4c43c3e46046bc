package host

// Deep gives the calling goroutine a stack of 32 KiB at once. It is for the first lines
// of a goroutine that will go deep: a stack that grows by itself does so four times on
// the way, and each time every frame is looked up and copied, which is most expensive
// in a program that has just started and must fetch the tables for it. Nothing is
// touched that is not used later.
func Deep() { _ = deep(0) }

// deep needs its frame before it begins, and returns before it is filled.
//
//go:noinline
func deep(n int) byte {
	if n == 0 {
		return 0
	}
	var room [16 << 10]byte
	for i := range n {
		room[i%len(room)] = byte(n)
	}
	return room[n%len(room)]
}
