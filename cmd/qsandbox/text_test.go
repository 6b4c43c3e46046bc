package main

import (
	"slices"
	"testing"

	"github.com/qiming-sandbox/qsandbox/policy"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{`plain "quoted" \ 沙箱 é`, `plain "quoted" \ 沙箱 é`},
		{"\x1b[31mred", `\x1b[31mred`},
		{"a\nb\tc\r", `a\nb\tc\r`},
		{"bell\a nul\x00 del\x7f", `bell\a nul\x00 del\x7f`},
		{"left\u202eright", `left\u202eright`},   // turns the direction of writing
		{"c1\u009b31m", `c1\u009b31m`},           // a terminal sequence in one character
		{"bad\xff\xfe utf8", `bad\xff\xfe utf8`}, // the bytes, not U+FFFD
		{"real \uFFFD", "real \uFFFD"},
		{"line\u2028sep", `line\u2028sep`},
	} {
		if got := printable(c.in); got != c.want {
			t.Errorf("printable(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestTableLinesUp(t *testing.T) {
	var tab table
	tab.row("a", "b", "c")
	tab.row("沙箱", "", "two columns each")
	tab.row("é", "long cell", "x")
	tab.row("only one cell, which pushes nothing")
	want := "  a     b          c\n" +
		"  沙箱             two columns each\n" +
		"  é     long cell  x\n" +
		"  only one cell, which pushes nothing\n"
	if got := tab.lines("  "); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The words in flags are written out so that help and completion need no policy.
func TestFlagWordsAreThePolicys(t *testing.T) {
	for _, c := range []struct {
		field string
		words []string
	}{{"backend", backendWords}, {"mode", modeWords}, {"network.mode", networkWords}} {
		f, ok := policy.FieldNamed(c.field)
		if !ok || !slices.Equal(f.Values, c.words) {
			t.Errorf("%s: %q, the policy has %q", c.field, c.words, f.Values)
		}
	}
}

func TestWordsShowWhereArgumentsEnd(t *testing.T) {
	got := words([]string{"sh", "-c", "echo 'a b'", "", "x=1", "a;b"})
	if want := `sh -c 'echo '\''a b'\''' '' x=1 'a;b'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func BenchmarkRunCommandLine(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newRoot([]string{"run"})
	}
}
