package policy

import (
	"encoding"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
)

func TestEnumSpellings(t *testing.T) {
	for text, v := range map[string]encoding.TextMarshaler{
		"strict": Strict, "compat": Compat, "permissive": Permissive,
		"auto": Auto, "linux-bwrap": LinuxBwrap, "linux-native": LinuxNative, "macos-seatbelt": MacosSeatbelt, "windows-sandbox": WindowsSandbox, "docker": Docker, "none": None,
		"manual": Manual, "startup-only": StartupOnly, "session": Session, "read-only": ReadOnly, "workspace-write": WorkspaceWrite,
		"off": NetworkOff, "on": NetworkOn, "allow": NetworkAllow,
	} {
		got, err := v.MarshalText()
		if err != nil || string(got) != text {
			t.Errorf("%#v is %q (%v), want %q", v, got, err, text)
		}
		back := reflect.New(reflect.TypeOf(v))
		if err := back.Interface().(encoding.TextUnmarshaler).UnmarshalText(got); err != nil || back.Elem().Interface() != v {
			t.Errorf("%q reads as %v (%v)", text, back.Elem(), err)
		}
	}
	if _, err := Mode(9).MarshalText(); err == nil || Mode(9).String() != "mode(9)" {
		t.Errorf("mode 9: %v, %s", err, Mode(9))
	}
	for in, want := range map[string]string{"linux-bwarp": `did you mean "linux-bwrap"?`, "Docker": `did you mean "docker"?`, "": "use auto, linux-bwrap, linux-native, macos-seatbelt, windows-sandbox, docker or none", "compact": "auto"} {
		if _, err := ParseBackend(in); err == nil || !strings.Contains(err.Error(), want) || fault.CodeOf(err) != fault.PolicyInvalid {
			t.Errorf("%q: %v", in, err)
		}
	}
	if _, err := ParseMode("compact"); err == nil || !strings.Contains(err.Error(), `"compat"`) {
		t.Errorf("compact: %v", err)
	}
}

