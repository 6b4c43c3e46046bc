package helpercmd

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

func TestParsePolicy(t *testing.T) {
	for text, want := range map[string]Policy{
		`{"type":"read-only"}`: {Type: policy.ReadOnly, Mode: policy.Compat},
		`{"type":"workspace-write","writable_roots":["C:\\ws","D:\\x"],"network_access":true,"sandbox_mode":"strict"}`: {Type: policy.WorkspaceWrite,
			WritableRoots: []string{`C:\ws`, `D:\x`}, Network: true, Mode: policy.Strict},
		`{"type":"workspace-write"}`: {Type: policy.WorkspaceWrite, Mode: policy.Compat},
		"workspace-write":            {Type: policy.WorkspaceWrite, Mode: policy.Compat, Preset: true},
		" read-only ":                {Type: policy.ReadOnly, Mode: policy.Compat, Preset: true},
		"{\"type\":\"read-only\",\"sandbox_mode\":\"permissive\"}": {Type: policy.ReadOnly, Mode: policy.Permissive},
	} {
		got, err := ParsePolicy(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v %v", text, got, err)
		}
		if !got.Preset {
			if again, err := ParsePolicy(got.JSON()); err != nil || again.JSON() != got.JSON() {
				t.Errorf("%s comes back as %+v, %v", got.JSON(), again, err)
			}
		}
	}
}

// TestBadPolicies: an error that names the field, never a weaker mode (WIN-02).
func TestBadPolicies(t *testing.T) {
	for text, names := range map[string]string{
		"": "preset", "danger-full-access": "danger", "Read-Only": "Read-Only", "{": "too early", "[]": "preset", "null": "preset", `{"type":"read-only"} x`: "behind", `{"type":"read-only"}{}`: "behind",
		`{"type":"readonly"}`: "readonly", `{"type":"Read-Only"}`: "Read-Only", `{}`: "type", `{"type":null}`: "type", `{"type":["read-only"]}`: "type",
		`{"type":"read-only","type":"workspace-write"}`: "twice", `{"type":"read-only","network_access":true}`: "network_access", `{"type":"read-only","writable_roots":[]}`: "writable_roots",
		`{"type":"workspace-write","Writable_Roots":["C:\\"]}`: "Writable_Roots", `{"type":"workspace-write","writable_roots":"C:\\x"}`: "writable_roots",
		`{"type":"workspace-write","writable_roots":[1]}`: "writable_roots", `{"type":"workspace-write","writable_roots":[""]}`: "writable_roots[0]", `{"type":"workspace-write","writable_roots":null}`: "writable_roots",
		`{"type":"workspace-write","writable_roots":["C:\\a","C:\\\ud800"]}`: "writable_roots[1]", "{\"type\":\"workspace-write\",\"writable_roots\":[\"C:\\\\\xff\"]}": "Unicode",
		`{"type":"workspace-write","network_access":"no"}`: "network_access", `{"type":"workspace-write","network_access":0}`: "network_access",
		`{"type":"workspace-write","sandbox_mode":"compact"}`: "compact", `{"type":"workspace-write","sandbox_mode":""}`: "sandbox_mode", `{"type":"workspace-write","exclude_tmp":true}`: "exclude_tmp",
		`{"type":"workspace-write","writable_roots":["` + strings.Repeat("x", 40000) + `"]}`: "limit",
	} {
		p, err := ParsePolicy(text)
		if !errors.Is(err, fault.ErrPolicyInvalid) || !strings.Contains(err.Error(), names) {
			t.Errorf("%.60s: %+v, %v (want %q in it)", text, p, err, names)
		}
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add(`{"type":"workspace-write","writable_roots":["C:\\ws"],"network_access":false,"sandbox_mode":"compat"}`)
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePolicy(s)
		if err != nil {
			return
		}
		again, err := ParsePolicy(p.JSON())
		again.Preset = p.Preset
		if err != nil || again.JSON() != p.JSON() {
			t.Fatalf("%q gives %s, then %v", s, p.JSON(), err)
		}
	})
}

