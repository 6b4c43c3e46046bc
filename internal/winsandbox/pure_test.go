package winsandbox

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/winacl"
	"github.com/qiming-sandbox/qsandbox/report"
)

func TestCleanPath(t *testing.T) {
	for in, want := range map[string]string{
		`C:\ws`: `C:\ws`, `c:/ws/a/../b/.`: `C:\ws\b`, `\\?\C:\ws`: `C:\ws`, `C:\`: `C:\`, `C:\a b\é`: `C:\a b\é`, `C:\..\x`: `C:\x`, `C:\-x`: `C:\-x`,
		`C:\com`: `C:\com`, `C:\nul1`: `C:\nul1`, `C:\.git`: `C:\.git`, `C:\comé`: `C:\comé`,
	} {
		if got, err := CleanPath("x", in); err != nil || got != want {
			t.Errorf("%q: %q %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "ws", `\ws`, `C:ws`, `C:`, `\\server\share`, `//server/share`, `\\?\UNC\s\x`, `\\.\C:\x`, `\\?\Volume{1}\x`, `\??\C:\x`, "C:\\a\x00b", `C:\a:stream`, `C:\ws.`,
		`C:\ws \x`, `C:\NUL`, `C:\x\con.txt`, `C:\COM1`, `C:\lpt¹`, `C:\a*`, `C:\a|b`, `1:\x`, `C:\aux .x`,
	} {
		if got, err := CleanPath("x", in); !errors.Is(err, &fault.Error{Code: fault.PathInvalid}) {
			t.Errorf("%q gives %q, %v", in, got, err)
		}
	}
}

