package mcpserver

import (
	"fmt"
	"sync"
	"unicode/utf8"
)

// maxOutput is how many bytes of each stream one answer has. JSON writes a control
// character with six, and the text is there twice (as text and as structured
// content), so an answer is below 2.5 MiB whatever the command prints.
const maxOutput = 100_000

// tape keeps the head and the tail of a stream within a bound (MCP-03). What was
// taken is gone: the next head begins after it.
type tape struct {
	mu    sync.Mutex
	half  int    // bytes kept of the head, and of the tail
	head  []byte // the first bytes since the last take
	tail  []byte // the newest of the others; between half and 2*half+ are held
	cut   int64  // bytes that went out of the tail
	total int64  // bytes ever written
	taken int64  // total at the last take
}

func newTape(limit int) *tape { return &tape{half: limit / 2} }

// Write keeps what fits. It never fails: the command must be able to go on.
func (t *tape) Write(p []byte) (int, error) {
	n := len(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += int64(n)
	if room := t.half - len(t.head); room > 0 && t.cut == 0 && len(t.tail) == 0 {
		first := min(room, len(p))
		t.head = append(t.head, p[:first]...)
		p = p[first:]
	}
	if over := len(p) - t.half; over > 0 { // only the end of it can stay
		t.cut += int64(over)
		p = p[over:]
	}
	t.tail = append(t.tail, p...)
	if over := len(t.tail) - t.half; over > t.half {
		t.cut += int64(over)
		t.tail = append(t.tail[:0], t.tail[over:]...)
	}
	return n, nil
}

// size is how many bytes were ever written.
func (t *tape) size() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// fresh tells whether there is something to take.
func (t *tape) fresh() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total > t.taken
}

// recent gives the newest bytes, at most n.
func (t *tape) recent(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.tail
	if len(b) == 0 {
		b = t.head
	}
	return string(b[max(0, len(b)-n):])
}

// stage says whether more may come.
type stage uint8

const (
	running stage = iota // hold a character back that is not complete yet
	ended
)

// take gives what came since the last time, cut at the boundary of a character, and
// how many bytes of it were left out.
func (t *tape) take(s stage) (text string, omitted int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	head, tail := t.head, t.tail
	omitted = t.cut
	if over := len(tail) - t.half; over > 0 {
		omitted += int64(over)
		tail = tail[over:]
	}
	if omitted == 0 {
		head, tail = append(head, tail...), nil
	}
	var held []byte
	if s == running {
		last := &tail
		if len(tail) == 0 {
			last = &head
		}
		n := wholeRunes(*last)
		held = append(held, (*last)[n:]...)
		*last = (*last)[:n]
	}
	text = string(head)
	if omitted > 0 {
		n := wholeRunes(head)
		from := afterRune(tail)
		omitted += int64(len(head) - n + from)
		text = fmt.Sprintf("%s\n[qsandbox: %d bytes left out]\n%s", head[:n], omitted, tail[from:])
	}
	t.head, t.tail, t.cut, t.taken = held, nil, 0, t.total
	return text, omitted
}

// wholeRunes gives the length without a character at the end that is not complete.
func wholeRunes(p []byte) int {
	for i := len(p) - 1; i >= 0 && len(p)-i < utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			if p[i] >= utf8.RuneSelf && !utf8.FullRune(p[i:]) {
				return i
			}
			break
		}
	}
	return len(p)
}

// afterRune gives where the first whole character begins; 0 for what is not UTF-8.
func afterRune(p []byte) int {
	n := 0
	for n < len(p) && n < utf8.UTFMax && !utf8.RuneStart(p[n]) {
		n++
	}
	if n == utf8.UTFMax {
		return 0
	}
	return n
}
