package sbpl

import (
	"errors"
	"strings"
	"testing"
)

func mustParse(t testing.TB, text string, opt Options) *Profile {
	t.Helper()
	p, err := Parse(text, opt)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// allowed asks both readings; want is "yes", "no", or "yes,no" where they differ.
func allowed(t testing.TB, p *Profile, q Request) string {
	t.Helper()
	var out []string
	for _, o := range Orders {
		v, err := p.Decide(q, o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, map[bool]string{true: "yes", false: "no"}[v.Allowed])
	}
	if out[0] == out[1] {
		return out[0]
	}
	return strings.Join(out, ",")
}

// public is a profile in the manner of those that are published: parameters,
// definitions, conditions, home directories, strings put together.
const public = `
(version 1) ; a remark
(deny default)
(debug deny)
(define home (param "HOME"))
(define cache (string-append home "/Library/Caches"))
(import "base")
(allow file-read*
  (literal "/")
  (subpath "/usr" "/System")
  (regex #"^/private/var/folders/[^/]+/[^/]+/C($|/)" #"\.dylib$"))
(allow file-write* (subpath cache) (home-subpath "/work"))
(deny file-write* (require-all (subpath (string-append home "/work")) (regex #"/\.git(/|$)")))
(deny file-write-data (require-any (literal "/a") (require-not (subpath "/"))))
(when (param "NET") (allow network-outbound (remote tcp "*:443") (remote ip "localhost:*")))
(unless (param "NET") (deny network*))
(if (equal? (param "MODE") "loose") (allow signal) (allow signal (target self)))
(if (not (param "MODE")) (allow process-fork) (begin (allow sysctl-read) (allow process-exec (with no-sandbox))))
(allow mach-lookup (global-name "com.apple.system.logger") (global-name-prefix "com.example."))
(allow network-outbound (remote unix-socket (path-literal "/var/run/mDNSResponder")) (literal "/private/var/run/syslog"))
`

func TestPublicProfiles(t *testing.T) {
	opt := Options{Params: map[string]string{"HOME": "/Users/u", "NET": "1"}, Import: func(name string) (string, error) {
		return "(version 1)\n(allow process-info* (target self)) ; " + name, nil
	}}
	p := mustParse(t, public, opt)
	for _, c := range []struct {
		q    Request
		want string
	}{
		{Request{Op: "file-read-data", Path: "/usr/lib/x"}, "yes"},
		{Request{Op: "file-read-data", Path: "/usrx"}, "no"},
		{Request{Op: "file-read-metadata", Path: "/"}, "yes"},
		{Request{Op: "file-read-data", Path: "/private/var/folders/zz/abc/C/x"}, "yes"},
		{Request{Op: "file-read-data", Path: "/private/var/folders/zz/abc/Cx"}, "no"},
		{Request{Op: "file-read-data", Path: "/any/libz.dylib"}, "yes"},
		{Request{Op: "file-read-data", Path: "/any/libzxdylib"}, "no"},
		{Request{Op: "file-write-create", Path: "/Users/u/Library/Caches/a"}, "yes"},
		{Request{Op: "file-write-create", Path: "/Users/u/work/a"}, "yes"},
		{Request{Op: "file-write-create", Path: "/Users/u/work/.git/config"}, "no"},
		{Request{Op: "file-write-create", Path: "/Users/u/work/x.git/config"}, "yes"},
		{Request{Op: "network-outbound", Proto: "tcp", Port: 443}, "yes"},
		{Request{Op: "network-outbound", Proto: "tcp", Port: 80}, "no"},
		{Request{Op: "network-outbound", Proto: "udp", Port: 443}, "no"},
		{Request{Op: "network-outbound", Proto: "udp", Port: 53, Loopback: true}, "yes"},
		{Request{Op: "network-outbound", Proto: "unix", Path: "/var/run/mDNSResponder"}, "yes"},
		{Request{Op: "network-outbound", Proto: "unix", Path: "/private/var/run/syslog"}, "yes"},
		{Request{Op: "network-outbound", Proto: "unix", Path: "/var/run/docker.sock"}, "no"},
		{Request{Op: "signal", Words: map[string][]string{"target": {"self"}}}, "yes"},
		{Request{Op: "signal", Words: map[string][]string{"target": {"others"}}}, "no"},
		{Request{Op: "signal"}, "no"},
		{Request{Op: "process-info-pidinfo", Words: map[string][]string{"target": {"self"}}}, "yes"},
		{Request{Op: "process-fork"}, "yes"},
		{Request{Op: "sysctl-read", Name: "hw.ncpu"}, "no"},
		{Request{Op: "mach-lookup", Name: "com.apple.system.logger"}, "yes"},
		{Request{Op: "mach-lookup", Name: "com.example.x"}, "yes"},
		{Request{Op: "mach-lookup", Name: "com.apple.system"}, "no"},
		{Request{Op: "mach-lookup"}, "no"},
		{Request{Op: "file-write-data", Path: "/Users/u/work/a"}, "yes"},
	} {
		if got := allowed(t, p, c.q); got != c.want {
			t.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
	p = mustParse(t, public, Options{Params: map[string]string{"HOME": "/Users/u", "MODE": "loose"}, Import: opt.Import})
	for op, want := range map[string]string{"signal": "yes", "process-fork": "no", "sysctl-read": "yes", "process-exec": "yes", "process-exec-interpreter": "yes"} {
		if got := allowed(t, p, Request{Op: op}); got != want {
			t.Errorf("%s: %s, want %s", op, got, want)
		}
	}
	if got := allowed(t, p, Request{Op: "network-outbound", Proto: "tcp", Port: 443}); got != "no" {
		t.Errorf("network without NET: %s", got)
	}
}

func TestFaultsHaveALine(t *testing.T) {
	for text, line := range map[string]int{
		"":                                      1,
		"(allow default)":                       1,
		"(version 1)\n(allow":                   2,
		"(version 1)\n)":                        2,
		"(version 4)":                           1,
		"(version 1)(allow file-raed*)":         1,
		"(version 1)\n\n(allow)":                3,
		"(version 1)(allow default file-read*)": 1,
		"(version 1)(allow file-read* (literal \"/\") signal)":                         1,
		"(version 1)(allow file-read* (literal))":                                      1,
		"(version 1)(allow file-read* (nonesuch \"a\"))":                               1,
		"(version 1)(allow file-read* (subpath home))":                                 1,
		"(version 1)(allow file-read* (subpath (param \"X\")))":                        1,
		"(version 1)(allow file-read* (literal \"/\\q\"))":                             1,
		"(version 1)(allow file-read* (literal \"/x))":                                 1,
		"(version 1)(allow file-read* (regex #\"a{2}\"))":                              1,
		"(version 1)(allow file-read* (regex #\"[a\"))":                                1,
		"(version 1)(allow file-read* (regex #\"(a\"))":                                1,
		"(version 1)(allow file-read* (regex #\"a\\d\"))":                              1,
		"(version 1)(allow file-read* (regex #\"(?i)a\"))":                             1,
		"(version 1)(allow file-read* (require-not))":                                  1,
		"(version 1)(allow file-read* (require-any \"/\"))":                            1,
		"(version 1)(allow file-read* (require-not (literal \"/\") (literal \"/a\")))": 1,
		"(version 1)(allow signal (target \"self\"))":                                  1,
		"(version 1)(allow network* (remote \"ip\"))":                                  1,
		"(version 1)(allow network* (remote ip \"1.2.3.4:80\"))":                       1,
		"(version 1)(allow network* (remote ip \"*:70000\"))":                          1,
		"(version 1)(allow network* (remote sctp))":                                    1,
		"(version 1)(allow network* (remote))":                                         1,
		"(version 1)(lambda (x) x)":                                                    1,
		"(version 1)(define f)":                                                        1,
		"(version 1)(define (f x) x)":                                                  1,
		"(version 1)(define f (g))":                                                    1,
		"(version 1)(define f (string-append \"a\" (param \"X\")))":                    1,
		"(version 1)(when)":                                                            1,
		"(version 1)(import \"x\")":                                                    1,
		"(version 1)'a":                                                                1,
		"(version 1)\n(literal \"\x00\")":                                              2,
		"(version 1)(\"allow\")":                                                       1,
		"(version 1)(when ((a)) (allow signal))":                                       1,
		"(version 1)" + strings.Repeat("(begin ", 70) + strings.Repeat(")", 70):        1,
	} {
		_, err := Parse(text, Options{})
		var e *Error
		if !errors.As(err, &e) || e.Line != line || e.Error() == "" {
			t.Errorf("%q: %v, want line %d", text, err, line)
		}
	}
	_, err := Parse("(version 1)(import \"a\")", Options{Import: func(string) (string, error) { return "(import \"a\")", nil }})
	if err == nil {
		t.Error("imports without end")
	}
	if _, err = Parse("(version 1)(import \"a\")", Options{Import: func(string) (string, error) { return "", errors.New("gone") }}); err == nil {
		t.Error("an import that is not there")
	}
}

func TestOperationNames(t *testing.T) {
	for op, want := range map[string]string{
		"file-read-data":           "file-read-data file-read* file*",
		"file-write-unlink":        "file-write-unlink file-write* file*",
		"ipc-posix-shm-write-data": "ipc-posix-shm-write-data ipc-posix-shm-write* ipc-posix-shm* ipc-posix* ipc*",
		"process-exec":             "process-exec* process*",
		"signal":                   "signal",
		"sysctl-read":              "sysctl-read sysctl*",
	} {
		if got := strings.Join(above()[op], " "); got != want {
			t.Errorf("%s: %s, want %s", op, got, want)
		}
	}
	if _, err := (&Profile{}).Decide(Request{Op: "file-raed"}, LastMatch); err == nil {
		t.Error("an operation that there is not")
	}
}

// TestReadings: where the two readings of the order differ, and where not.
func TestReadings(t *testing.T) {
	q := Request{Op: "file-write-unlink", Path: "/a/b"}
	for text, want := range map[string]string{
		`(deny file-write-unlink (literal "/a/b")) (allow file-write* (subpath "/a"))`: "yes,no",
		`(allow file-write* (subpath "/a")) (deny file-write-unlink (literal "/a/b"))`: "no",
		`(allow file-write* (subpath "/a")) (deny file-write* (literal "/a/b"))`:       "no",
		`(deny file-write* (literal "/a/b")) (allow file-write* (subpath "/a"))`:       "yes",
		`(allow file*) (deny file-write-unlink (literal "/a/c"))`:                      "yes",
	} {
		if got := allowed(t, mustParse(t, "(version 1)(deny default)"+text, Options{}), q); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, o := range Orders {
		if o.String() == "" {
			t.Error("a reading without a name")
		}
	}
}
