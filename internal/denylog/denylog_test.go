package denylog

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// line is what log(1) writes in the style ndjson, less what nobody reads.
func line(message string, pid int, sender string) string {
	b, err := json.Marshal(map[string]any{"traceID": 1, "eventMessage": message, "eventType": "logEvent", "senderImagePath": sender,
		"processImagePath": "/kernel", "timestamp": "2026-01-02 03:04:05.678901+0100", "messageType": "Error", "processID": pid})
	if err != nil {
		panic(err)
	}
	return string(b)
}

const kext = "/System/Library/Extensions/Sandbox.kext/Contents/MacOS/Sandbox"

func TestSamples(t *testing.T) { // OBS-04
	for text, want := range map[string]Entry{
		"Sandbox: cat(4242) deny(1) file-read-data /Users/dev/.ssh/id_rsa":               {4242, "cat", "file-read-data", "/Users/dev/.ssh/id_rsa"},
		"Sandbox: bash(77) deny(1) file-write-create /Users/dev/a b/c) deny(1) file-x /": {77, "bash", "file-write-create", "/Users/dev/a b/c) deny(1) file-x /"},
		"Sandbox: a(b) c(99) deny(1) process-exec* /Users/dev/tool":                      {99, "a(b) c", "process-exec*", "/Users/dev/tool"},
		"Sandbox: x(1) deny(2) y(55) deny(1) file-read-data /p":                          {55, "x(1) deny(2) y", "file-read-data", "/p"}, // the name decides nothing: the first that reads whole is taken
		"Sandbox: curl(12) deny(1) network-outbound 93.184.216.34:443":                   {12, "curl", "network-outbound", "93.184.216.34:443"},
		"Sandbox: curl(12) deny(1) network-outbound /private/var/run/mDNSResponder":      {12, "curl", "network-outbound", "/private/var/run/mDNSResponder"},
		"Sandbox: git(13) deny(1) mach-lookup com.apple.SecurityServer":                  {13, "git", "mach-lookup", "com.apple.SecurityServer"},
		"Sandbox: ps(14) deny(1) process-info-listpids":                                  {14, "ps", "process-info-listpids", ""},
		"Sandbox: kill(15) deny(1) signal others [launchd(1)]":                           {15, "kill", "signal", "others [launchd(1)]"},
	} {
		got, ok := Parse([]byte(line(text, 0, kext)))
		if !ok || got != want {
			t.Errorf("%q: %+v %v", text, got, ok)
		}
	}
}

func TestWhatIsNoDenial(t *testing.T) {
	const good = "Sandbox: cat(4242) deny(1) file-read-data /x"
	for _, l := range []string{
		"", "Filtering the log data using \"processID == 0\"", "{", "[]", "{}", `{"eventMessage":5}`,
		line(good, 501, kext), // a program that writes the kernel's words
		line(good, 0, "/usr/lib/libSystem.dylib"),
		line("Sandbox: 3 duplicate reports for cat deny file-read-data /x", 0, kext),
		line("Sandbox: cat(4242) allow(1) file-read-data /x", 0, kext),
		line("cat(4242) deny(1) file-read-data /x", 0, kext),
		line("Sandbox: cat(-1) deny(1) file-read-data /x", 0, kext),
		line("Sandbox: cat(4242) deny(x) file-read-data /x", 0, kext),
		line("Sandbox: cat(4242) deny(1) File Read /x", 0, kext),
		line("Sandbox: cat(4242) deny(1) ", 0, kext),
		line("Sandbox: cat(4242) deny(1) file-read-data /"+strings.Repeat("x", maxTarget), 0, kext),
		line("Sandbox: cat(4242) deny(1) file-read-data /\x00", 0, kext),
	} {
		if e, ok := Parse([]byte(l)); ok {
			t.Errorf("%q: %+v", l, e)
		}
	}
}

func TestKinds(t *testing.T) {
	for op, want := range map[string]string{"file-read-metadata": "read", "file-write-unlink": "write", "file-link": "write", "process-exec*": "exec", "network-outbound": "connect", "mach-lookup": "", "signal": ""} {
		if got := (Entry{Operation: op}).Kind(); got != want {
			t.Errorf("%s: %q", op, got)
		}
	}
}

func TestStream(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	a, b := line("Sandbox: cat(1) deny(1) file-read-data /a", 0, kext), line("Sandbox: cat(2) deny(1) file-read-data /b", 0, kext)
	script := fmt.Sprintf("echo header; echo '%s'; echo '%s'; head -c 200000 /dev/zero | tr '\\0' x; echo; sleep 0.05; echo '%s'; sleep 20", a, a, b)
	s, err := Start("/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	list, more := s.Stop(500 * time.Millisecond)
	if len(list) != 3 || more || time.Since(began) > 5*time.Second {
		t.Errorf("%+v %v after %v", list, more, time.Since(began))
	}
	if got := Of(list, []int{1, 7}); !slices.Equal(got, []Entry{{1, "cat", "file-read-data", "/a"}}) {
		t.Errorf("%+v", got)
	}
}

func TestStreamThatEnds(t *testing.T) {
	s, err := Start("/bin/sh", "-c", "exit 1")
	if err != nil {
		t.Skip("sh is not installed")
	}
	began := time.Now()
	if list, more := s.Stop(time.Minute); len(list) > 0 || more || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v", list, time.Since(began))
	}
	if _, err := Start("/no/such/log"); err == nil {
		t.Error("a program that is not there")
	}
}

func TestManyAreBounded(t *testing.T) {
	s := &stream{}
	for range maxEntries + 1 {
		s.keep(Entry{PID: 1})
	}
	if len(s.list) != maxEntries || !s.more {
		t.Errorf("%d %v", len(s.list), s.more)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Sandbox: cat(4242) deny(1) file-read-data /x", kext)
	f.Fuzz(func(t *testing.T, text, sender string) {
		e, ok := Parse([]byte(line(text, 0, sender)))
		if ok && (e.PID <= 0 || e.Operation == "" || !strings.HasPrefix(text, "Sandbox: ")) {
			t.Errorf("%q: %+v", text, e)
		}
	})
}
