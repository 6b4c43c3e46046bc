package winsandbox

import (
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// CleanPath takes an absolute path with a drive letter and gives it in one spelling:
// backslashes, no "." or "..", upper-case drive, no \\?\ in front. It looks at no disk.
//
// SECURITY: what Windows would read as something else than it says is refused: network
// paths, devices, streams (a:b), names that end with a dot or a space, and the names
// of DOS devices ("Naming Files, Paths, and Namespaces", Microsoft Learn).
func CleanPath(field, p string) (string, error) {
	bad := func(hint string) (string, error) { return "", fault.New(fault.PathInvalid, "use "+field, p, hint) }
	s := strings.ReplaceAll(p, "/", `\`)
	if rest, ok := strings.CutPrefix(s, `\\?\`); ok && hasDrive(rest) {
		s = rest
	}
	switch {
	case p == "":
		return bad("a path cannot be empty")
	case strings.IndexByte(p, 0) >= 0:
		return bad("a path cannot contain a NUL byte")
	case strings.HasPrefix(s, `\\`), strings.HasPrefix(s, `\??\`):
		return bad("network and device paths cannot be used; name a directory on a local drive")
	case !hasDrive(s) || len(s) < 3 || s[2] != '\\':
		return bad(`name an absolute path with a drive letter, such as C:\work`)
	}
	var parts []string
	for _, part := range strings.Split(s[3:], `\`) {
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			if len(parts) > 0 {
				parts = parts[:len(parts)-1]
			}
			continue
		case strings.ContainsAny(part, `:*?"<>|`):
			return bad("a name cannot contain any of : * ? \" < > | (a stream is not a file of its own)")
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
			return bad("Windows drops a dot or space at the end of a name; write the name as it is on disk")
		case dosDevice(part):
			return bad("the name is that of a device")
		}
		parts = append(parts, part)
	}
	return strings.ToUpper(s[:1]) + `:\` + strings.Join(parts, `\`), nil
}

func hasDrive(s string) bool {
	return len(s) >= 2 && s[1] == ':' && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
}

// dosDevice tells whether a name opens a device, with or without an extension.
func dosDevice(name string) bool {
	stem, _, _ := strings.Cut(fold(name), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	if n := len(stem); n == 4 || n == 5 {
		digit := stem[3:]
		return (stem[:3] == "com" || stem[:3] == "lpt") && (len(digit) == 1 && digit[0] >= '0' && digit[0] <= '9' || digit == "¹" || digit == "²" || digit == "³")
	}
	return false
}

// fold makes ASCII letters lower-case. Other letters keep their case: NTFS has a table
// of its own, and to take two names for one would open a place that nobody named.
func fold(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// Within tells whether a clean path is root or lies below it.
func Within(root, p string) bool {
	r, q := strings.TrimSuffix(fold(root), `\`), strings.TrimSuffix(fold(p), `\`)
	return q == r || strings.HasPrefix(q, r+`\`)
}

// Dir gives the directory of a clean path; a drive root is its own.
func Dir(p string) string {
	i := strings.LastIndexByte(p, '\\')
	if i <= 2 {
		return p[:min(3, len(p))]
	}
	return p[:i]
}

// Places are the directories of this user that no policy opens.
type Places struct {
	Home, AppData, LocalAppData, Windows, ProgramData string
	Programs                                          []string // Program Files
	State                                             string   // our own records
}

// CheckRoot refuses a writable root that would open more than anybody means (WIN-05,
// FS-09). p is clean.
func CheckRoot(field, p string, at Places) error {
	bad := func(hint string) error {
		return fault.New(fault.PathInvalid, "allow writing by "+field, p, hint)
	}
	if len(p) == 3 {
		return bad("a whole drive would be writable; name a directory on it")
	}
	for _, w := range append([]string{at.Windows, at.ProgramData, at.Home, at.AppData, at.LocalAppData, at.State}, at.Programs...) {
		if w != "" && Within(p, w) {
			return bad("it holds " + w + ", which programs start from or keep settings in; name a directory below")
		}
	}
	inside := append([]string{at.Windows, at.AppData, at.State}, at.Programs...)
	if at.ProgramData != "" {
		inside = append(inside, at.ProgramData+`\Microsoft`) // the Start menu of all users, with what starts when they sign in
	}
	for _, w := range inside {
		if w != "" && Within(w, p) {
			return bad("it lies in " + w + ", from which programs are started or set up")
		}
	}
	if w := at.LocalAppData; w != "" && Within(w, p) && (!Within(w+`\Temp`, p) || len(p) == len(w)+len(`\Temp`)) {
		return bad("it lies in " + w + ", where programs are kept; a directory below Temp can be used")
	}
	return nil
}

// CheckCwd: the directory to start in lies in a writable root, and grants nothing
// itself (FS-05). Without roots (read-only) any local directory will do.
func CheckCwd(cwd string, roots []string) error {
	if len(roots) == 0 {
		return nil
	}
	for _, r := range roots {
		if Within(r, cwd) {
			return nil
		}
	}
	return fault.New(fault.PathOutsideWorkspace, "use --cwd", cwd,
		"it lies outside the writable roots "+strings.Join(roots, ", ")+"; the directory to start in opens nothing by itself")
}
