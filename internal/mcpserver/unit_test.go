package mcpserver

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestTape compares with what a tape of no bound would have.
func TestTape(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", "é", "世", "\U00010348", "\xff", "line\n"}
	for range 3000 {
		limit := 8 + r.IntN(40)
		tp := newTape(limit)
		var all []byte
		for range r.IntN(30) {
			s := strings.Repeat(pieces[r.IntN(len(pieces))], r.IntN(12))
			tp.Write([]byte(s))
			all = append(all, s...)
		}
		text, omitted := tp.take(ended)
		half := limit / 2
		if len(all) <= 2*half {
			if text != string(all) || omitted != 0 {
				t.Fatalf("limit %d: %q of %q, %d omitted", limit, text, all, omitted)
			}
			continue
		}
		head, tail, ok := strings.Cut(text, "\n[qsandbox: ")
		_, tail, ok2 := strings.Cut(tail, " bytes left out]\n")
		if !ok || !ok2 || !strings.HasPrefix(string(all), head) || !strings.HasSuffix(string(all), tail) || len(head)+len(tail)+int(omitted) != len(all) {
			t.Fatalf("limit %d: %q of %q, %d omitted", limit, text, all, omitted)
		}
		if len(head) > half || len(tail) > half || len(head) < half-3 || len(tail) < half-3 {
			t.Fatalf("limit %d: head %d, tail %d", limit, len(head), len(tail))
		}
		if utf8.Valid(all) && !utf8.ValidString(text) {
			t.Fatalf("limit %d: a character is cut in %q of %q", limit, text, all)
		}
	}
}

// TestTapeInParts: what is taken in parts is what was written, and no character is cut.
func TestTapeInParts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	want := strings.Repeat("aé世\U00010348", 200)
	tp, rest, got := newTape(10_000), want, ""
	for len(rest) > 0 {
		n := min(len(rest), 1+r.IntN(7))
		tp.Write([]byte(rest[:n]))
		rest = rest[n:]
		text, omitted := tp.take(running)
		if !utf8.ValidString(text) || omitted != 0 {
			t.Fatalf("%q, %d omitted", text, omitted)
		}
		got += text
	}
	text, _ := tp.take(ended)
	if got+text != want {
		t.Error("something was lost")
	}
}

func TestTapeIsBounded(t *testing.T) {
	tp := newTape(1000)
	for range 10_000 {
		tp.Write(bytes.Repeat([]byte("x"), 997))
	}
	tp.Write(make([]byte, 1<<20))
	if n := cap(tp.head) + cap(tp.tail); n > 8000 {
		t.Errorf("%d bytes are held", n)
	}
}

func TestReadable(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                           "plain\ttext\n",
		"\x1b[1;31mred\x1b[0m":                    "red",
		"\x1b[2J\x1b[H":                           "",
		"\x1b]52;c;ZXZpbA==\x07":                  `\x1b]52;c;ZXZpbA==\x07`,
		"\x1b[" + "999999999999999":               `\x1b[999999999999999`,
		"10%\r20%\r\n":                            "10%\n20%\n",
		"\u009b31m":                               `\x9b31m`,
		"a\x00b\xff":                              "a\uFFFDb\uFFFD",
		"\u202etxt.exe\u2069":                     `\u202etxt.exe\u2069`,
		"emoji \U0001F468\u200d\U0001F469 \u4e16": "emoji \U0001F468\u200d\U0001F469 \u4e16",
		"\x7f\x08":                                `\x7f\x08`,
	} {
		if got := readable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzReadable: nothing that is shown controls a terminal.
func FuzzReadable(f *testing.F) {
	f.Add("\x1b[31m\x1b]0;x\x07\xff\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		for _, out := range []string{readable(s), inline(s)} {
			if !utf8.ValidString(out) || strings.ContainsFunc(out, controls) || strings.Contains(out, "\x00") {
				t.Errorf("%q from %q", out, s)
			}
		}
		if strings.Contains(inline(s), "\n") {
			t.Errorf("a line break from %q", s)
		}
	})
}

// FuzzParse: no line makes parse panic, what is accepted is what a strict reader sees,
// and a message that is refused or needs an answer has an id to answer by.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}`, `{"jsonrpc":"2.0","id":"x","id":2}`, `[1]`, `{"id":1e99}`, `{"a":{"b":[{"c":1,"c":2}]}}`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, bad := parse(line)
		if bad != nil && m.id.none() {
			t.Errorf("no id for the refusal of %q", line)
		}
		if bad == nil && m.method != "" {
			var v struct {
				Method string          `json:"method"`
				ID     json.RawMessage `json:"id"`
			}
			if err := json.Unmarshal(line, &v); err != nil || v.Method != m.method && !bytes.Contains(bytes.ToLower(line), []byte(`"method"`)) {
				t.Errorf("%q: %v, method %q", line, err, m.method)
			}
		}
		if !m.id.none() && !json.Valid(m.id.raw) {
			t.Errorf("id %q of %q", m.id.raw, line)
		}
		safeID(line)
	})
}

