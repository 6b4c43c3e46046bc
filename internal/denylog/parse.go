// Package denylog reads what the kernel of macOS says about refused operations: the
// sandbox writes a line to the system's log for each. It is the kernel's own word,
// and so certain, where the messages of a command are only guesses (OBS-04).
//
// Parsing is pure. Source is the seam: a stream of the log on macOS, text in tests.
package denylog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Entry is one refused operation.
type Entry struct {
	PID       int
	Process   string // its name, cut by the kernel
	Operation string // as the profile language has it: file-read-data, mach-lookup …
	Target    string // path, address, name of a service; "" for none
}

// Bounds of what is taken of one line.
const (
	maxLine   = 64 << 10
	maxTarget = 4 << 10
)

// record is what is read of a line of log(1) in the style ndjson.
type record struct {
	Message string `json:"eventMessage"`
	Sender  string `json:"senderImagePath"`
	PID     *int   `json:"processID"`
}

// Parse reads one line of the log as JSON. ok is false for what is not about a
// refused operation, and for what has no process: repeated lines are summed up
// without one.
//
// SECURITY: any program may write such a text to the log. The kernel's own lines come
// from process 0 and from the sandbox's extension.
func Parse(line []byte) (e Entry, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || len(line) > maxLine || line[0] != '{' {
		return e, false
	}
	var r record
	if json.Unmarshal(line, &r) != nil || r.PID == nil || *r.PID != 0 || !strings.Contains(r.Sender, "/Sandbox.kext/") {
		return e, false
	}
	return message(r.Message)
}

// message reads "Sandbox: NAME(PID) deny(N) OPERATION TARGET". The name may hold
// anything, so the sign that it has ended is looked for.
func message(text string) (e Entry, ok bool) {
	text, ok = strings.CutPrefix(text, "Sandbox: ")
	if !ok {
		return e, false
	}
	for at := 0; ; {
		i := strings.Index(text[at:], ") deny(")
		if i < 0 {
			return Entry{}, false
		}
		at += i
		if e, ok := split(text, at); ok {
			return e, true
		}
		at++
	}
}

// split takes a message apart around ") deny(" at a place.
func split(text string, at int) (e Entry, ok bool) {
	open := strings.LastIndexByte(text[:at], '(')
	if open < 0 {
		return e, false
	}
	pid, err := strconv.Atoi(text[open+1 : at])
	if err != nil || pid <= 0 {
		return e, false
	}
	rest := text[at+len(") deny("):]
	count, rest, found := strings.Cut(rest, ") ")
	if _, err := strconv.Atoi(count); !found || err != nil {
		return e, false
	}
	op, target, _ := strings.Cut(rest, " ")
	if op == "" || len(target) > maxTarget || strings.IndexByte(target, 0) >= 0 || !isOperation(op) {
		return e, false
	}
	return Entry{PID: pid, Process: text[:open], Operation: op, Target: target}, true
}

func isOperation(s string) bool {
	for i := range len(s) {
		if c := s[i]; !(c >= 'a' && c <= 'z' || c == '-' || c == '*' || c >= '0' && c <= '9') {
			return false
		}
	}
	return true
}

// Kind gives the operation in the words of a policy: read, write, exec, connect; ""
// for one that a policy has no word for.
func (e Entry) Kind() string {
	switch op := e.Operation; {
	case strings.HasPrefix(op, "file-read"), op == "file-test-existence":
		return "read"
	case strings.HasPrefix(op, "file-write"), op == "file-link", op == "file-clone", op == "file-mknod":
		return "write"
	case strings.HasPrefix(op, "process-exec"):
		return "exec"
	case op == "network-outbound":
		return "connect"
	}
	return ""
}
