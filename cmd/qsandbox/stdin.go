package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// patient reads a pipe that may have nobody at its other end. When nothing comes
// in the first moments it counts as empty, with a remark; once something came,
// it is read to its end.
type patient struct {
	f      *os.File
	spoken bool
	over   bool
}

func (p *patient) Read(b []byte) (int, error) {
	if p.over {
		return 0, io.EOF
	}
	if !p.spoken && !readable(p.f, idlePipe) {
		p.over = true
		remark(fmt.Sprintf("standard input was silent for %v and was closed; use --stdin to wait for it", idlePipe.Round(100*time.Millisecond)))
		return 0, io.EOF
	}
	p.spoken = true
	return p.f.Read(b)
}
