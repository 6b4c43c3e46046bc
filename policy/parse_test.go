package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
)

const fullFile = `{
  // every field
  "$schema": "x", "version": 1,
  "enabled": true, "backend": "linux-native", "mode": "strict", "autoFallback": "session", "windowsMode": "read-only",
  "workspace": "/w",
  "filesystem": { "writable": ["out", "/data/*"], "readable": ["~/.aws/config"], "denyRead": ["**/.env"], "denyWrite": ["vendor/"], "allowProtected": ["git-hooks"], "newProtected": "prevent" },
  "network": { "mode": "allow", "allow": ["API.example.com.", "*.x.org:443", "[::1]:80"], "deny": ["bad.x.org"], "unixSockets": ["/run/x.sock"], "localPorts": [5432], "upstream": "http://u:p@proxy:3128" },
  "env": { "pass": ["CI"], "set": {"A": "1"}, "allowHooks": ["LD_*", "NODE_OPTIONS"] },
  "limits": { "timeout": "90s", "grace": "1500ms", "memory": "1GiB", "processes": 64, "cpus": 1.5, "output": "10MB", "tmp": 1048576 },
  "exec": { "startupAllowlist": ["/opt/x/bin/x"], "nested": true },
  "docker": { "image": "debian:12", "pull": "always", "runtime": "runsc", "host": "unix:///run/docker.sock", "keep": true },
  "macos": { "services": ["pasteboard"] }, "windows": { "audit": "enforce", },
}`

func TestParseEveryField(t *testing.T) {
	l, err := Parse("p.json", []byte(fullFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Fields() {
		if !f.ops.has(&l) {
			t.Errorf("%s was not read", f.Name)
		}
	}
	e, err := Merge(l)
	if err != nil {
		t.Fatal(err)
	}
	want := Policy{
		Version: 1, Enabled: true, Backend: LinuxNative, Mode: Strict, AutoFallback: Session, WindowsMode: ReadOnly, Workspace: "/w",
		Filesystem: Filesystem{[]string{"out", "/data/*"}, []string{"~/.aws/config"}, []string{"**/.env"}, []string{"vendor/"}, []string{"git-hooks"}, PreventNew},
		Network:    Network{NetworkAllow, []string{"api.example.com", "*.x.org:443", "[::1]:80"}, []string{"bad.x.org"}, []string{"/run/x.sock"}, []int{5432}, "http://u:p@proxy:3128"},
		Env:        Env{[]string{"CI"}, map[string]string{"A": "1"}, []string{"LD_*", "NODE_OPTIONS"}},
		Limits:     Limits{90 * time.Second, 1500 * time.Millisecond, 1 << 30, 64, 1.5, 10_000_000, 1 << 20},
		Exec:       Exec{[]string{"/opt/x/bin/x"}, true},
		Docker:     DockerOptions{"debian:12", "always", "runsc", "unix:///run/docker.sock", true},
		Macos:      MacosOptions{[]string{"pasteboard"}}, Windows: WindowsOptions{"enforce"},
	}
	if !reflect.DeepEqual(e.Policy, want) {
		t.Errorf("got  %+v\nwant %+v", e.Policy, want)
	}
}

func TestParseEmpty(t *testing.T) {
	l, err := Parse("p", []byte("\xef\xbb\xbf{ /* nothing */ }"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Layer{Origin: Origin{OriginFile, "p"}}); !reflect.DeepEqual(l, want) {
		t.Errorf("got %+v", l)
	}
	if l, err = Parse("p", []byte(`{"env":{"pass":[]}}`)); err != nil || l.Env.Pass == nil || len(*l.Env.Pass) != 0 {
		t.Errorf("an empty list must be there and empty: %+v, %v", l.Env.Pass, err)
	}
}

// TestParseErrors: every row is refused, with the subject and the words given.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ in, subject, words string }{
		{`{"filesystem":{"writeable":[]}}`, "p:filesystem.writeable", `did you mean "filesystem.writable"?`},
		{`{"writable":[]}`, "p:writable", `did you mean "filesystem.writable"?`},
		{`{"Mode":"strict"}`, "p:Mode", `did you mean "mode"?`},
		{`{"netwrok":{}}`, "p:netwrok", `did you mean "network"?`},
		{`{"xyzzy":1}`, "p:xyzzy", `docs/policy.md`},
		{`{"filesystem.writable":[]}`, "p:filesystem.writable", ""},
		{`{"mode":"strcit"}`, "p:mode", `did you mean "strict"? use strict, compat or permissive`},
		{`{"backend":"bwrap"}`, "p:backend", `linux-bwrap`},
		{"{\n  \"mode\": 1}", "p:mode", `line 2, column 11: wanted a string, got a number`},
		{"{\"env\":{\"pass\":[\"A\",\n 5]}}", "p:env.pass", `line 2, column 2: wanted a string, got a number`},
		{`{"mode":null}`, "p:mode", `got null`},
		{`{"filesystem":null}`, "p:filesystem", `wanted an object, got null`},
		{`{"filesystem":{"writable":"x"}}`, "p:filesystem.writable", `wanted a list of paths or globs, got a string`},
		{`{"mode":"strict","mode":"compat"}`, "p:mode", `twice`},
		{`{"mode":"strict","mod\u0065":"compat"}`, "p:mode", `twice`},
		{`{"env":{"pass":[]},"\u0065nv":{}}`, "p:env", `twice`},
		{`{"env":{"pass":[],"p\u0061ss":["X"]}}`, "p:env.pass", `twice`},
		{`{"env":{"set":{"A":"1","\u0041":"2"}}}`, "p:env.set.A", `twice`},
		{`{"version":2}`, "p:version", `newer`},
		{`{"version":0.5}`, "p:version", `whole number`},
		{`{"filesystem":{"denyRead":["a\u0000b"]}}`, "p:filesystem.denyRead", `NUL`},
		{`{"workspace":"a\u0000"}`, "p:workspace", `NUL`},
		{`{"exec":{"startupAllowlist":["/a\u0000"]}}`, "p:exec.startupAllowlist", `NUL`},
		{`{"network":{"unixSockets":["/a\u0000"]}}`, "p:network.unixSockets", `NUL`},
		{`{"filesystem":{"writable":["\ud800x"]}}`, "p:filesystem.writable", `surrogate`},
		{`{"filesystem":{"writable":["a/../b"]}}`, "p:filesystem.writable", `".."`},
		{`{"filesystem":{"writable":["{a,..}/b"]}}`, "p:filesystem.writable", `".."`},
		{`{"filesystem":{"writable":["~bob/x"]}}`, "p:filesystem.writable", `./~bob/x`},
		{`{"filesystem":{"writable":["C:\\x"]}}`, "p:filesystem.writable", `forward slashes`},
		{`{"filesystem":{"denyRead":["[a"]}}`, "p:filesystem.denyRead", `has no ]`},
		{`{"filesystem":{"allowProtected":["git-hook"]}}`, "p:filesystem.allowProtected", `did you mean "git-hooks"?`},
		{`{"network":{"allow":["https://x.org"]}}`, "p:network.allow", `scheme`},
		{`{"limits":{"memory":"9999999TiB"}}`, "p:limits.memory", `too large`},
		{`{"limits":{"timeout":"5"}}`, "p:limits.timeout", `not a duration`},
		{`{"limits":{"timeout":90}}`, "p:limits.timeout", `no unit`},
		{`{"limits":{"processes":1}}`, "p:limits.processes", `at least 2`},
		{`[]`, "p", `wanted an object, got a list`},
		{``, "p", `line 1`},
		{`{"a":1} x`, "p", `after top-level value`},
		{"{\"workspace\":\"\xff\"}", "p", `line 1, column 15: the file is not UTF-8`},
		{strings.Repeat("[", 1<<19), "p", `levels of brackets`},
		{`{"x":` + strings.Repeat(`{"a":`, 100), "p", `levels of brackets`},
		{strings.Repeat(" ", MaxFile+1), "p", `more than 1048576`},
	} {
		_, err := Parse("p", []byte(c.in))
		var e *fault.Error
		if !errors.As(err, &e) || e.Code != fault.PolicyInvalid || e.Op != "parse policy" {
			t.Errorf("%.60s: got %v", c.in, err)
			continue
		}
		if e.Subject != c.subject || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%.60s: subject %q, want %q; %v, want %q", c.in, e.Subject, c.subject, err, c.words)
		}
	}
}

