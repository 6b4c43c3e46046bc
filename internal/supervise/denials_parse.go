package supervise

import (
	"bytes"
	"strings"
)

// parse takes one line apart and keeps what it tells of. before is the text above it.
func (h *hints) parse(line, before []byte) {
	if bytes.IndexByte(line, '\x1b') >= 0 {
		line = withoutEscapes(line)
	}
	text := string(line)
	lower := asciiLower(text)
	at, phrase, c := firstPhrase(lower)
	switch {
	case at < 0:
	case c == network || strings.Contains(lower, "unix:///"):
		h.addHost(text, lower)
	default:
		m := message{text: text, lower: lower, at: at, end: at + phrase, class: c}
		if !m.after(h) && !m.ahead(h) {
			m.above(h, before)
		}
	}
}

// firstPhrase prefers what strerror says to a name of errno, which node prints before
// it, and anything to a name resolver's word.
func firstPhrase(lower string) (at, size int, c class) {
	at = -1
	for _, p := range phrases {
		i := strings.Index(lower, p.text)
		if i < 0 || at >= 0 && (p.class == network || len(p.text) < window+2) {
			continue
		}
		if at < 0 || i < at {
			at, size, c = i, len(p.text), p.class
		}
	}
	return at, size, c
}

// asciiLower keeps the length, which strings.ToLower does not.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// withoutEscapes drops terminal sequences: CSI … final byte, and other two-byte ones.
func withoutEscapes(p []byte) []byte {
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); i++ {
		if p[i] != '\x1b' {
			out = append(out, p[i])
			continue
		}
		if i++; i < len(p) && p[i] == '[' {
			for i++; i < len(p) && (p[i] < '@' || p[i] > '~'); i++ {
			}
		}
	}
	return out
}

// message is a line with its phrase.
type message struct {
	text, lower string
	at, end     int // of the phrase
	class
}

// after finds the path behind the phrase:
//
//	PermissionError: [Errno 13] Permission denied: '/etc/x'          python
//	EROFS: read-only file system, open '/etc/x'                      node
//	Read-only file system (os error 30) at path "/etc/x"             Rust
//	Permission denied @ rb_sysopen - /etc/x (Errno::EACCES)          Ruby
//	java.nio.file.AccessDeniedException: /etc/x                      Java
func (m message) after(h *hints) bool {
	rest := m.text[m.end:]
	if rest == "" || strings.HasPrefix(rest, ")") {
		return false
	}
	if _, tail, ok := strings.Cut(rest, " - "); ok && strings.HasPrefix(rest, " @ ") {
		path, _, _ := strings.Cut(tail, " (")
		return m.add(h, rest[:len(rest)-len(tail)], path)
	}
	if m.lower[m.at:m.end] == "accessdeniedexception" {
		path, _, _ := strings.Cut(strings.TrimPrefix(rest, ": "), " -> ")
		return m.add(h, "", path)
	}
	if !strings.ContainsRune(":,", rune(rest[0])) && !strings.HasPrefix(rest, " (os error ") && !strings.HasPrefix(rest, " while ") {
		return false
	}
	found := false
	for _, q := range quoted(rest) {
		found = m.add(h, rest[:q.at], q.text) || found
	}
	return found
}

// ahead finds the path before the phrase:
//
//	cp: cannot create regular file '/etc/x': Read-only file system   coreutils, findutils
//	bash: line 1: /etc/x: Read-only file system                      shells, cat, tee, make
//	tar: /etc/x: Cannot open: Read-only file system                  tar
//	rename /a /b: read-only file system                              Go
//	java.io.FileNotFoundException: /etc/x (Permission denied)        Java
//	… of directory /var/lib/x failed - Setup (30: Read-only …)       apt
func (m message) ahead(h *hints) bool {
	head := m.text[:m.at]
	if q := quoted(head); len(q) > 0 {
		found := false
		for _, q := range q {
			found = m.add(h, head[:q.at], q.text) || found
		}
		return found
	}
	if i := strings.LastIndex(head, " ("); i >= 0 && strings.Trim(head[i+2:], "0123456789: ") == "" {
		head = head[:i]
		if i = strings.LastIndex(head, " - "); i >= 0 && strings.ContainsRune(head[:i], '/') {
			head = head[:i]
		}
	}
	parts := strings.Split(strings.TrimRight(head, ": ("), ": ")
	verbs := ""
	for n := len(parts) - 1; n >= 0 && n > len(parts)-4; n-- {
		verb, paths := bare(parts[n], n == len(parts)-1)
		verbs += " " + verb
		if n > 0 && strings.HasPrefix(parts[n-1], "exec") {
			verbs += " exec"
		}
		found := false
		for _, p := range paths {
			found = m.add(h, verbs, p) || found
		}
		if len(paths) > 0 {
			return found
		}
	}
	return false
}

// above finds a path in the lines above, for programs that print causes one by one:
//
//	error: failed to create directory `/etc/target`
//
//	Caused by:
//	  Read-only file system (os error 30)
func (m message) above(h *hints, before []byte) {
	if !strings.HasPrefix(m.text[m.end:], " (os error ") {
		return
	}
	lines := strings.Split(strings.TrimRight(string(withoutEscapes(before)), "\n"), "\n")
	for n := len(lines) - 1; n >= 0 && n > len(lines)-5; n-- {
		found := false
		for _, q := range quoted(lines[n]) {
			found = m.add(h, lines[n][:q.at], q.text) || found
		}
		if found {
			return
		}
	}
}