func TestSizes(t *testing.T) {
	for in, want := range map[string]Size{"": 0, "0": 0, "7": 7, "1000B": 1000, "64KiB": 64 << 10, "512MiB": 512 << 20, "2GiB": 2 << 30, "1TiB": 1 << 40, "1GB": 1e9, "10MB": 1e7, "1kB": 1000, "1KB": 1000, "8388607TiB": 8388607 << 40} {
		if got, err := ParseSize(in); err != nil || got != want {
			t.Errorf("%q is %d (%v), want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"-1", "-1GiB", "1.5GiB", "1 GiB", "GiB", "B", "1gib", "0x10", "1_000", "+1", "8388608TiB", "9223372036854775808", "１GiB", "1GiBB"} {
		if got, err := ParseSize(in); err == nil {
			t.Errorf("%q is %d", in, got)
		}
	}
	for s, want := range map[Size]string{0: "0B", 1: "1B", 1500: "1500B", 1 << 10: "1KiB", 3 << 29: "1536MiB", 2 << 30: "2GiB", math.MaxInt64: "9223372036854775807B"} {
		if s.String() != want {
			t.Errorf("%d is %q, want %q", int64(s), s, want)
		}
		if back, err := ParseSize(s.String()); err != nil || back != s {
			t.Errorf("%q reads as %d (%v)", s, back, err)
		}
	}
}

func TestSuggest(t *testing.T) {
	for in, want := range map[string]string{"stirct": "strict", "Strict": "strict", "permisive": "permissive", "zzz": "", "": "", strings.Repeat("x", 9999): ""} {
		if got := suggest(in, modeNames.names); got != want {
			t.Errorf("suggest(%.20q) = %q, want %q", in, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"abc", "abc", 0}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestHostRules(t *testing.T) {
	for in, want := range map[string]string{
		"API.Example.com": "api.example.com", "a.org.": "a.org", "*.A.org": "*.a.org", "a.org:443": "a.org:443", "*.a.org:80": "*.a.org:80", "localhost": "localhost", "x_y.z-1": "x_y.z-1",
		"10.0.0.1": "10.0.0.1", "10.0.0.1:80": "10.0.0.1:80", "2001:DB8::1": "2001:db8::1", "[2001:db8:0::1]:443": "[2001:db8::1]:443", "[::1]": "::1", "::ffff:10.0.0.1": "10.0.0.1", "a.org:65535": "a.org:65535",
	} {
		r, err := ParseHostRule(in)
		if err != nil || r.String() != want {
			t.Errorf("%q is %q (%v), want %q", in, r, err, want)
		}
		if again, err := ParseHostRule(r.String()); err != nil || again != r {
			t.Errorf("%q reads as %+v, not %+v", r, again, r)
		}
	}
	for _, in := range []string{
		"", "*", "*.", "*:80", "http://a.org", "a.org/x", "a.org/", "a b.org", "a.org\n", "a\x00b", "u@a.org", "u:p@a.org", "a.org:0", "a.org:65536", "a.org:x", "a.org:", "a.org:080", ":80",
		"a*.org", "*a.org", "a.*.org", "*.*.org", "a..org", ".a.org", "-a.org", "a-.org", "é.org", "127.1", "0x7f.1", "0x7f000001", "2130706433", "010.0.0.1", "1.2.3.4.5", "*.1.2.3.4", "256.0.0.1", "[::1", "[a.org]:1", "[1.2.3.4]:1", "fe80::1%eth0", "::1:zz", "[::1]x", "a\\b", "a.org?x", strings.Repeat("a", 64) + ".org", strings.Repeat("a.", 130) + "org",
	} {
		if r, err := ParseHostRule(in); err == nil {
			t.Errorf("%q is accepted as %+v", in, r)
		}
	}
	for _, c := range []struct {
		rule, host string
		port       int
		want       bool
	}{{"a.org", "a.org", 1, true}, {"a.org", "x.a.org", 1, false}, {"*.a.org", "x.y.a.org", 1, true}, {"*.a.org", "a.org", 1, false}, {"*.a.org", "xa.org", 1, false}, {"a.org:443", "a.org", 80, false}, {"a.org:443", "a.org", 443, true}} {
		if r, _ := ParseHostRule(c.rule); r.Matches(c.host, c.port) != c.want {
			t.Errorf("%s matches %s:%d is not %v", c.rule, c.host, c.port, c.want)
		}
	}
}

// TestValidate: one row per rule; the error names the field.
func TestValidate(t *testing.T) {
	if err := Validate(Policy{}); err != nil {
		t.Errorf("the zero policy: %v", err)
	}
	zero, _ := Normalise(Policy{})
	if zero.Enabled || zero.Mode != Strict || zero.Docker.Pull != "never" || zero.Windows.Audit != "enforce" || zero.Workspace != "." || zero.Version != 1 {
		t.Errorf("the zero policy is %+v", zero)
	}
	for _, c := range []struct {
		field string
		set   func(*Policy)
	}{
		{"version", func(p *Policy) { p.Version = 2 }},
		{"mode", func(p *Policy) { p.Mode = 9 }},
		{"backend", func(p *Policy) { p.Backend = 99 }},
		{"workspace", func(p *Policy) { p.Workspace = "a\x00" }},
		{"filesystem.writable", func(p *Policy) { p.Filesystem.Writable = []string{""} }},
		{"filesystem.writable", func(p *Policy) { p.Filesystem.Writable = []string{"/a/../b"} }},
		{"filesystem.writable", func(p *Policy) { p.Filesystem.Writable = []string{`\.\./x`} }},
		{"filesystem.writable", func(p *Policy) { p.Filesystem.Writable = []string{"../x/{..}"} }},
		{"filesystem.readable", func(p *Policy) { p.Filesystem.Readable = []string{"{a"} }},
		{"filesystem.denyRead", func(p *Policy) { p.Filesystem.DenyRead = []string{strings.Repeat("x", maxPath+1)} }},
		{"filesystem.denyWrite", func(p *Policy) { p.Filesystem.DenyWrite = []string{"C:x"} }},
		{"filesystem.allowProtected", func(p *Policy) { p.Filesystem.AllowProtected = []string{"nope"} }},
		{"network.allow", func(p *Policy) { p.Network.Allow = []string{"*"} }},
		{"network.deny", func(p *Policy) { p.Network.Deny = []string{"x/y"} }},
		{"network.unixSockets", func(p *Policy) { p.Network.UnixSockets = []string{"rel"} }},
		{"network.unixSockets", func(p *Policy) { p.Network.UnixSockets = []string{"/run/*"} }},
		{"network.localPorts", func(p *Policy) { p.Network.LocalPorts = []int{65536} }},
		{"network.upstream", func(p *Policy) { p.Network.Upstream = "ftp://x" }},
		{"network.upstream", func(p *Policy) { p.Network.Upstream = "http://" }},
		{"network.upstream", func(p *Policy) { p.Network.Upstream = "http://u:p@:80" }},
		{"network.upstream", func(p *Policy) { p.Network.Upstream = "http://h:99999" }},
		{"env.pass", func(p *Policy) { p.Env.Pass = []string{"A=B"} }},
		{"env.pass", func(p *Policy) { p.Env.Pass = []string{"AWS_*"} }},
		{"env.set", func(p *Policy) { p.Env.Set = map[string]string{"A": "x\x00"} }},
		{"env.set", func(p *Policy) { p.Env.Set = map[string]string{"": "x"} }},
		{"env.allowHooks", func(p *Policy) { p.Env.AllowHooks = []string{"*"} }},
		{"env.allowHooks", func(p *Policy) { p.Env.AllowHooks = []string{"A*B"} }},
		{"limits.timeout", func(p *Policy) { p.Limits.Timeout = -1 }},
		{"limits.grace", func(p *Policy) { p.Limits.Grace = -time.Second }},
		{"limits.memory", func(p *Policy) { p.Limits.Memory = 1 }},
		{"limits.processes", func(p *Policy) { p.Limits.Processes = 1 }},
		{"limits.processes", func(p *Policy) { p.Limits.Processes = -1 }},
		{"limits.cpus", func(p *Policy) { p.Limits.CPUs = math.NaN() }},
		{"limits.cpus", func(p *Policy) { p.Limits.CPUs = math.Inf(1) }},
		{"limits.cpus", func(p *Policy) { p.Limits.CPUs = -1 }},
		{"limits.output", func(p *Policy) { p.Limits.Output = -1 }},
		{"limits.tmp", func(p *Policy) { p.Limits.Tmp = 64<<10 - 1 }},
		{"exec.startupAllowlist", func(p *Policy) { p.Exec.StartupAllowlist = []string{"ls"} }},
		{"docker.image", func(p *Policy) { p.Docker.Image = "--privileged" }},
		{"docker.runtime", func(p *Policy) { p.Docker.Runtime = "a b" }},
		{"docker.pull", func(p *Policy) { p.Docker.Pull = "sometimes" }},
		{"docker.host", func(p *Policy) { p.Docker.Host = "localhost" }},
		{"macos.services", func(p *Policy) { p.Macos.Services = []string{`a"b`} }},
		{"windows.audit", func(p *Policy) { p.Windows.Audit = "off" }},
	} {
		p := Default()
		c.set(&p)
		err := Validate(p)
		if e, ok := err.(*fault.Error); !ok || e.Subject != c.field || e.Code != fault.PolicyInvalid {
			t.Errorf("%s: got %v", c.field, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	if got := SafeKeys("linux"); !slices.Equal(got, []string{"PATH", "HOME", "USER", "SHELL", "LANG", "LC_*", "TZ", "TERM", "TMPDIR"}) || !slices.Equal(got, SafeKeys("darwin")) {
		t.Errorf("linux: %v", got)
	}
	if got := SafeKeys("windows"); len(got) != 18 || slices.Contains(got, "TERM") {
		t.Errorf("windows: %v", got)
	}
	for _, c := range []struct {
		goos, name string
		want       bool
	}{{"linux", "LC_ALL", true}, {"linux", "path", false}, {"windows", "Path", true}, {"linux", "LOGNAME", false}, {"windows", "LC_ALL", false}, {"linux", "AWS_SECRET_ACCESS_KEY", false}} {
		if IsSafeKey(c.goos, c.name) != c.want {
			t.Errorf("%s %s: not %v", c.goos, c.name, c.want)
		}
	}
	for _, n := range []string{"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "NODE_OPTIONS", "node_options", "PYTHONSTARTUP", "PYTHONPATH", "PERL5OPT", "RUBYOPT", "_JAVA_OPTIONS", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "GIT_CONFIG", "BASH_FUNC_ls%%", "PROMPT_COMMAND", "RUSTC_WRAPPER", "GOFLAGS", "DOTNET_STARTUP_HOOKS", "PSModulePath", "COMPLUS_X", "CARGO_TARGET_X86_LINKER", "npm_config_userconfig", "GLIBC_TUNABLES"} {
		if h, ok := HookFor(n); !ok || h.Reason == "" {
			t.Errorf("%s is no hook", n)
		}
	}
	for _, n := range []string{"PATH", "HOME", "EDITOR", "PAGER", "CI", "FOO", "LD", "GITHUB_TOKEN", "NODE_ENV", "PYTHONUNBUFFERED", "CARGO_TARGET_DIR", "npm_config_cache", "PIP_CACHE_DIR", "UV_CACHE_DIR", "GOCACHE", "GOPROXY", "HTTP_PROXY", "TERM", "LC_ALL", "XDG_CACHE_HOME", "CC", ""} {
		if IsHook(n) {
			t.Errorf("%s is a hook", n)
		}
	}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, k := range SafeKeys(goos) {
			if IsHook(k) {
				t.Errorf("%s is safe on %s and a hook", k, goos)
			}
		}
	}
	allow := []string{"LD_*", "Node_Options"}
	for n, want := range map[string]bool{"LD_PRELOAD": true, "ld_x": true, "NODE_OPTIONS": true, "NODE_OPTIONSX": false, "BASH_ENV": false} {
		if HookAllowed(n, allow) != want {
			t.Errorf("HookAllowed(%s) is not %v", n, want)
		}
	}
	if HookAllowed("LD_PRELOAD", nil) {
		t.Error("allowed by nothing")
	}
}
