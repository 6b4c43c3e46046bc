package policy

import (
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.go", "a.go", true}, {"*.go", "d/a.go", false}, {"*", ".hidden", true}, {"a/*", "a", false}, {"a/*", "a/b", true}, {"a/*", "a/b/c", false},
		{"dir/**", "dir", false}, {"dir/**", "dir/a", true}, {"dir/**", "dir/a/b", true}, {"dir/**", "dirx/a", false},
		{"**/x", "x", true}, {"**/x", "a/b/x", true}, {"**/x", "a/x/b", false}, {"a/**/b", "a/b", true}, {"a/**/b", "a/x/y/b", true}, {"**", "a/b", true},
		{"**/.env", "sub/.env", true}, {"**/.env", "sub/.envx", false}, {"a**b", "axxb", true}, {"a**b", "a/b", false},
		{"/**", "/a", true}, {"/**", "/", false}, {"/*", "/a", true}, {"/*", "/", false}, {"/", "/", true},
		{"?", "a", true}, {"?", "/", false}, {"?", "é", true}, {"?", "\xff", true}, {"??", "\xff\xfe", true}, {"\xff", "\xff", true}, {"\xff", "\xfe", false}, {"\xff", "\uFFFD", false},
		{"a\n*", "a\nb\nc", true}, {"[a-c]x", "bx", true}, {"[a-c]x", "dx", false}, {"[!a-c]x", "dx", true}, {"[^a-c]x", "bx", false}, {"[!a]", "\xff", true},
		{`[\]]`, "]", true}, {`[a\-c]`, "b", false}, {"[a-]", "-", true}, {"a[!b]c", "a/c", false},
		{"{a,b}", "b", true}, {"{a,b}", "c", false}, {"{a,b/c}/d", "b/c/d", true}, {"x{,y}", "x", true}, {"{a,{b,c}}z", "cz", true}, {"{[,],b}", ",", true}, {`{a\,b,c}`, "a,b", true}, {"a,b", "a,b", true}, {"a}", "a}", true},
		{`a\*`, "a*", true}, {`a\*`, "ab", false}, {`a\[1\]`, "a[1]", true}, {`\a`, "a", true}, {"a//b/./c/", "a/b/c", true}, {"./a", "a", true}, {"a", "A", false},
	} {
		got, err := Match(c.pattern, c.path)
		if isAbs(c.pattern) != isAbs(c.path) {
			if err == nil {
				t.Errorf("Match(%q, %q) must be an error", c.pattern, c.path)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("Match(%q, %q) = %v, %v, want %v", c.pattern, c.path, got, err, c.want)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for _, p := range []string{"[", "[]", "[!]", "[a", "[b-a]", "[a/b]", `[a\/b]`, "{", "{a", "{a,{b}", `a\`, `a\/b`, strings.Repeat("{a,b}", 11), strings.Repeat("{", 20) + strings.Repeat("}", 20), strings.Repeat("{a,b}", 9) + strings.Repeat("x", 4096)} {
		if _, err := Compile(p); fault.CodeOf(err) != fault.PolicyInvalid {
			t.Errorf("Compile(%.40q): %v", p, err)
		}
	}
	if _, err := Match("*.env", "/w/.env"); err == nil {
		t.Error("a relative pattern and an absolute path must be an error")
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct{ pattern, path string }{{".Git/HOOKS", ".gIT/hooks"}, {"[a-c]", "B"}, {"ÄK", "äk"}, {"k", "\u212a"}} {
		g, err := CompileFold(c.pattern)
		if err != nil || !g.Match(c.path) {
			t.Errorf("%q does not match %q with fold", c.pattern, c.path)
		}
	}
	if g, _ := CompileFold("[!a]"); g.Match("A") {
		t.Error("[!a] matches A with fold")
	}
}

func TestSplitBaseAndEscape(t *testing.T) {
	for _, c := range []struct{ in, base, rest string }{
		{"/a/*.go", "/a", "*.go"}, {"/*", "/", "*"}, {"*.go", "", "*.go"}, {"/a/b", "/a/b", ""}, {"a/b*/c", "a", "b*/c"}, {`/a\[1\]/x?`, "/a[1]", "x?"}, {`/a\*`, "/a*", ""}, {"~/x/{a,b}", "~/x", "{a,b}"}, {"**/x", "", "**/x"},
	} {
		base, rest := SplitBase(c.in)
		if base != c.base || rest != c.rest {
			t.Errorf("SplitBase(%q) = %q, %q", c.in, base, rest)
		}
	}
	for _, p := range []string{"a[1]", `x\y`, "{a,b}", "*?", "~", "~/x", "]}", "\xff*", "a\nb"} {
		e := EscapeLiteral(p)
		if HasMeta(e) || Unescape(e) != p || formOf(e) != relativePath {
			t.Errorf("EscapeLiteral(%q) = %q", p, e)
		}
		if ok, err := Match(e, p); err != nil || !ok {
			t.Errorf("%q does not match %q: %v", e, p, err)
		}
	}
}

func TestAnchor(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"/etc/*", "/etc/*"}, {"~", "/home/u"}, {"~/.ssh", "/home/u/.ssh"}, {".", `/w\[1\]/p`}, {"a/**", `/w\[1\]/p/a/**`}, {"**/.env", `/w\[1\]/p/**/.env`},
		{"..", `/w\[1\]`}, {"../x", `/w\[1\]/x`}, {"./../../../y", "/y"}, {`\~/x`, `/w\[1\]/p/\~/x`}, {"C:/x/", "C:/x"},
	} {
		if got := Anchor(c.in, "/w[1]/p", "/home/u"); got != c.want {
			t.Errorf("Anchor(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := Anchor("x", "/", "/"); got != "/x" {
		t.Errorf("at the root: %q", got)
	}
}

// TestMatchIsNotExponential: patterns that ruin a matcher that tries everything.
func TestMatchIsNotExponential(t *testing.T) {
	for _, c := range [][2]string{
		{strings.Repeat("a*", 200) + "b", strings.Repeat("a", 5000)},
		{strings.Repeat("**/a/", 200) + "b", strings.Repeat("a/", 5000) + "c"},
	} {
		if ok, err := Match(c[0], c[1]); ok || err != nil {
			t.Errorf("%v %v", ok, err)
		}
	}
}

// slowMatch is the reference: it follows the words of the documentation, trying
// every way to share the path among the parts of the pattern.
func slowMatch(pattern, path string, fold bool) bool {
	alts, bad := expand(pattern)
	if bad != nil {
		return false
	}
	for _, a := range alts {
		pat, trailing := split(tidy(a)), false
		if pat[len(pat)-1] == "**" {
			trailing = true
		}
		if slowParts(pat, split(tidy(path)), trailing, fold) {
			return true
		}
	}
	return false
}

func slowParts(pat, parts []string, trailing, fold bool) bool {
	if len(pat) == 0 {
		return len(parts) == 0
	}
	if pat[0] == "**" {
		least := 0
		if trailing && len(pat) == 1 {
			least = 1
		}
		for n := least; n <= len(parts); n++ {
			if slowParts(pat[1:], parts[n:], trailing, fold) {
				return true
			}
		}
		return false
	}
	return len(parts) > 0 && slowPart(pat[0], runes(parts[0], false)) && slowParts(pat[1:], parts[1:], trailing, fold)
}

// slowPart takes the pattern character by character, without the parser under test.
func slowPart(pat string, chars []rune) bool {
	p := runes(pat, false)
	if len(p) == 0 {
		return len(chars) == 0
	}
	tail := func(n int) string {
		// Go back to bytes: a character of runes is as long as its first n in pat.
		i := 0
		for range n {
			i += runeLen(pat[i:])
		}
		return pat[i:]
	}
	switch p[0] {
	case '*':
		return slowPart(tail(1), chars) || len(chars) > 0 && slowPart(pat, chars[1:])
	case '?':
		return len(chars) > 0 && slowPart(tail(1), chars[1:])
	case '[':
		end := 1
		for end < len(p) && p[end] != ']' {
			if p[end] == '\\' {
				end++
			}
			end++
		}
		return len(chars) > 0 && slowClass(p[1:end], chars[0]) && slowPart(tail(end+1), chars[1:])
	case '\\':
		return len(chars) > 0 && chars[0] == p[1] && slowPart(tail(2), chars[1:])
	}
	return len(chars) > 0 && chars[0] == p[0] && slowPart(tail(1), chars[1:])
}

func runeLen(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}

func slowClass(body []rune, c rune) bool {
	not := len(body) > 0 && (body[0] == '!' || body[0] == '^')
	if not {
		body = body[1:]
	}
	next := func() rune {
		if body[0] == '\\' {
			body = body[1:]
		}
		r := body[0]
		body = body[1:]
		return r
	}
	in := false
	for len(body) > 0 {
		lo := next()
		hi := lo
		if len(body) >= 2 && body[0] == '-' {
			body = body[1:]
			hi = next()
		}
		in = in || lo <= c && c <= hi
	}
	return in != not
}

func FuzzGlob(f *testing.F) {
	for _, s := range [][2]string{{"**/.env", "a/.env"}, {"a*b?c", "axbyc"}, {"{a,b}/[!x-z]", "b/c"}, {`\**`, "*x"}, {"/a/**", "/a/b"}, {"\xff?", "\xff\n"}, {"[\\]-a]", "^"}, {"a/**/**/b", "a/b"}, {"**/*/**", "a"}, {"[a-\\]]", "b"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if len(pattern) > 24 || len(path) > 24 || strings.Count(pattern, "*") > 6 {
			return // the reference tries everything
		}
		base, rest := SplitBase(pattern)
		if (rest == "") != !HasMeta(pattern) {
			t.Errorf("SplitBase(%q) = %q, %q", pattern, base, rest)
		}
		if lit := EscapeLiteral(path); Unescape(lit) != path || HasMeta(lit) {
			t.Errorf("EscapeLiteral(%q) = %q", path, lit)
		}
		g, err := Compile(pattern)
		if err != nil {
			return
		}
		want := isAbs(pattern) == isAbs(path) && slowMatch(pattern, path, false)
		if got := g.Match(path); got != want {
			t.Errorf("Match(%q, %q) = %v, the reference says %v", pattern, path, got, want)
		}
		if fold, err := CompileFold(pattern); err != nil {
			t.Errorf("CompileFold(%q): %v", pattern, err)
		} else if g.Match(path) && !fold.Match(path) && !strings.ContainsAny(pattern, "!^") {
			t.Errorf("%q matches %q, but not with fold", pattern, path)
		}
	})
}