func TestParseCommand(t *testing.T) {
	want := Command{Sub: Serve, Mode: policy.WorkspaceWrite, Cwd: `C:\ws`, Home: `C:\h`, Policy: Policy{Type: policy.WorkspaceWrite, WritableRoots: []string{`C:\ws`}, Mode: policy.Compat},
		Wish: Restricted, Audit: "enforce", NewNames: "caller", DenyWrite: []string{`C:\ws\a`, `C:\ws\b`}, PassEnv: []string{"CI", "X"}, Timeout: 90 * time.Second, Memory: 1 << 30, Processes: 64, CPUs: 1.5,
		Output: 100, Report: `C:\r.json`, TTY: true, Size: Size{120, 40}, Sizes: 1234, Argv: []string{"cmd", "--", "--mode", ""}}
	args := want.Args()
	got, err := Parse(Serve, args[1:])
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
	}
	if got, err := Parse(Run, []string{"--mode=read-only", "--cwd=C:\\ws", "--", "x"}); err != nil || got.Policy.Type != policy.ReadOnly || !got.Policy.Preset || !got.WriteRestricted() {
		t.Errorf("%+v %v", got, err)
	}
}

func TestBadCommands(t *testing.T) {
	base := []string{"--mode", "read-only", "--cwd", `C:\ws`}
	with := func(more ...string) []string { return append(append([]string{}, base...), more...) }
	for _, c := range []struct {
		args []string
		code fault.Code
		in   string
	}{
		{nil, fault.UsageInvalid, "--mode"},
		{[]string{"--cwd", "x", "--", "y"}, fault.UsageInvalid, "--mode"},
		{[]string{"--mode", "read-only", "--", "y"}, fault.UsageInvalid, "--cwd"},
		{with(), fault.UsageInvalid, "no command"},
		{with("--"), fault.UsageInvalid, "no command"},
		{with("--", ""), fault.UsageInvalid, "no command"},
		{with("cmd"), fault.UsageInvalid, "cmd"},
		{with("--unknown", "--", "x"), fault.UsageInvalid, "--unknown"},
		{with("--policy-json"), fault.UsageInvalid, "missing"},
		{with("--mode", "read-only", "--", "x"), fault.UsageInvalid, "twice"},
		{[]string{"--mode", "readonly", "--cwd", "x", "--", "y"}, fault.UsageInvalid, "readonly"},
		{with("--policy-json", "workspace-write", "--", "x"), fault.PolicyInvalid, "agree"},
		{with("--policy-json", "{", "--", "x"), fault.PolicyInvalid, "early"},
		{with("--write-restricted", "--no-write-restricted", "--", "x"), fault.UsageInvalid, "exclude"},
		{with("--no-write-restricted", "--", "x"), fault.PolicyUnenforceable, "read-only"},
		{with("--timeout", "-1s", "--", "x"), fault.UsageInvalid, "negative"},
		{with("--timeout", "soon", "--", "x"), fault.UsageInvalid, "90s"},
		{with("--memory", "1G", "--", "x"), fault.UsageInvalid, "bytes"},
		{with("--cpus", "NaN", "--", "x"), fault.UsageInvalid, "processors"},
		{with("--processes", "-1", "--", "x"), fault.UsageInvalid, "processes"},
		{with("--audit", "yes", "--", "x"), fault.UsageInvalid, "best-effort"},
		{with("--protected", "nobody", "--", "x"), fault.UsageInvalid, "caller"},
		{with("--size", "80x25", "--", "x"), fault.UsageInvalid, "--tty"},
		{with("--tty", "--size", "80", "--", "x"), fault.UsageInvalid, "80x25"},
		{with("--tty", "--sizes", "0", "--", "x"), fault.UsageInvalid, "pipe"},
		{with("--tty", "--sizes", "-1", "--", "x"), fault.UsageInvalid, "pipe"},
		{with("--tty", "--", "x"), fault.UsageInvalid, "terminal"},
		{with("--home", "", "--", "x"), fault.UsageInvalid, "empty"},
	} {
		if _, err := Parse(Run, c.args); fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.in) {
			t.Errorf("%q: %v (want %s with %q)", c.args, err, c.code, c.in)
		}
	}
}

// TestCapabilitiesOf: a helper names only what it has there (WIN-11, WIN-12).
func TestCapabilitiesOf(t *testing.T) {
	for goos, has := range map[string]bool{"windows": true, "linux": false, "darwin": false} {
		list := CapabilitiesOf(goos)
		if slices.Contains(list, "tty") != has || slices.Contains(list, "resize") != has || !slices.Contains(list, "pass-env") || !slices.IsSorted(list) {
			t.Errorf("%s: %v", goos, list)
		}
	}
}

