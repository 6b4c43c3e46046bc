package supervise

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// limiter passes output on until half of the limit is used, keeps the newest
// bytes of the rest in a ring, and writes them, behind a remark, at the end. So
// head and tail are kept, memory is bounded, and a small output streams (PROC-03).
type limiter struct {
	mu      sync.Mutex
	w       io.Writer
	limit   int64 // 0: no limit
	head    int64 // bytes that may still be passed on
	ring    []byte
	start   int   // of the oldest byte in ring
	max     int   // size that ring may reach
	over    int64 // bytes that came after the head was full
	dropped int64
	held    []byte // the beginning of a character at the end of the head
	failed  bool   // the writer gave an error: go on reading, write no more
	left    atomic.Bool
}

func newLimiter(w io.Writer, limit int64) *limiter {
	if w == nil {
		w = io.Discard
	}
	l := &limiter{w: w, limit: limit, head: limit / 2}
	l.max = int(limit - l.head)
	return l
}

func (l *limiter) put(p []byte) {
	if l.failed || len(p) == 0 || l.left.Load() {
		return
	}
	if _, err := l.w.Write(p); err != nil {
		l.failed = true
	}
}

func (l *limiter) write(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limit <= 0 {
		l.put(p)
		return
	}
	if l.over == 0 {
		p = l.first(p)
	}
	l.keep(p)
}

// first passes on what belongs to the head and gives back the rest. A character
// that is not complete yet is held until it is, so that the head never ends in
// the middle of one.
func (l *limiter) first(p []byte) (rest []byte) {
	p = append(l.held, p...)
	l.held = nil
	n := int(min(int64(len(p)), l.head))
	n = wholeRunes(p, n)
	l.put(p[:n])
	l.head -= int64(n)
	if len(p)-n < utf8.UTFMax && l.head >= int64(len(p)-n) {
		l.held = append([]byte(nil), p[n:]...)
		return nil
	}
	l.max += int(l.head) // what the boundary left unused serves the tail
	l.head = 0
	return p[n:]
}

// wholeRunes gives the largest cut of at most n bytes that splits no character.
// Bytes that are not UTF-8 are cut where the limit falls.
func wholeRunes(p []byte, n int) int {
	for i := n - 1; i >= 0 && n-i < utf8.UTFMax; i-- {
		if !utf8.RuneStart(p[i]) {
			continue
		}
		if _, size := utf8.DecodeRune(p[i:]); i+size > n || !utf8.FullRune(p[i:n]) && p[i] >= utf8.RuneSelf {
			return i
		}
		return n
	}
	return n
}

// keep puts bytes into the ring, over the oldest ones when it is full.
func (l *limiter) keep(p []byte) {
	l.over += int64(len(p))
	for len(p) > 0 {
		if room := l.max - len(l.ring); room > 0 {
			n := min(room, len(p))
			l.ring = append(l.ring, p[:n]...)
			p = p[n:]
			continue
		}
		if l.max <= 0 {
			l.dropped += int64(len(p))
			return
		}
		n := copy(l.ring[l.start:], p)
		l.start = (l.start + n) % len(l.ring)
		l.dropped += int64(n)
		p = p[n:]
	}
}

// close writes the tail.
func (l *limiter) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(l.held)
	tail := append(append([]byte(nil), l.ring[l.start:]...), l.ring[:l.start]...)
	l.ring = nil
	if l.dropped > 0 {
		skip := 0
		for skip < len(tail) && skip < utf8.UTFMax && !utf8.RuneStart(tail[skip]) {
			skip++
		}
		if skip == utf8.UTFMax { // not UTF-8: cut where it falls
			skip = 0
		}
		l.put(fmt.Appendf(nil, "\n[qsandbox: %d bytes left out]\n", l.dropped+int64(skip)))
		tail = tail[skip:]
	}
	l.put(tail)
}

// abandon has nothing more written. The writer may be holding a write, and with it mu.
func (l *limiter) abandon() { l.left.Store(true) }

// cut tells whether something was left out.
func (l *limiter) cut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped > 0
}