func TestIDs(t *testing.T) {
	for _, same := range [][]string{{"1", "1.0", "10e-1", "0.1e1"}, {`"a"`, `"\u0061"`}, {"-0", "0"}} {
		first, _ := readID([]byte(same[0]))
		for _, s := range same[1:] {
			if i, ok := readID([]byte(s)); !ok || i.key != first.key {
				t.Errorf("%s and %s differ", same[0], s)
			}
		}
	}
	one, _ := readID([]byte("1"))
	text, _ := readID([]byte(`"1"`))
	if one.key == text.key {
		t.Error("1 and \"1\" are the same")
	}
	for _, s := range []string{"null", "true", "{}", "[]", "", "1e401", "1e-99999999999", `"` + strings.Repeat("x", maxID) + `"`} {
		if _, ok := readID([]byte(s)); ok {
			t.Errorf("%s is an id", s)
		}
	}
}

func TestWindowsShells(t *testing.T) {
	env := map[string]string{"ProgramFiles": `C:\Program Files`, "LOCALAPPDATA": `C:\Users\u\AppData\Local`, "SystemRoot": `C:\Windows`}
	there := map[string]bool{}
	names := func() (out []string) {
		for _, sh := range windowsShells(func(k string) string { return env[k] }, func(p string) bool { return there[p] }) {
			out = append(out, sh[0])
		}
		return out
	}
	powershell := `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`
	if got := names(); !reflect.DeepEqual(got, []string{powershell}) {
		t.Errorf("nothing installed: %q", got)
	}
	there[`C:\Program Files\Git\bin\bash.exe`] = true
	there[`C:\Windows\System32\bash.exe`] = true // the Linux subsystem's, never
	there[`C:\Users\u\AppData\Local\Programs\Git\bin\bash.exe`] = true
	there[`C:\Program Files\PowerShell\7\pwsh.exe`] = true
	want := []string{`C:\Program Files\Git\bin\bash.exe`, `C:\Users\u\AppData\Local\Programs\Git\bin\bash.exe`, `C:\Program Files\PowerShell\7\pwsh.exe`, powershell}
	if got := names(); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := shellName([]string{want[0], "-c"}); got != "bash" {
		t.Errorf("name %q", got)
	}
}

// TestTimeouts: a call asks for less than the host allows, never for more.
func TestTimeouts(t *testing.T) {
	s := fakeServer(t)
	read := func(args string) (bashArgs, error) {
		o, ok := asObject(json.RawMessage(args))
		if !ok {
			t.Fatal(args)
		}
		return s.bashArgs(&call{args: o})
	}
	for _, c := range []struct{ host, args, want string }{
		{"0s", `{"command":"x"}`, "2m0s"},
		{"0s", `{"command":"x","timeout":600000}`, "10m0s"},
		{"0s", `{"command":"x","timeout":600001}`, "error"},
		{"0s", `{"command":"x","run_in_background":true}`, "0s"},
		{"0s", `{"command":"x","run_in_background":true,"timeout":1500}`, "1.5s"},
		{"30s", `{"command":"x"}`, "30s"},
		{"30s", `{"command":"x","timeout":1000}`, "1s"},
		{"30s", `{"command":"x","timeout":30001}`, "error"},
		{"30s", `{"command":"x","run_in_background":true}`, "30s"},
		{"1h", `{"command":"x"}`, "2m0s"},
		{"1h", `{"command":"x","timeout":3600000}`, "1h0m0s"},
		{"0s", `{"command":"x","timeout":0}`, "2m0s"},
	} {
		var err error
		if s.facts.timeout, err = time.ParseDuration(c.host); err != nil {
			t.Fatal(err)
		}
		a, err := read(c.args)
		got := a.timeout.String()
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("host %s, %s: %s, want %s", c.host, c.args, got, c.want)
		}
	}
	if a, err := read(`{"command":"` + strings.Repeat("x", maxCommand+1) + `"}`); err == nil {
		t.Errorf("a command of %d bytes passes", len(a.command))
	}
	if _, err := read(`{"command":"` + strings.Repeat("x", maxCommand) + `"}`); err != nil {
		t.Error(err)
	}
}
