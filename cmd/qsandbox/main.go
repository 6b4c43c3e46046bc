// Command qsandbox runs a command in a sandbox.
package main

import "os"

func main() {
	_ = deep(0)
	os.Exit(execute(os.Args[1:]))
}

// deep, called with 0, gives the goroutine the stack that it will need at once: see
// host.Deep.
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