func FuzzCleanPath(f *testing.F) {
	f.Add(`c:/ws/../x`)
	f.Fuzz(func(t *testing.T, p string) {
		got, err := CleanPath("x", p)
		if err != nil {
			return
		}
		again, err := CleanPath("x", got)
		if err != nil || again != got || strings.Contains(got, `\..`+`\`) || strings.ContainsRune(got[2:], ':') {
			t.Fatalf("%q gives %q, then %q %v", p, got, again, err)
		}
	})
}

func TestCheckRoot(t *testing.T) {
	at := Places{Home: `C:\Users\ann`, AppData: `C:\Users\ann\AppData\Roaming`, LocalAppData: `C:\Users\ann\AppData\Local`, Windows: `C:\Windows`,
		ProgramData: `C:\ProgramData`, Programs: []string{`C:\Program Files`}, State: `C:\Users\ann\AppData\Local\qsandbox`}
	for p, ok := range map[string]bool{
		`C:\`: false, `C:\Users`: false, `C:\Users\ann`: false, `C:\Users\ann\AppData`: false, `C:\Users\ann\AppData\Roaming`: false,
		`C:\Users\ann\AppData\Roaming\Microsoft\Windows\Start Menu\Programs\Startup`: false, `C:\Users\ann\AppData\Local`: false, `c:\users\ANN\appdata\local\Programs`: false,
		`C:\Users\ann\AppData\Local\Temp`: false, `C:\Users\ann\AppData\Local\Temp\ws`: true, `C:\Users\ann\AppData\Local\qsandbox\x`: false,
		`C:\Windows\Temp`: false, `C:\Program Files\x`: false, `C:\ProgramData`: false, `C:\ProgramData\Microsoft\Windows\Start Menu\Programs\StartUp`: false, `C:\programdata\ci\ws`: true, `C:\Users\ann\src`: true, `C:\work`: true, `D:\`: false, `D:\w`: true, `C:\Windows2`: true,
	} {
		if err := CheckRoot("writable_roots[0]", p, at); (err == nil) != ok {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// TestQuoting: what goes in comes out, by the C runtime's rules.
func TestQuoting(t *testing.T) {
	for _, argv := range [][]string{
		{`C:\a b\x.exe`, "", " ", `"`, `\`, `\\`, `a\"b`, `a\\`, `a b\`, "tab\t", "é", "%PATH%", "^&|", "-x", "new\nline"},
		{"x", `c:\dir\`, `"quoted" and \"more\"`, `\\server\share\`, `"""`},
	} {
		line, err := CommandLine(argv[0], argv)
		if err != nil {
			t.Fatal(err)
		}
		if got := SplitCommandLine(line); !reflect.DeepEqual(got, argv) {
			t.Errorf("%s\n got %q\nwant %q", line, got, argv)
		}
	}
	for _, c := range []struct {
		program string
		arg     string
		ok      bool
	}{{`C:\x.bat`, "plain arg", true}, {`C:\x.bat`, `"&calc&"`, false}, {`C:\x.CMD`, "%PATH%", false}, {`C:\x.bat`, "a\nb", false}, {`C:\x.exe`, `"&calc&"`, true}, {`C:\x.exe`, "a\x00", false}, {`C:\x.exe`, strings.Repeat("x", 40000), false}} {
		if _, err := CommandLine(c.program, []string{c.program, c.arg}); (err == nil) != c.ok {
			t.Errorf("%s %.20q: %v", c.program, c.arg, err)
		}
	}
}

func FuzzQuoting(f *testing.F) {
	f.Add(`a "b\" c`, `d\`)
	f.Fuzz(func(t *testing.T, a, b string) {
		line, err := CommandLine("x.exe", []string{"x.exe", a, b})
		if err != nil {
			return
		}
		if got := SplitCommandLine(line); len(got) != 3 || got[1] != a || got[2] != b {
			t.Fatalf("%q gives %q", line, got)
		}
	})
}

func TestEnvironment(t *testing.T) {
	host := []string{"Path=C:\\bin", "PATHEXT=.COM;.EXE;.BAT", "SystemRoot=C:\\Windows", "ANTHROPIC_API_KEY=leak_test", "=C:=C:\\x", "NODE_OPTIONS=--require x",
		"TEMP=C:\\t", "LANG=/dev/null", "MY_VAR=1", "PAGER=less"}
	env, _ := Environment(EnvWish{Host: host, Pass: []string{"my_var"}, Temp: `C:\st\tmp`, Cache: `C:\st\cache`, Stubs: `C:\st\bin`})
	get := func(k string) string {
		for _, kv := range env {
			if n, v, _ := strings.Cut(kv, "="); strings.EqualFold(n, k) {
				return v
			}
		}
		return "(unset)"
	}
	for k, want := range map[string]string{
		"ANTHROPIC_API_KEY": "(unset)", "NODE_OPTIONS": "(unset)", "MY_VAR": "1", "PATH": `C:\st\bin;C:\bin`, "PATHEXT": ".BAT;.CMD;.COM;.EXE", "TEMP": `C:\st\tmp`, "TMP": `C:\st\tmp`,
		"HTTPS_PROXY": dead, "LANG": "NUL", "PAGER": "more.com", "npm_config_cache": `C:\st\cache\npm`, "SYSTEMROOT": `C:\Windows`, "PIP_NO_INDEX": "1",
	} {
		if got := get(k); got != want {
			t.Errorf("%s = %q, want %q", k, got, want)
		}
	}
	if !slices.IsSortedFunc(env, func(a, b string) int { return strings.Compare(name(a), name(b)) }) {
		t.Errorf("not sorted: %q", env)
	}
	on, _ := Environment(EnvWish{Host: host, Network: NetworkOn, Stubs: `C:\st\bin`})
	if joined := strings.Join(on, "\n"); strings.Contains(joined, "PROXY") || strings.Contains(joined, `st\bin`) {
		t.Errorf("network on: %s", joined)
	}
	named, _ := Environment(EnvWish{Host: host, Pass: []string{"NODE_OPTIONS"}})
	if !slices.Contains(named, "NODE_OPTIONS=--require x") {
		t.Error("a hook that the caller names does not pass")
	}
}

// fakeDisk is a directory with n children.
type fakeDisk struct {
	entries []Entry
	sddl    map[string]string
	step    time.Duration
	now     time.Duration
}

func (d *fakeDisk) Children(string) ([]Entry, error) { return d.entries, nil }
func (d *fakeDisk) Since() time.Duration             { d.now += d.step; return d.now }
func (d *fakeDisk) Security(p string) (*winacl.Descriptor, error) {
	s, ok := d.sddl[p]
	if !ok {
		return nil, errors.New("access denied")
	}
	return winacl.ParseSDDL(s)
}

// TestAudit: WN-08.
func TestAudit(t *testing.T) {
	d := &fakeDisk{sddl: map[string]string{`C:\ws`: "D:(A;;FA;;;SY)"}}
	for i := range 300 {
		n := fmt.Sprintf("d%03d", i)
		d.entries = append(d.entries, Entry{Name: n, Dir: true})
		d.sddl[`C:\ws\`+n] = "D:(A;;FA;;;SY)"
	}
	d.sddl[`C:\ws\d003`] = "D:(A;OICI;FW;;;WD)"
	d.sddl[`C:\ws\d004`] = "D:(A;OICIIO;FA;;;WD)" // only for what comes below: not itself
	d.sddl[`C:\ws\d005`] = "D:(D;;FW;;;WD)(A;;FA;;;WD)(A;;0x40;;;WD)"
	d.sddl[`C:\ws\d006`] = "D:NO_ACCESS_CONTROL"
	d.sddl[`C:\ws\d250`] = "D:(A;;FA;;;WD)" // beyond the bound
	delete(d.sddl, `C:\ws\d007`)
	d.entries[8].Link, d.entries[9].Dir = true, false
	d.sddl[`C:\ws\d008`] = "D:(A;;FA;;;WD)"
	f, err := Audit(d, `C:\ws`, []string{`C:\ws\d006`})
	if err != nil {
		t.Fatal(err)
	}
	if f.Seen != 199 || f.Total != 298 || f.Stopped != "200 directories" || f.Complete() || len(f.Unread) != 1 || f.Excepted != 1 {
		t.Errorf("%+v", f)
	}
	if want := []string{`C:\ws\d003`, `C:\ws\d005`}; !slices.Equal(f.Flagged, want) {
		t.Errorf("flagged %q, want %q", f.Flagged, want)
	}
	if l := f.Line(); !strings.Contains(l, "199 of 298") || !strings.Contains(l, "stopped at 200") {
		t.Error(l)
	}
	slow := &fakeDisk{entries: d.entries, sddl: d.sddl, step: 100 * time.Millisecond}
	if f, _ := Audit(slow, `C:\ws`, nil); f.Stopped != "1s" || f.Seen > 10 {
		t.Errorf("%+v", f)
	}
	few := &fakeDisk{entries: d.entries[10:20], sddl: d.sddl}
	if f, _ := Audit(few, `C:\ws`, nil); !f.Complete() || f.Seen != 10 {
		t.Errorf("%+v", f)
	}
}

// TestAuditOfTheDirectoryItself: read-only would not be, where anybody may write. In a root
// it is left alone.
func TestAuditOfTheDirectoryItself(t *testing.T) {
	for _, c := range []struct {
		dir, sddl string
		roots     []string
		flagged   bool
		complete  bool
	}{
		{`C:\ws`, "D:(A;OICI;FA;;;WD)", nil, true, true}, {`C:\ws`, "D:(A;OICI;FR;;;WD)", nil, false, true}, {`C:\ws`, "D:(A;OICI;FA;;;WD)", []string{`C:\`}, false, true},
		{`C:\`, "D:NO_ACCESS_CONTROL", nil, false, false}, {`C:\none`, "", nil, false, false},
	} {
		d := &fakeDisk{sddl: map[string]string{}, entries: []Entry{{Name: "sub", Dir: true}}}
		d.sddl[strings.TrimSuffix(c.dir, `\`)+`\sub`] = "D:(A;;FA;;;SY)"
		if c.sddl != "" {
			d.sddl[c.dir] = c.sddl
		}
		f, err := Audit(d, c.dir, c.roots)
		if err != nil || slices.Contains(f.Flagged, c.dir) != c.flagged || f.Complete() != c.complete || f.Total != 1 || f.Seen != 1 {
			t.Errorf("%+v: %+v %v", c, f, err)
		}
	}
}

func TestCapabilities(t *testing.T) {
	c, err := ParseCapabilities(nil)
	if err != nil {
		t.Fatal(err)
	}
	a, fresh, err := c.For(`C:\Ws`, rand.Reader)
	if err != nil || !fresh || !IsCapability(a) {
		t.Fatalf("%v %v %v", a, fresh, err)
	}
	if again, fresh, _ := c.For(`c:\wS`, rand.Reader); again != a || fresh {
		t.Error("the same path has another identifier")
	}
	if b, _, _ := c.For(`C:\ws2`, rand.Reader); b == a {
		t.Error("two paths share one")
	}
	back, err := ParseCapabilities(c.Encode())
	if err != nil || !reflect.DeepEqual(back, c) {
		t.Errorf("%v %v", back, err)
	}
	for _, bad := range []string{"{", `{"version":2}`, `{"version":1,"sids":{"x":"S-1-1-0"}}`, `{"version":1,"sids":{"x":"` + a.String() + `","y":"` + a.String() + `"}}`, "x" + string(c.Encode())} {
		if _, err := ParseCapabilities([]byte(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
	if _, _, err := c.For(`C:\new`, bytes.NewReader(nil)); err == nil {
		t.Error("no randomness and no error")
	}
}

// TestVerify: a token that is not as asked is refused (WIN-04).
func TestVerify(t *testing.T) {
	w := wish(layout(), WriteRestricted)
	good := func() TokenFacts {
		return TokenFacts{Restricting: w.Restricting(), Restricted: true, Privileges: []string{"SeChangeNotifyPrivilege"},
			Probe: ProbeResult{Done: true, DeniesData: true, DeniesMeta: true, AllowsOwn: true, AllowsReads: true}}
	}
	if err := w.Verify(good()); err != nil {
		t.Fatalf("the twin: %v", err)
	}
	for name, edit := range map[string]func(*TokenFacts){
		"not restricted":     func(f *TokenFacts) { f.Restricted = false },
		"none took":          func(f *TokenFacts) { f.Restricting = nil },
		"one is missing":     func(f *TokenFacts) { f.Restricting = f.Restricting[1:] },
		"one too many":       func(f *TokenFacts) { f.Restricting = append(f.Restricting, winacl.Users) },
		"a privilege":        func(f *TokenFacts) { f.Privileges = append(f.Privileges, "SeBackupPrivilege") },
		"administrators":     func(f *TokenFacts) { f.Admins = true },
		"could not read":     func(f *TokenFacts) { f.CouldNot = []string{"read back: invalid function"} },
		"probe lets write":   func(f *TokenFacts) { f.Probe.DeniesData = false },
		"probe refuses own":  func(f *TokenFacts) { f.Probe.AllowsOwn = false },
		"probe refuses read": func(f *TokenFacts) { f.Probe.AllowsReads = false },
	} {
		f := good()
		edit(&f)
		if err := w.Verify(f); !errors.Is(err, fault.ErrSandboxUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	free := wish(layout(), Unrestricted)
	if err := free.Verify(TokenFacts{Privileges: []string{"SeChangeNotifyPrivilege"}}); err != nil {
		t.Errorf("unrestricted: %v", err)
	}
	if err := free.Verify(TokenFacts{Privileges: []string{"SeDebugPrivilege"}}); err == nil {
		t.Error("unrestricted with a privilege")
	}
}

// TestMasks: no grant lets a command delete by a right on the directory above, or
// change a list (WIN-05).
func TestMasks(t *testing.T) {
	never := winacl.DeleteChild | winacl.WriteDAC | winacl.WriteOwner
	if allowHere&never != 0 || allowBelow&never != 0 || allowHere&winacl.Delete != 0 || allowBelow&winacl.Delete == 0 {
		t.Errorf("grants: %#x, %#x", allowHere, allowBelow)
	}
	if allowHere != winacl.File.Read|winacl.File.Write|winacl.File.Execute {
		t.Errorf("a root gives %#x", allowHere)
	}
	if denyWrite&(winacl.File.Read|winacl.File.Execute) != 0 {
		t.Error("a denial of writing takes reading away")
	}
}

// TestDescribe: the report calls nothing enforced that was not seen, and says what the
// system's own check found.
func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		name  string
		req   Request
		facts TokenFacts
		want  map[string]report.Level
	}{
		{"usual", Request{}, TokenFacts{Probe: ProbeResult{Done: true, DeniesData: true, DeniesMeta: true}}, map[string]report.Level{"FS-01": report.Modelled, "FS-03": report.None, "NET-01": report.Advisory}},
		{"narrow", Request{}, TokenFacts{Probe: ProbeResult{Done: true, DeniesData: true}}, map[string]report.Level{"FS-01": report.Advisory}},
		{"not probed", Request{}, TokenFacts{}, map[string]report.Level{"FS-01": report.Modelled}},
		{"unrestricted", Request{Restriction: Unrestricted}, TokenFacts{}, map[string]report.Level{"FS-01": report.None}},
		{"network on", Request{Network: NetworkOn}, TokenFacts{}, map[string]report.Level{"NET-01": report.Enforced}},
	} {
		var o Outcome
		o.describe(c.req, c.facts, "not an administrator")
		o.notice("x", "y")
		got := map[string]report.Level{}
		for _, r := range o.Rows {
			got[r.Requirement] = r.Level
		}
		for k, want := range c.want {
			if got[k] != want {
				t.Errorf("%s: %s is %s, want %s", c.name, k, got[k], want)
			}
		}
	}
}

func TestWorkName(t *testing.T) {
	a, b := WorkName(`C:\x\ws`), WorkName(`C:\y\ws`)
	if a == b || !strings.HasPrefix(a, "ws-") || WorkName(`c:\X\wS`)[2:] != a[2:] {
		t.Errorf("%s %s %s", a, b, WorkName(`c:\X\wS`))
	}
	long := `C:\` + strings.Repeat("é", 255)
	if a, b := WorkName(long), WorkName(long[:len(long)-2]); utf16Len(a) > 100 || !utf8.ValidString(a) || a == b {
		t.Errorf("%q %q", a, b)
	}
}

// TestBatchFiles: cmd.exe gets the whole path of the file that was looked up, and every
// argument as one.
func TestBatchFiles(t *testing.T) {
	for _, c := range []struct {
		program string
		argv    []string
		want    string // "" refused
	}{
		{`C:\b 2\only.cmd`, []string{"only", "a,b", "c;d", "e=f", "", "g h", "plain"}, `"C:\b 2\only.cmd" "a,b" "c;d" "e=f" "" "g h" plain`},
		{`C:\bin\only.exe`, []string{"only", "a,b"}, `"only" a,b`},
		{`C:\100%\x.bat`, []string{"x"}, ""}, {`C:\wow!\x.BAT`, []string{"x"}, ""}, {`C:\100%\x.exe`, []string{"x"}, `"x"`},
		{`C:\a&b\x.bat`, []string{"x"}, `"C:\a&b\x.bat"`},
	} {
		got, err := CommandLine(c.program, c.argv)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %q: %s %v, want %s", c.program, c.argv, got, err, c.want)
		}
	}
}

// TestLookUp: PATH and PATHEXT, and never the directory to start in.
func TestLookUp(t *testing.T) {
	files := map[string]bool{`C:\bin\tool.exe`: true, `C:\b2\tool.bat`: true, `C:\b2\only.cmd`: true, `C:\ws\tool.exe`: true, `C:\ws\sub\x.exe`: true, `C:\bin\v1.2.exe`: true}
	env := []string{`Path=relative;C:\bin;"C:\b2"`, "PATHEXT=.EXE;.BAT;.CMD"}
	for name, want := range map[string]string{
		"tool": `C:\bin\tool.exe`, "tool.exe": `C:\bin\tool.exe`, "tool.bat": `C:\b2\tool.bat`, "only": `C:\b2\only.cmd`, `.\tool`: `C:\ws\tool.exe`, "sub/x": `C:\ws\sub\x.exe`,
		`C:\bin\tool`: `C:\bin\tool.exe`, "v1.2": `C:\bin\v1.2.exe`, "none": "", `\bin\tool`: "", `\\host\x\tool`: "", "C:tool": "", "tool.exe:stream": "", `C:\bin\nul`: "", "": "", "a\x00": "",
	} {
		got, err := LookUp(name, `C:\ws`, env, asWindows(files))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v, want %q", name, got, err, want)
		}
	}
}

// asWindows finds files as Windows does: a dot or space at the end does not count, and a
// device is in every directory.
func asWindows(files map[string]bool) func(string) bool {
	return func(p string) bool {
		trimmed := strings.TrimRight(p, ". ")
		return files[trimmed] || dosDevice(trimmed[strings.LastIndexByte(trimmed, '\\')+1:])
	}
}

// TestLookUpSpelling: what Windows would take for a batch file or a device is found under
// its own name, or not at all. The control is the file's own name.
func TestLookUpSpelling(t *testing.T) {
	find := asWindows(map[string]bool{`C:\b2\tool.bat`: true})
	for _, c := range []struct{ name, ext, want string }{
		{"tool.bat", "", `C:\b2\tool.bat`}, {"tool.bat ", "", ""}, {"tool.bat.", "", ""}, {"tool.bat. .", "", ""}, {`C:\b2\tool.bat `, "", ""}, {`.\tool.bat.`, "", ""},
		{"tool", ".BAT", `C:\b2\tool.bat`}, {"tool", ".BAT ;.BAT.", ""}, {"tool", `.\..\tool.bat`, ""}, {"nul", "", ""}, {"con.exe", "", ""}, {"..", "", ""}, {"*.bat", "", ""},
	} {
		got, err := LookUp(c.name, `C:\ws`, []string{`PATH=C:\b2`, "PATHEXT=" + c.ext}, find)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q with %q: %q %v, want %q", c.name, c.ext, got, err, c.want)
		}
	}
}