// add keeps a path with what the command wanted of it, as far as the words say.
func (m message) add(h *hints, words, path string) bool {
	path = strings.TrimSpace(path)
	if path == "" || strings.Contains(path, "://") || strings.Trim(path, ".…") == "" && path != "." && path != ".." {
		return false
	}
	n := Hint{Subject: path, Missing: m.class == missing, Busy: m.class == busy}
	words = asciiLower(words)
	switch {
	case strings.Contains(words, "dial unix"):
		n.Operations = []string{"connect"}
	case m.class == readOnly || m.class == busy:
		n.Operations = []string{"write"}
	case m.class == missing:
		n.Operations = []string{"read"}
	case hasAny(words, "exec", "spawn"):
		n.Operations = []string{"exec"}
	case hasAny(words, writeWords...):
		n.Operations = []string{"write"}
	case m.class == forbid:
		n.Operations = []string{"read", "write"}
	default:
		n.Operations = []string{"read"}
	}
	h.add(n)
	return true
}

// writeWords are verbs that need the right to write, as programs print them.
var writeWords = []string{
	"creat", "writ", "remov", "delet", "unlink", "mkdir", "rmdir", "touch", "renam", "mov", "lock", "chmod", "chown",
	"changing", "setting", "preserving", "mkstemp", "mktemp", "output", "link", "copyfile", "truncat", "make ", "mknod", "utime", "install",
}

func hasAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// bare finds paths without quotes in one part of a message, and the words before them.
// Only the last part may be a relative path: the first is the program's name.
func bare(part string, last bool) (verb string, paths []string) {
	for i := 0; i < len(part); i++ {
		if part[i] != '/' || i > 0 && !strings.ContainsRune(" ([=@<>", rune(part[i-1])) {
			continue
		}
		verb = part[:i]
		rest := strings.TrimSuffix(strings.TrimRight(part[i:], ")],"), " failed")
		two := asciiLower(verb)
		if j := strings.Index(rest, " /"); j > 0 && hasAny(two, "rename", "link", "move") {
			return verb, []string{rest[:j], rest[j+1:]}
		}
		return verb, []string{rest}
	}
	if !last {
		return part, nil
	}
	for _, v := range verbs {
		if strings.HasPrefix(asciiLower(part), v) {
			return part[:len(v)], []string{part[len(v):]}
		}
	}
	if strings.ContainsAny(part, " '\"`=;|&<>{}$*") || strings.Trim(asciiLower(part), "abcdefghijklmnopqrstuvwxyz") == "" && verbOnly[asciiLower(part)] {
		return part, nil
	}
	return "", []string{part}
}

// verbs begin a part whose rest is a path that may hold blanks.
var verbs = []string{
	"cannot create ", "can't create ", "can't open ", "cannot open output file ", "cannot open ", "cannot mkdir ", "could not lock config file ",
	"could not write config file ", "unable to create file ", "open ", "mkdir ", "remove ", "unlinkat ", "chmod ", "fork/exec ", "lstat ", "stat ",
}

// verbOnly are parts that say only what was tried.
var verbOnly = map[string]bool{"connect": true, "execvp": true, "execve": true, "exec": true, "open": true, "mkdir": true, "write": true, "bind": true}

// piece is a quoted text and where its quote begins.
type piece struct {
	text string
	at   int
}

// quoted finds texts in '…', "…", `…` and ‘…’. A quote opens after a blank or a bracket
// and closes before one, so that the apostrophe of can't opens nothing, and "it's" is
// whole.
func quoted(s string) []piece {
	var out []piece
	for i := 0; i < len(s); i++ {
		open, shut := "", ""
		switch {
		case strings.HasPrefix(s[i:], "‘"):
			open, shut = "‘", "’"
		case strings.ContainsRune("'\"`", rune(s[i])) && (i == 0 || strings.ContainsRune(" ([{=,:>", rune(s[i-1]))):
			open, shut = s[i:i+1], s[i:i+1]
		default:
			continue
		}
		text, size, ok := until(s[i+len(open):], shut)
		if !ok {
			continue
		}
		out = append(out, piece{text, i})
		i += len(open) + size - 1
	}
	return out
}

// until gives the text up to a closing quote, and how many bytes it took with it. An
// apostrophe among other quotes is written by coreutils as close, backslash, open.
func until(s, shut string) (text string, size int, ok bool) {
	for from := 0; ; {
		j := strings.Index(s[from:], shut)
		if j < 0 {
			return "", 0, false
		}
		j += from
		end := j + len(shut)
		if shut == "'" && strings.HasPrefix(s[end:], `\''`) {
			from = end + 3
			continue
		}
		if end == len(s) || strings.ContainsRune(" :,;.)]}>\t\\", rune(s[end])) {
			return strings.ReplaceAll(s[:j], `'\''`, "'"), end, true
		}
		from = end
	}
}
