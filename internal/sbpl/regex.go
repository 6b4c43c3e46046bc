package sbpl

import (
	"errors"
	"regexp"
	"strings"
	"sync"
)

// pattern is a regular expression of the language: an extended expression without
// classes by name, counts and back references, found anywhere unless anchored.
type pattern struct {
	goText string
	once   sync.Once
	re     *regexp.Regexp
	err    error
}

// compiled makes the expression when it is first needed: to write a profile at the
// start of a run needs none of them.
func (p *pattern) compiled() (*regexp.Regexp, error) {
	p.once.Do(func() { p.re, p.err = regexp.Compile(p.goText) })
	return p.re, p.err
}

// match tells whether the expression is found in s. One that Go refuses is found
// nowhere; Parse has told of it.
func (p *pattern) match(s string) bool {
	re, err := p.compiled()
	return err == nil && re.MatchString(s)
}

const maxRegex = 16 << 10

var (
	errCount  = errors.New("counts in { } are not supported")
	errClass  = errors.New("a [ ] that is not well formed")
	errEscape = errors.New("an escape before a letter, a digit or nothing is not supported")
	errLong   = errors.New("too long")
)

// compileRegex turns an expression into Go's syntax. Go's matching is the longest
// or the first, which does not matter for "is it found".
func compileRegex(expr string) (*pattern, error) {
	if len(expr) > maxRegex {
		return nil, errLong
	}
	var b strings.Builder
	b.WriteString("(?s)")
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; c {
		case '\\':
			i++
			if i == len(expr) || isAlnum(expr[i]) {
				return nil, errEscape
			}
			b.WriteString(regexp.QuoteMeta(expr[i : i+1]))
		case '[':
			end, err := copyClass(&b, expr, i)
			if err != nil {
				return nil, err
			}
			i = end
		case '{', '}':
			return nil, errCount
		case '(':
			b.WriteString("(?:")
			if i+1 < len(expr) && expr[i+1] == '?' {
				return nil, errors.New("a ? after ( is not supported")
			}
		default:
			b.WriteByte(c)
		}
	}
	return &pattern{goText: b.String()}, nil
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// copyClass copies [ … ] and gives the place of its end. A backslash means the
// character behind it, as in the expressions that macOS ships.
func copyClass(b *strings.Builder, expr string, i int) (int, error) {
	b.WriteByte('[')
	i++
	if i < len(expr) && expr[i] == '^' {
		b.WriteByte('^')
		i++
	}
	for first := true; i < len(expr); first = false {
		switch c := expr[i]; {
		case c == ']' && !first:
			b.WriteByte(']')
			return i, nil
		case c == '\\' && i+1 < len(expr) && !isAlnum(expr[i+1]):
			i++
			b.WriteString("\\" + expr[i:i+1])
		case c == '\\' || c == '[':
			return 0, errClass
		case c == ']':
			b.WriteString(`\]`)
		case c == '&' || c == '~':
			b.WriteString("\\" + expr[i:i+1])
		default:
			b.WriteByte(c)
		}
		i++
	}
	return 0, errClass
}

// QuoteRegex gives the expression that matches s and nothing else.
func QuoteRegex(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`\.*+?()[]{}|^$`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