func TestParseDoesNotAliasItsInput(t *testing.T) {
	data := []byte(`{"workspace":"/aaaa"}`)
	l, err := Parse("p", data)
	if err != nil {
		t.Fatal(err)
	}
	copy(data, bytes.Repeat([]byte("z"), len(data)))
	if *l.Workspace != "/aaaa" {
		t.Errorf("workspace is now %q", *l.Workspace)
	}
}

// FuzzParse: no panic; what is accepted is written and read to the same layer, fits
// the schema, and can be merged.
func FuzzParse(f *testing.F) {
	for _, s := range []string{fullFile, `{}`, `{"limits":{"timeout":"1ns"}}`, `{"a":[[[`, "{\"\\u0061\":1}", `{"env":{"set":{"A":"<&>\u2028"}}}`} {
		f.Add([]byte(s))
	}
	schema := compiledSchema(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse("p", data)
		if err != nil {
			if fault.CodeOf(err) != fault.PolicyInvalid {
				t.Fatalf("code of %v", err)
			}
			return
		}
		if err := fitsSchema(t, schema, string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))); err != nil {
			t.Fatalf("Parse accepts what the schema refuses: %v", err)
		}
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("p", text)
		if err != nil || !reflect.DeepEqual(l, again) {
			t.Fatalf("%s\nreads as %+v (%v), not %+v", text, again, err, l)
		}
		if _, err := Merge(l); err != nil {
			t.Fatalf("Parse accepts what Merge refuses: %v", err)
		}
	})
}
