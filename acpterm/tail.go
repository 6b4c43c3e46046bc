package acpterm

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// tail keeps the newest bytes of an output.
type tail struct {
	mu    sync.Mutex
	max   int
	ring  []byte
	start int // of the oldest byte, once the ring is full
	total uint64

	made    string // text of the first madeAt bytes, so that to ask again costs nothing
	madeAt  uint64
	madeCut bool
}

func (t *tail) write(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += uint64(len(p))
	if len(p) > t.max {
		p = p[len(p)-t.max:]
	}
	if room := min(t.max-len(t.ring), len(p)); room > 0 {
		if need := len(t.ring) + room; need > cap(t.ring) {
			t.ring = slices.Grow(t.ring, min(max(need, 2*cap(t.ring)), t.max)-len(t.ring))
		}
		t.ring = append(t.ring, p[:room]...)
		p = p[room:]
	}
	for len(p) > 0 {
		n := copy(t.ring[t.start:], p)
		t.start = (t.start + n) % len(t.ring)
		p = p[n:]
	}
}

// text gives what is kept as valid UTF-8 of at most max bytes, cut from the front
// at the boundary of a character, and whether anything is missing.
func (t *tail) text() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.madeAt == t.total {
		return t.made, t.madeCut
	}
	kept := slices.Concat(t.ring[t.start:], t.ring[:t.start])
	cut := t.total > uint64(len(kept))
	if cut {
		kept = kept[boundary(kept):]
	}
	s := strings.ToValidUTF8(string(kept), "\uFFFD")
	if over := len(s) - t.max; over > 0 { // U+FFFD is longer than what it stands for
		s, cut = s[over:], true
		for len(s) > 0 && !utf8.RuneStart(s[0]) {
			s = s[1:]
		}
	}
	t.made, t.madeAt, t.madeCut = s, t.total, cut
	return s, cut
}

// boundary gives how many bytes at the front are the rest of a character whose
// beginning is gone. Where there is no UTF-8 it is 0.
func boundary(p []byte) int {
	for i := range min(len(p), utf8.UTFMax) {
		if utf8.RuneStart(p[i]) {
			return i
		}
	}
	if len(p) < utf8.UTFMax {
		return len(p)
	}
	return 0
}

// stream is stdout or stderr on its way into the tail. It holds an unfinished
// character back until the rest comes, so that the other stream cannot get between.
type stream struct {
	to   *tail
	held []byte
}

// Write takes everything; the command is never made to wait.
func (s *stream) Write(p []byte) (int, error) {
	n := len(p)
	if len(s.held) > 0 {
		p = append(s.held, p...)
		s.held = nil
	}
	whole := len(p) - unfinished(p)
	s.to.write(p[:whole])
	s.held = append(s.held[:0], p[whole:]...)
	return n, nil
}

// flush is for the end: what was held back is all there will be.
func (s *stream) flush() {
	s.to.write(s.held)
	s.held = nil
}

// unfinished gives how many bytes at the end are the beginning of a character.
func unfinished(p []byte) int {
	for i := 1; i <= min(len(p), utf8.UTFMax-1); i++ {
		if b := p[len(p)-i]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-i:]) {
				return i
			}
			return 0
		}
	}
	return 0
}
