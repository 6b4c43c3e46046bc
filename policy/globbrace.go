package policy

import "strings"

const (
	maxBraceDepth = 16
	maxExpanded   = 1 << 20 // bytes of all alternatives together
)

// expand gives the patterns without braces that a pattern stands for.
func expand(pattern string) ([]string, *problem) {
	if !strings.ContainsAny(pattern, `{\[`) {
		return []string{pattern}, nil
	}
	e := expander{in: pattern}
	out, bad := e.sequence(0)
	return out, bad
}

type expander struct {
	in string
	i  int
}

// sequence reads up to the end or, within braces, up to a comma or closing brace.
func (e *expander) sequence(depth int) ([]string, *problem) {
	out, start := []string{""}, e.i
	flush := func() {
		for i := range out {
			out[i] += e.in[start:e.i]
		}
	}
	for e.i < len(e.in) {
		switch c := e.in[e.i]; {
		case c == '\\':
			e.i = min(e.i+2, len(e.in))
		case c == '[':
			if bad := e.skipClass(); bad != nil {
				return nil, bad
			}
		case c == '{':
			flush()
			inner, bad := e.braces(depth + 1)
			if bad == nil {
				out, bad = product(out, inner)
			}
			if bad != nil {
				return nil, bad
			}
			start = e.i
		case depth > 0 && (c == ',' || c == '}'):
			flush()
			return out, nil
		default:
			e.i++
		}
	}
	if depth > 0 {
		return nil, badf("a { has no }")
	}
	flush()
	return out, checkExpanded(out)
}

// braces reads from '{' to after its '}'.
func (e *expander) braces(depth int) ([]string, *problem) {
	if depth > maxBraceDepth {
		return nil, badf("more than %d levels of braces", maxBraceDepth)
	}
	var out []string
	for e.i < len(e.in) && e.in[e.i] != '}' || len(out) == 0 {
		e.i++ // '{' or ','
		alts, bad := e.sequence(depth)
		if bad != nil {
			return nil, bad
		}
		out = append(out, alts...)
		if bad := checkExpanded(out); bad != nil {
			return nil, bad
		}
	}
	e.i++
	return out, nil
}

// skipClass goes over [ … ], in which braces and commas mean themselves.
func (e *expander) skipClass() *problem {
	for j := e.i + 1; j < len(e.in); j++ {
		switch e.in[j] {
		case '\\':
			if j++; j < len(e.in) && e.in[j] == '/' {
				return badf("a [ ] cannot hold a slash")
			}
		case '/':
			return badf("a [ ] cannot hold a slash")
		case ']':
			e.i = j + 1
			return nil
		}
	}
	return badf("a [ has no ]")
}

func product(a, b []string) ([]string, *problem) {
	if len(a)*len(b) > maxAlternatives {
		return nil, badf("the braces stand for more than %d patterns", maxAlternatives)
	}
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out, checkExpanded(out)
}

func checkExpanded(alts []string) *problem {
	total := 0
	for _, a := range alts {
		total += len(a)
	}
	if len(alts) > maxAlternatives || total > maxExpanded {
		return badf("the braces stand for too many patterns")
	}
	return nil
}

// HasMeta reports whether s has a character that is not just itself: * ? [ or {
// without a backslash before it. Without one, Unescape gives the path it names.
func HasMeta(s string) bool { return firstMeta(s) >= 0 }

func firstMeta(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return i
		}
	}
	return -1
}

// Unescape takes away the backslashes; it is for patterns without HasMeta.
func Unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// EscapeLiteral gives the pattern that matches the path and nothing else.
func EscapeLiteral(path string) string {
	if !strings.ContainsAny(path, `*?[]{}\~`) {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		if strings.IndexByte(`*?[]{}\`, path[i]) >= 0 || i == 0 && path[i] == '~' {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// SplitBase takes a pattern apart into the folder that all matches lie in, as a plain
// path without escapes, and the pattern of what lies below it. A pattern without
// wildcards is all base. "/a/*.go" is "/a" and "*.go"; "/*" is "/" and "*"; "*.go"
// is "" and "*.go".
func SplitBase(pattern string) (base, rest string) {
	meta := firstMeta(pattern)
	if meta < 0 {
		return Unescape(pattern), ""
	}
	slash := strings.LastIndexByte(pattern[:meta], '/')
	if slash <= 0 {
		return Unescape(pattern[:slash+1]), pattern[slash+1:]
	}
	return Unescape(pattern[:slash]), pattern[slash+1:]
}
