package acpproxy

import (
	"bufio"
	"bytes"
	"io"
)

// Bounds of a line. An agent's longer line is refused: 32 MiB is also what the
// protocol's own TypeScript library takes. A client's longer line is passed on
// unread: nothing that we must change is that long.
const (
	maxLine  = 32 << 20
	peekLine = 8 << 20
	keepBuf  = 1 << 20 // a buffer that has grown past this is given back
)

// splitter cuts what the agent writes into lines, and hands them on with their
// newline. It is an io.Writer that makes the agent wait while a line is handled.
type splitter struct {
	max     int
	line    func([]byte) error // must not keep the bytes
	tooLong func()
	buf     []byte
	skip    bool // in a line that is too long
	dead    bool // nobody wants lines any more
}

func (s *splitter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && !s.dead {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.add(p)
			break
		}
		s.take(p[:i+1])
		p = p[i+1:]
	}
	return n, nil
}

// take handles the end of a line.
func (s *splitter) take(p []byte) {
	if len(s.buf) == 0 && !s.skip && len(p) <= s.max+1 {
		s.dead = s.line(p) != nil
		return
	}
	s.add(p)
	s.end()
}

func (s *splitter) add(p []byte) {
	if !s.skip && len(s.buf)+len(p) > s.max+1 {
		s.skip, s.buf = true, nil
	}
	if !s.skip {
		s.buf = append(s.buf, p...)
	}
}

// end handles what there is as a line, also without a newline.
func (s *splitter) end() {
	switch {
	case s.dead:
	case s.skip:
		s.tooLong()
	case len(s.buf) > 0:
		s.dead = s.line(s.buf) != nil
	}
	s.skip, s.buf = false, s.buf[:0]
	if cap(s.buf) > keepBuf {
		s.buf = nil
	}
}

// chunk is a line of the client, or a part of a long one.
type chunk struct {
	data        []byte // valid until the next one
	first, last bool   // of its line
	end         bool   // the client has ended its side
}

// lines reads the client's lines.
type lines struct {
	r   *bufio.Reader
	max int
	buf []byte
	mid bool // a long line is being passed in parts
}

func newLines(r io.Reader, max int) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), max: max}
}

func (l *lines) next() chunk {
	l.buf = l.buf[:0]
	if cap(l.buf) > keepBuf {
		l.buf = nil
	}
	first := !l.mid
	for {
		part, err := l.r.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		switch {
		case err == nil:
			l.mid = false
			return chunk{data: l.buf, first: first, last: true}
		case err != bufio.ErrBufferFull:
			l.mid = false
			return chunk{data: l.buf, first: first, last: true, end: true}
		case len(l.buf) >= l.max || l.mid:
			l.mid = true
			return chunk{data: l.buf, first: first}
		}
	}
}
