package sbpl

import (
	"strings"
	"testing"
)

func TestRegex(t *testing.T) {
	for _, c := range []struct {
		expr, s string
		want    bool
	}{
		{`a`, "xay", true}, {`^a$`, "xay", false}, {`^/a\.b$`, "/a.b", true}, {`^/a\.b$`, "/axb", false},
		{`^/(a|b)+$`, "/abba", true}, {`^/(a|b)?$`, "/", true}, {`[^/]*$`, "/x\ny", true}, {`^/.*z$`, "/a\n\nz", true},
		{`^[]a]$`, "]", true}, {`^[^]a]$`, "]", false}, {`^[a-c]$`, "b", true}, {`^[\]\\]$`, `\`, true}, {`^[&~]$`, "&", true}, {`^[a&&b]$`, "&", true},
		{`^[[:alpha:]]$`, "a", false}, {`é`, "/é", true}, {`^/\(x\)$`, "/(x)", true},
	} {
		p, err := compileRegex(c.expr)
		if c.expr == `^[[:alpha:]]$` {
			if err == nil {
				t.Error("classes by name are taken for something else")
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		if p.match(c.s) != c.want {
			t.Errorf("%q on %q: %v", c.expr, c.s, !c.want)
		}
	}
	if _, err := compileRegex(strings.Repeat("a", maxRegex+1)); err == nil {
		t.Error("an expression without bound")
	}
	for _, s := range awkward {
		p, err := compileRegex("^" + QuoteRegex(s) + "$")
		if err != nil || !p.match(s) || p.match(s+"x") || p.match("x"+s) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		root, path string
		want       bool
	}{
		{"/", "/a", true}, {"/", "/", true}, {"/a", "/a", true}, {"/a", "/a/b", true}, {"/a", "/ab", false}, {"/a/", "/a/b", true},
		{"", "/a", false}, {"/a", "", false}, {"/", "a", false}, {"/a/b", "/a", false},
	} {
		if within(c.root, c.path) != c.want {
			t.Errorf("%q in %q: %v", c.path, c.root, !c.want)
		}
	}
}

func TestFiltersOfEveryKind(t *testing.T) {
	for _, c := range []struct {
		filter string
		q      Request
		want   bool
	}{
		{`(path "/a")`, Request{Path: "/a"}, true},
		{`(prefix "/a")`, Request{Path: "/ab"}, true},
		{`(prefix "/a")`, Request{}, false},
		{`(vnode-type REGULAR-FILE)`, Request{Words: map[string][]string{"vnode-type": {"REGULAR-FILE"}}}, true},
		{`(vnode-type REGULAR-FILE)`, Request{Words: map[string][]string{"vnode-type": {"DIRECTORY"}}}, false},
		{`(extension "com.apple.sandbox.pty")`, Request{Path: "/dev/ttys1"}, false},
		{`(sysctl-name-regex #"^hw\.")`, Request{Name: "hw.x"}, true},
		{`(remote ip)`, Request{Proto: "udp"}, true},
		{`(remote tcp4 "*:*")`, Request{Proto: "tcp"}, true},
		{`(remote ip)`, Request{Proto: "unix", Path: "/s"}, false},
		{`(remote unix)`, Request{Proto: "unix", Path: "/s"}, true},
		{`(remote unix-socket "/s")`, Request{Proto: "unix", Path: "/t"}, false},
		{`(local ip "localhost:80")`, Request{Proto: "tcp", Port: 80}, false},
		{`(local ip "localhost:80")`, Request{Proto: "tcp", Port: 80, Loopback: true}, true},
		{`(require-any (literal "/a") (literal "/b"))`, Request{Path: "/b"}, true},
		{`(require-any (literal "/a") (literal "/b"))`, Request{Path: "/c"}, false},
		{`(require-all (subpath "/a") (require-not (literal "/a/b")))`, Request{Path: "/a/b"}, false},
		{`(require-all (subpath "/a") (require-not (literal "/a/b")))`, Request{Path: "/a/c"}, true},
	} {
		p := mustParse(t, "(version 1)(deny default)(allow file-read* "+c.filter+")", Options{})
		c.q.Op = "file-read-data"
		if got := allowed(t, p, c.q) == "yes"; got != c.want {
			t.Errorf("%s on %+v: %v", c.filter, c.q, got)
		}
	}
}
