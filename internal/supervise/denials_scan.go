package supervise

import "bytes"

// Sizes of what is kept of a stream.
const (
	maxLine  = 8 << 10 // of a line; the newest bytes of a longer one
	aboveMax = 512     // of the lines before: some programs say first what, and then why
)

// scanner reads a stream of messages as it passes by. Text without a phrase costs a
// search and a copy of its last, open line; nothing is allocated for it but a buffer
// of bounded size.
type scanner struct {
	hints
	buf  []byte // lines already seen, up to aboveMax, and the open line
	open int    // where the open line begins in buf
	cut  bool   // the open line began before buf does
	done bool   // enough was seen
}

// write takes the next bytes. A short piece, and the end of an open line, go through
// the buffer; whole lines of a long piece are looked at where they are.
func (s *scanner) write(p []byte) {
	for len(p) > 0 && !s.done {
		n := min(len(p), maxLine)
		if len(p) > aboveMax {
			if s.open == len(s.buf) {
				if last := bytes.LastIndexByte(p, '\n') + 1; last > 0 {
					s.whole(p[:last])
					p = p[last:]
					continue
				}
			}
			if i := bytes.IndexByte(p[:n], '\n'); i >= 0 {
				n = i + 1
			}
		}
		s.buf = append(s.buf, p[:n]...)
		s.lines()
		p = p[n:]
	}
}

// whole looks at whole lines and keeps the last of them as context.
func (s *scanner) whole(p []byte) {
	s.scan(p, 0, false)
	s.buf = append(s.buf[:0], p[max(0, len(p)-aboveMax):]...)
	s.open = len(s.buf)
}

// lines looks at the lines of buf that are complete and drops what is too old.
func (s *scanner) lines() {
	end := bytes.LastIndexByte(s.buf[s.open:], '\n') + 1
	if end > 0 {
		s.scan(s.buf[:s.open+end], s.open, s.cut)
		s.open += end
		s.cut = false
	}
	if len(s.buf)-s.open > maxLine {
		// Look at it as it is, so that nothing is missed, and keep the newest half.
		s.scan(s.buf, s.open, s.cut)
		s.open = len(s.buf) - maxLine/2
		s.cut = true
		s.drop(s.open)
		return
	}
	if s.open > 8*aboveMax {
		s.drop(s.open - aboveMax)
	}
}

func (s *scanner) drop(n int) {
	if n > 0 {
		s.buf = s.buf[:copy(s.buf, s.buf[n:])]
		s.open -= n
	}
}

// close looks at what came after the last line break.
func (s *scanner) close() {
	if !s.done {
		s.scan(s.buf, s.open, s.cut)
	}
	s.buf = nil
}

// scan finds the phrases in p from a place on; what is before is context. cut says
// that the first line is not there from its beginning.
func (s *scanner) scan(p []byte, from int, cut bool) {
	if len(p)-from < window {
		return // no phrase is so short; a silent command must not pay for the table
	}
	m := words()
	for first := from; ; {
		at := m.find(p, from)
		if at < 0 {
			return
		}
		begin := first
		if i := lastBreak(p[first:at]); i >= 0 {
			begin = first + i + 1
		}
		end := len(p)
		if i := bytes.IndexAny(p[at:min(len(p), at+maxLine)], "\r\n"); i >= 0 {
			end = at + i
		} else {
			end = min(end, at+maxLine)
		}
		begin = max(begin, at-maxLine)
		if s.parsed++; s.parsed > maxParsed {
			s.done, s.full = true, true
			return
		}
		// A path whose beginning is lost would be another path.
		if !(cut && begin == first) && begin > at-maxLine {
			s.parse(p[begin:end], p[max(0, begin-aboveMax):begin])
		}
		from = end
	}
}

// lastBreak finds the last line break. A carriage return is one too: it begins the
// line again on a terminal.
func lastBreak(p []byte) int {
	return max(bytes.LastIndexByte(p, '\n'), bytes.LastIndexByte(p, '\r'))
}
