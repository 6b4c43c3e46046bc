package sbpl

import (
	"fmt"
	"strings"
)

// Bounds of what is read: a profile is small, and a reader that recurses needs one.
const (
	maxText  = 8 << 20
	maxDepth = 64
)

// node is one thing of the text: a list, a string, or a word.
type node struct {
	kind nodeKind
	text string
	list []node
	line int
}

type nodeKind uint8

const (
	word nodeKind = iota
	text
	list
)

// Error is a fault in a profile, with its line.
type Error struct {
	Line int
	Text string
}

// Error gives line and fault.
func (e *Error) Error() string { return fmt.Sprintf("profile line %d: %s", e.Line, e.Text) }

func badf(line int, format string, args ...any) error {
	return &Error{line, fmt.Sprintf(format, args...)}
}

// reader takes the text apart (R5RS section 7.1, as far as profiles use it).
type reader struct {
	in   string
	i    int
	line int
}

func read(in string) ([]node, error) {
	if len(in) > maxText {
		return nil, badf(1, "larger than %d bytes", maxText)
	}
	if i := strings.IndexByte(in, 0); i >= 0 {
		return nil, badf(1+strings.Count(in[:i], "\n"), "a NUL byte")
	}
	r := &reader{in: in, line: 1}
	var out []node
	for {
		r.space()
		if r.i == len(r.in) {
			return out, nil
		}
		n, err := r.one(0)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
}

// space goes over blanks and comments.
func (r *reader) space() {
	for r.i < len(r.in) {
		switch c := r.in[r.i]; {
		case c == '\n':
			r.line++
			r.i++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			r.i++
		case c == ';':
			for r.i < len(r.in) && r.in[r.i] != '\n' {
				r.i++
			}
		default:
			return
		}
	}
}

func (r *reader) one(depth int) (node, error) {
	if depth > maxDepth {
		return node{}, badf(r.line, "more than %d levels of parentheses", maxDepth)
	}
	switch c := r.in[r.i]; {
	case c == '(':
		return r.many(depth)
	case c == ')':
		return node{}, badf(r.line, "a ) without its (")
	case c == '"':
		return r.quoted(false)
	case c == '#' && strings.HasPrefix(r.in[r.i:], `#"`):
		r.i++
		return r.quoted(true)
	case c == '\'' || c == '`' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}':
		return node{}, badf(r.line, "%q is not supported", c)
	}
	start := r.i
	for r.i < len(r.in) && !strings.ContainsRune(" \t\r\n\f()\";", rune(r.in[r.i])) {
		r.i++
	}
	return node{kind: word, text: r.in[start:r.i], line: r.line}, nil
}

func (r *reader) many(depth int) (node, error) {
	n := node{kind: list, line: r.line}
	r.i++
	for {
		r.space()
		if r.i == len(r.in) {
			return n, badf(n.line, "a ( without its )")
		}
		if r.in[r.i] == ')' {
			r.i++
			return n, nil
		}
		c, err := r.one(depth + 1)
		if err != nil {
			return n, err
		}
		n.list = append(n.list, c)
	}
}

// quoted reads a string. A raw one, #"…", keeps its backslashes; it is for
// regular expressions. Of escapes only those are taken whose meaning nobody
// doubts; anything else is an error rather than a guess.
func (r *reader) quoted(raw bool) (node, error) {
	n := node{kind: text, line: r.line}
	var b strings.Builder
	for r.i++; r.i < len(r.in); r.i++ {
		c := r.in[r.i]
		switch {
		case c == '"':
			r.i++
			n.text = b.String()
			return n, nil
		case c == '\\' && r.i+1 < len(r.in):
			r.i++
			if err := escape(&b, r.in[r.i], raw, r.line); err != nil {
				return n, err
			}
		case c == '\n':
			r.line++
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return n, badf(n.line, "a string without its end")
}

func escape(b *strings.Builder, c byte, raw bool, line int) error {
	switch {
	case raw && c == '"':
		b.WriteByte(c)
	case raw:
		b.WriteByte('\\')
		b.WriteByte(c)
	case c == '"' || c == '\\':
		b.WriteByte(c)
	case c == 'n':
		b.WriteByte('\n')
	case c == 't':
		b.WriteByte('\t')
	case c == 'r':
		b.WriteByte('\r')
	case c == '.': // Apple's own profiles have "\." in plain strings for regular expressions
		b.WriteString(`\.`)
	default:
		return badf(line, `the escape \%c is not supported`, c)
	}
	return nil
}