// TestWriteRestriction is WIN-03 on the helper's side, crossed as §3-1 says.
func TestWriteRestriction(t *testing.T) {
	for _, c := range []struct {
		sub  Sub
		json string
		flag string
		want string // restricted, free, refused
	}{
		{Run, `{"type":"workspace-write","sandbox_mode":"strict"}`, "", "restricted"},
		{Run, `{"type":"workspace-write","sandbox_mode":"compat"}`, "", "restricted"},
		{Run, `{"type":"workspace-write","sandbox_mode":"permissive"}`, "", "restricted"}, // the caller adds the flag
		{Run, `{"type":"workspace-write","sandbox_mode":"permissive"}`, "--no-write-restricted", "free"},
		{Run, `{"type":"workspace-write","sandbox_mode":"compat"}`, "--no-write-restricted", "free"},
		{Run, `{"type":"workspace-write","sandbox_mode":"strict"}`, "--no-write-restricted", "refused"},
		{Run, `{"type":"read-only"}`, "", "restricted"},
		{Run, `{"type":"read-only"}`, "--no-write-restricted", "refused"},
		{Run, `{"type":"read-only","sandbox_mode":"permissive"}`, "--no-write-restricted", "free"},
		{Serve, `{"type":"workspace-write","sandbox_mode":"compat"}`, "", "free"},
		{Serve, `{"type":"workspace-write","sandbox_mode":"compat"}`, "--write-restricted", "restricted"},
		{Serve, `{"type":"workspace-write","sandbox_mode":"permissive"}`, "", "free"},
		{Serve, `{"type":"workspace-write","sandbox_mode":"strict"}`, "", "restricted"},
		{Serve, `{"type":"workspace-write","sandbox_mode":"strict"}`, "--no-write-restricted", "refused"},
		{Serve, `{"type":"read-only"}`, "", "restricted"},
		{Serve, `{"type":"read-only","sandbox_mode":"strict"}`, "", "restricted"},
		{Serve, `{"type":"read-only","sandbox_mode":"permissive"}`, "", "free"},
	} {
		p, err := ParsePolicy(c.json)
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"--mode", p.Type.String(), "--cwd", "C:\\", "--policy-json", c.json}
		if c.flag != "" {
			args = append(args, c.flag)
		}
		got, err := Parse(c.sub, append(args, "--", "x"))
		is := map[bool]string{true: "restricted", false: "free"}[got.WriteRestricted()]
		if errors.Is(err, fault.ErrPolicyUnenforceable) {
			is = "refused"
		} else if err != nil {
			t.Fatal(err)
		}
		if is != c.want {
			t.Errorf("%s %s %s: %s, want %s", c.sub, c.json, c.flag, is, c.want)
		}
	}
}

func TestResult(t *testing.T) {
	var r Result
	r.SetOutput([]byte("a\n"), []byte("\xff\x00"))
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{`"exit_code":0`, `"stdout":"a\n"`, `"timed_out":false`, `"stderr_base64":"/wA="`} {
		if !strings.Contains(string(b), k) {
			t.Errorf("%s lacks %s", b, k)
		}
	}
	if back, err := ParseResult(b); err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("%+v %v", back, err)
	}
	for _, bad := range []string{"", "x", "[]", `{"exit_code":0}`, `{"exit_code":"0","stdout":"","stderr":"","timed_out":false}`} {
		if _, err := ParseResult([]byte(bad)); fault.CodeOf(err) != fault.HelperProtocol {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if f := Fail(fault.New(fault.CommandNotFound, "execute", "x", "")); f.ExitCode != 127 || f.Error.Code != "COMMAND_NOT_FOUND" {
		t.Errorf("%+v", f)
	}
}

// TestVersions: WIN-11.
func TestVersions(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"name":"qiming-sandbox-helper","version":"1","protocol":1,"capabilities":["tty","acl"]}`: true,
		`{"name":"qiming-sandbox-helper","version":"1","protocol":1,"capabilities":["acl"]}`:       false,
		`{"name":"qiming-sandbox-helper","version":"1","protocol":2,"capabilities":["tty"]}`:       false,
		`{"name":"other","protocol":1,"capabilities":["tty"]}`:                                     false,
		`usage: qiming-sandbox-helper run|serve`:                                                   false,
	} {
		if _, err := ParseVersion([]byte(text), "tty"); (err == nil) != ok || err != nil && fault.CodeOf(err) != fault.HelperProtocol {
			t.Errorf("%s: %v", text, err)
		}
	}
}
