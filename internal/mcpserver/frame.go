package mcpserver

import (
	"bufio"
	"errors"
	"io"
)

// maxLine bounds one message. A command is at most maxCommand bytes, so whatever is
// longer can only be refused.
const maxLine = 4 << 20

// frame is one line of the peer, or what is known of one that was too long.
type frame struct {
	data []byte // without the line's end; of a line that is too long only the beginning
	long bool
	err  error // the end of the stream; data is then empty
}

// readFrames cuts a stream into lines and passes them on until the stream or the
// receiver ends. The last line needs no end.
func readFrames(in io.Reader, limit int, out chan<- frame, stop <-chan struct{}) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		f := readFrame(r, limit)
		select {
		case out <- f:
		case <-stop:
			return
		}
		if f.err != nil {
			return
		}
	}
}

func readFrame(r *bufio.Reader, limit int) frame {
	var f frame
	for {
		part, err := r.ReadSlice('\n')
		if room := limit - len(f.data); len(part) > room+1 { // one for the line's end
			f.long = true
			part = part[:max(0, room)]
		}
		f.data = append(f.data, part...)
		switch {
		case err == nil:
			return f
		case !errors.Is(err, bufio.ErrBufferFull):
			if len(f.data) == 0 && !f.long {
				f.err = err
			}
			return f // the end itself comes with the next call
		}
	}
}
