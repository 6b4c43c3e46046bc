package supervise

import "sync"

// class is what a phrase says of the operation.
type class uint8

const (
	denied   class = iota // EACCES
	readOnly              // EROFS, and EXDEV from one mount to another
	forbid                // EPERM
	busy                  // EBUSY
	missing               // ENOENT
	network               // a name or an address that cannot be reached
)

// phrases are what the usual programs print, in lower case: strerror(3) in English,
// names of errno, and what resolvers say. All have at least window bytes.
var phrases = []struct {
	text string
	class
}{
	{"permission denied", denied},
	{"accessdeniedexception", denied},
	{"read-only file system", readOnly},
	{"invalid cross-device link", readOnly},
	{"operation not permitted", forbid},
	{"device or resource busy", busy},
	{"eacces", denied},
	{"erofs", readOnly},
	{"eperm", forbid},
	{"no such file or directory", missing},
	{" resolve ", network},
	{"failure resolving", network},
	{"name resolution", network},
	{"getaddrinfo", network},
	{"service not known", network},
	{"no such host", network},
	{"unknownhostexception", network},
	{"network is unreachable", network},
	{"enetunreach", network},
	{"failed to connect", network},
	{"unix:///", network},
}

const (
	window = 5 // bytes of every phrase that are looked for: the shortest phrase
	block  = 2
)

// matcher finds phrases the way of Wu and Manber: two bytes at the end of the window
// say how far the window can move, and most of the text is never looked at. Case is
// ignored by looking at five bits of a byte (all that tells letters apart).
type matcher struct {
	shift  [1 << 10]uint8
	ending [1 << 10][]string // phrases whose first window bytes end with this block
}

func hash(a, b byte) uint { return uint(a&31)<<5 | uint(b&31) }

// words is made when the first message arrives: a start must not pay for it.
var words = sync.OnceValue(func() *matcher {
	m := &matcher{}
	for i := range m.shift {
		m.shift[i] = window - block + 1
	}
	for _, p := range phrases {
		for i := 0; i+block <= window; i++ {
			h := hash(p.text[i], p.text[i+1])
			m.shift[h] = min(m.shift[h], uint8(window-block-i))
		}
		h := hash(p.text[window-2], p.text[window-1])
		m.ending[h] = append(m.ending[h], p.text)
	}
	return m
})

// find gives the place of the first phrase at or after from, or -1.
func (m *matcher) find(p []byte, from int) int {
	for i := from + window - 1; i < len(p); {
		h := hash(p[i-1], p[i])
		if s := m.shift[h]; s > 0 {
			i += int(s)
			continue
		}
		at := i - window + 1
		for _, w := range m.ending[h] {
			if foldPrefix(p[at:], w) {
				return at
			}
		}
		i++
	}
	return -1
}

// foldPrefix tells whether p begins with w, which is in lower case.
func foldPrefix(p []byte, w string) bool {
	if len(p) < len(w) {
		return false
	}
	for i := range len(w) {
		c := p[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != w[i] {
			return false
		}
	}
	return true
}
