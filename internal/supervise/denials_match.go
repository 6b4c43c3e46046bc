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
// names of errno, and what resolvers say. All have at least window bytes: a name of
// errno counts only with what stands next to it, else the search would be slower for
// the sake of output that nearly always has the words too.
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
	{"eacces:", denied},
	{"erofs: ", readOnly},
	{"eperm: ", forbid},
	{"unix.eacces", denied}, // OCaml
	{"unix.erofs", readOnly},
	{"unix.eperm", forbid},
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
	window = 7 // bytes of every phrase that are looked for: the shortest phrase
	block  = 2
)

// matcher finds phrases the way of Wu and Manber: two bytes at the end of the window
// say how far the window can move, and most of the text is never looked at.
type matcher struct {
	shift  [1 << 12]uint8
	ending [1 << 12]uint8 // the group of the phrases whose first window bytes end with this block
	groups [][]string
}

// hash takes six bits of each byte.
func hash(a, b byte) uint { return uint(a&63)<<6 | uint(b&63) }

// bothCases gives the ways in which a letter is written.
func bothCases(c byte) []byte {
	if 'a' <= c && c <= 'z' {
		return []byte{c, c &^ 0x20}
	}
	return []byte{c}
}

// words is made when the first message arrives: a start must not pay for it.
var words = sync.OnceValue(func() *matcher {
	m := &matcher{}
	for i := range m.shift {
		m.shift[i] = window - block + 1
	}
	for _, p := range phrases {
		for i := 0; i+block <= window; i++ {
			m.learn(p.text, i)
		}
	}
	return m
})

// learn enters the block of a phrase that begins at i.
func (m *matcher) learn(text string, i int) {
	left := uint8(window - block - i)
	for _, a := range bothCases(text[i]) {
		for _, b := range bothCases(text[i+1]) {
			h := hash(a, b)
			m.shift[h] = min(m.shift[h], left)
			if left > 0 {
				continue
			}
			if m.ending[h] == 0 {
				m.groups = append(m.groups, nil)
				m.ending[h] = uint8(len(m.groups))
			}
			g := &m.groups[m.ending[h]-1]
			*g = append(*g, text)
		}
	}
}

// find gives the place of the first phrase at or after from, or -1.
func (m *matcher) find(p []byte, from int) int {
	for i := from + window - 1; i < len(p); {
		h := hash(p[i-1], p[i])
		if s := m.shift[h]; s > 0 {
			i += int(s)
			continue
		}
		at := i - window + 1
		for _, w := range m.groups[m.ending[h]-1] {
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
