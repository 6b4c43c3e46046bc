package protect

import (
	"errors"
	"hash/fnv"
	"strings"
)

// configMax bounds a git config file; real ones have a few KiB.
const configMax = 1 << 20

// setting is one entry of a git config.
type setting struct {
	section string // lower case
	sub     string // as written; "" when there is none
	hasSub  bool
	key     string // lower case
	value   string
	noValue bool // a key alone, which means true
}

// name gives section.key, or section.*.key when there is a subsection.
func (s setting) name() string {
	if s.hasSub {
		return s.section + ".*." + s.key
	}
	return s.section + "." + s.key
}

// full gives the name as git writes it.
func (s setting) full() string {
	switch {
	case s.hasSub:
		return s.section + "." + s.sub + "." + s.key
	case s.section == "":
		return s.key
	}
	return s.section + "." + s.key
}

// hash stands for the entry in a journal.
func (s setting) hash() uint64 {
	h := fnv.New64a()
	h.Write([]byte(s.full() + "\x00" + s.value))
	if s.noValue {
		h.Write([]byte{0})
	}
	return h.Sum64()
}

var errConfig = errors.New("git could not read it")

// parseConfig reads a git config as git does (config.c: git_parse_source).
//
// SECURITY: git keeps names as C strings, so that [core "fsmonitor<NUL>"] would set
// core.fsmonitor. A file with a NUL is refused.
func parseConfig(data []byte) ([]setting, error) {
	if strings.IndexByte(string(data), 0) >= 0 {
		return nil, errors.New("it holds a NUL byte")
	}
	p := &configParser{in: strings.TrimPrefix(string(data), "\xef\xbb\xbf")}
	var out []setting
	prefix := "" // section, with subsection, with the dot
	for {
		switch c := p.next(); {
		case c == '\n' && p.eof:
			return out, nil
		case isConfigSpace(c):
		case c == '#' || c == ';':
			p.comment()
		case c == '[':
			name, ok := p.header()
			if !ok {
				return nil, errConfig
			}
			prefix = name + "."
		case isAlpha(c):
			s, ok := p.entry(c, prefix)
			if !ok {
				return nil, errConfig
			}
			out = append(out, s)
		default:
			return nil, errConfig
		}
	}
}

type configParser struct {
	in  string
	pos int
	eof bool
}

// next gives the next byte; CR LF is one LF, and the end is a LF too.
func (p *configParser) next() byte {
	if p.pos >= len(p.in) {
		p.eof = true
		return '\n'
	}
	c := p.in[p.pos]
	p.pos++
	if c == '\r' && p.pos < len(p.in) && p.in[p.pos] == '\n' {
		p.pos++
		return '\n'
	}
	return c
}

func (p *configParser) comment() {
	for p.next() != '\n' {
	}
}

// header reads what follows "[": section] or section "subsection"].
func (p *configParser) header() (string, bool) {
	var b strings.Builder
	for {
		c := p.next()
		switch {
		case p.eof:
			return "", false
		case c == ']':
			return b.String(), b.Len() > 0
		case isConfigSpace(c):
			return p.quoted(&b, c)
		case !isKeyChar(c) && c != '.':
			return "", false
		}
		b.WriteByte(lower(c))
	}
}

// quoted reads a subsection: everything stands for itself but \x, which is x.
func (p *configParser) quoted(b *strings.Builder, c byte) (string, bool) {
	for ; isConfigSpace(c); c = p.next() {
		if c == '\n' {
			return "", false
		}
	}
	if c != '"' {
		return "", false
	}
	b.WriteByte('.')
	for {
		c = p.next()
		if c == '"' {
			break
		}
		if c == '\\' {
			c = p.next()
		}
		if c == '\n' {
			return "", false
		}
		b.WriteByte(c)
	}
	return b.String(), p.next() == ']'
}

// entry reads a key, whose first character was read, and its value.
func (p *configParser) entry(first byte, prefix string) (setting, bool) {
	key := []byte{lower(first)}
	c := p.next()
	for ; isKeyChar(c); c = p.next() {
		key = append(key, lower(c))
	}
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	s := newSetting(prefix + string(key))
	if c == '\n' {
		s.noValue = true
		return s, true
	}
	if c != '=' {
		return s, false
	}
	var ok bool
	s.value, ok = p.value()
	return s, ok
}

// newSetting takes a full name apart: section up to the first dot, key after the last.
func newSetting(full string) setting {
	first, last := strings.IndexByte(full, '.'), strings.LastIndexByte(full, '.')
	if first < 0 {
		return setting{key: full}
	}
	s := setting{section: full[:first], key: full[last+1:]}
	if last > first {
		s.sub, s.hasSub = full[first+1:last], true
	}
	return s
}

// value reads up to the end of the line; a backslash there joins the next line.
func (p *configParser) value() (string, bool) {
	var b strings.Builder
	quote, space := false, 0
	for {
		c := p.next()
		switch {
		case c == '\n':
			return b.String(), !quote
		case isConfigSpace(c) && !quote:
			if b.Len() > 0 {
				space++
			}
			continue
		case !quote && (c == ';' || c == '#'):
			p.comment()
			return b.String(), true
		}
		for ; space > 0; space-- {
			b.WriteByte(' ')
		}
		switch c {
		case '"':
			quote = !quote
			continue
		case '\\':
			var ok, joined bool
			if c, ok, joined = p.escape(); !ok {
				return "", false
			} else if joined {
				continue
			}
		}
		b.WriteByte(c)
	}
}

// escape reads what follows a backslash in a value.
func (p *configParser) escape() (c byte, ok, joined bool) {
	switch c = p.next(); c {
	case '\n':
		return 0, true, true
	case 't':
		return '\t', true, false
	case 'b':
		return '\b', true, false
	case 'n':
		return '\n', true, false
	case '\\', '"':
		return c, true, false
	}
	return 0, false, false
}

func isConfigSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isAlpha(c byte) bool       { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isKeyChar(c byte) bool     { return isAlpha(c) || c >= '0' && c <= '9' || c == '-' }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}
