package sbpl

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func sample(path string) *Profile {
	return &Profile{Rules: []Rule{
		{Action: Allow, Ops: []string{"file-read*"}, Filters: []Filter{Subpath("/usr")}, Why: "system"},
		{Action: Deny, Ops: []string{"file-read*", "file-write*"}, Filters: []Filter{Literal(path), Regex("^" + QuoteRegex(path) + "(/.*)?$")}, Why: "hides " + path},
		{Action: Allow, Ops: []string{"file-write*"}, Filters: []Filter{All(SubpathParam("TMP"), Not(LiteralParam("RUN")))}, Modifiers: []string{"no-log"}},
		{Action: Allow, Ops: []string{"network-outbound"}, Filters: []Filter{Remote("tcp", "*:443"), RemoteSocket(Literal(path))}},
		{Action: Allow, Ops: []string{"network-bind"}, Filters: []Filter{Local("ip", "localhost:*"), LocalSocket(Subpath("/s"))}},
		{Action: Allow, Ops: []string{"mach-lookup"}, Filters: []Filter{Named("global-name", "a.b")}},
		{Action: Allow, Ops: []string{"signal"}, Filters: []Filter{Named("target", "self")}},
	}}
}

var awkward = []string{"/a b", `/a"b`, `/a\b`, "/a\nb", "/-a", "/a)(allow default)", "/a;b", "/é", "/e\u0301", "/\u2028(allow file*)", "/a\r\n\t", `/a") (allow file-write* (subpath "/`, "/#\"x\"", "/(param \"X\")", "/[a](b)*", "/$HOME`id`"}

func TestWhatIsWrittenReadsBack(t *testing.T) { // MAC-04
	params := map[string]string{"TMP": "/tmp/x", "RUN": "/tmp/x/run"}
	for _, path := range awkward {
		want := sample(path)
		text, err := want.Text()
		if err != nil {
			t.Errorf("%q: %v", path, err)
			continue
		}
		got := mustParse(t, text, Options{Params: params})
		if !same(got, want.Bind(params)) {
			t.Errorf("%q: %s", path, text)
		}
		for q, yes := range map[string]bool{path: false, path + "/below": false, "/usr/x": true, "/usr": true, "/other": false} {
			if a := allowed(t, got, Request{Op: "file-read-data", Path: q}); (a == "yes") != yes {
				t.Errorf("%q: reading %q: %s", path, q, a)
			}
		}
		if allowed(t, got, Request{Op: "network-outbound", Proto: "unix", Path: path}) != "yes" ||
			allowed(t, got, Request{Op: "network-bind", Proto: "unix", Path: "/s/x"}) != "yes" {
			t.Errorf("%q: sockets", path)
		}
		if allowed(t, got, Request{Op: "file-write-data", Path: "/tmp/x/f"}) != "yes" || allowed(t, got, Request{Op: "file-write-data", Path: "/tmp/x/run"}) != "no" {
			t.Errorf("%q: parameters", path)
		}
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	for name, r := range map[string]Rule{
		"not UTF-8":           {Ops: []string{"file*"}, Filters: []Filter{Literal("/\xff")}},
		"a NUL":               {Ops: []string{"file*"}, Filters: []Filter{Literal("/\x00")}},
		"an operation":        {Ops: []string{"file*) (allow file*"}},
		"a filter":            {Ops: []string{"file*"}, Filters: []Filter{{Name: "literal \"/\") (allow", Values: []string{"/"}}}},
		"a word":              {Ops: []string{"signal"}, Filters: []Filter{Named("target", "self) (allow file*")}},
		"a parameter":         {Ops: []string{"file*"}, Filters: []Filter{LiteralParam("X\") (allow")}},
		"not UTF-8, in depth": {Ops: []string{"file*"}, Filters: []Filter{Not(Literal("/\xff"))}},
	} {
		_, err := (&Profile{Rules: []Rule{r}}).Text()
		var u *Unescapable
		if !errors.As(err, &u) || u.Error() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, r := range []Rule{
		{Ops: []string{"file*"}, Modifiers: []string{"no-log) (allow default"}},
		{Ops: []string{"file*"}, Filters: []Filter{{Name: "literal"}}},
		{},
	} {
		if text, err := (&Profile{Rules: []Rule{r}}).Text(); err == nil {
			t.Errorf("written although it does not read back: %s", text)
		}
	}
}

// FuzzParse: any text is a profile or an error with a line; never a crash.
func FuzzParse(f *testing.F) {
	f.Add(public)
	f.Add("(version 1)(allow file* (regex #\"^/a[^]]\"))")
	f.Add("((((")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text, Options{Params: map[string]string{"HOME": "/h"}})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, o := range Orders {
			if _, err := p.Decide(Request{Op: "file-read-data", Path: "/h/x"}, o); err != nil {
				t.Fatal(err)
			}
		}
		again, err := p.Text()
		if err != nil {
			return // (import), or a value that only a reader takes
		}
		q, err := Parse(again, Options{})
		if err != nil || !same(p, q) {
			t.Fatalf("%v\n%q\n%q", err, text, again)
		}
	})
}

// FuzzPathIsItsOwnRuleAlone: whatever a path holds, the other rules stay as they are,
// and it decides about itself (MAC-04).
func FuzzPathIsItsOwnRuleAlone(f *testing.F) {
	for _, a := range awkward {
		f.Add(a)
	}
	plain, err := sample("/plain").Text()
	if err != nil {
		f.Fatal(err)
	}
	params := map[string]string{"TMP": "/tmp/x", "RUN": "/tmp/x/run"}
	base, err := Parse(plain, Options{Params: params})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		path = "/" + strings.TrimLeft(path, "/")
		text, err := sample(path).Text()
		if err != nil {
			if utf8.ValidString(path) && !strings.Contains(path, "\x00") && len(path) < maxRegex/2 {
				t.Fatalf("%q: %v", path, err)
			}
			return
		}
		p, err := Parse(text, Options{Params: params})
		if err != nil || len(p.Rules) != len(base.Rules) || p.Default != base.Default {
			t.Fatalf("%q: %v", path, err)
		}
		for i := range p.Rules {
			if i == 1 || i == 3 {
				continue // its own
			}
			if !same(&Profile{Rules: p.Rules[i : i+1]}, &Profile{Rules: base.Rules[i : i+1]}) {
				t.Fatalf("%q changed rule %d: %s", path, i, text)
			}
		}
		if !slices.Equal(p.Rules[1].Filters[0].Values, []string{path}) {
			t.Fatalf("%q became %q", path, p.Rules[1].Filters[0].Values)
		}
	})
}
