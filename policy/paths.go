package policy

import (
	"path"
	"strings"
)

// pathForm is where a path in a policy starts from.
type pathForm uint8

const (
	relativePath pathForm = iota // from the workspace
	homePath                     // from the home directory: ~ or ~/…
	absolutePath                 // /… or C:/…
)

func formOf(p string) pathForm {
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		return homePath
	case isAbs(p):
		return absolutePath
	}
	return relativePath
}

// isAbs reports whether a slash path is absolute on any system. "C:x" counts, as on
// Windows it leaves the workspace.
func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) >= 2 && p[1] == ':' && isLetter(p[0])
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// tidy removes what does not change the meaning of a path or pattern: "./", "//" and
// a slash at the end. It is not path.Clean, which would also resolve "..".
func tidy(p string) string {
	rooted := strings.HasPrefix(p, "/")
	parts := make([]string, 0, 8)
	for s := range strings.SplitSeq(p, "/") {
		if s != "" && s != "." {
			parts = append(parts, s)
		}
	}
	out := strings.Join(parts, "/")
	if rooted {
		return "/" + out
	}
	return out
}

// inside reports whether p is dir or below it; both are tidy.
func inside(p, dir string) bool {
	return p == dir || dir == "/" && strings.HasPrefix(p, "/") || strings.HasPrefix(p, dir+"/")
}

// Anchor makes an entry of a policy absolute: "~" and "~/…" from home, a relative
// one from workspace, both of which are plain absolute slash paths and are escaped.
// "./" and leading "../" are resolved as text. The result is a pattern for Compile.
func Anchor(entry, workspace, home string) string {
	base, rest := workspace, entry
	switch formOf(entry) {
	case absolutePath:
		return tidy(entry)
	case homePath:
		base, rest = home, strings.TrimPrefix(entry[1:], "/")
	}
	rest = tidy(rest)
	for rest == ".." || strings.HasPrefix(rest, "../") {
		base, rest = path.Dir(base), strings.TrimPrefix(rest[2:], "/")
	}
	return tidy(EscapeLiteral(base) + "/" + rest)
}

// maxPath is far above what any system can open.
const maxPath = 32 << 10

// checkPathEntry accepts a path or glob of the filesystem part.
func checkPathEntry(p string) (string, *problem) {
	if bad := checkPathText(p); bad != nil {
		return p, bad
	}
	if !strings.ContainsAny(p, `*?[{\`) {
		return p, nil // nothing to compile, which is the usual case
	}
	if _, err := Compile(p); err != nil {
		return p, badf("%s", globMessage(err)).hinted(`write \ before a character that means itself: \[ \] \{ \} \* \? \\`)
	}
	return p, nil
}

func checkPathText(p string) *problem {
	switch {
	case p == "":
		return badf("the path is empty").hinted(`write "." for the workspace`)
	case strings.ContainsRune(p, 0):
		return badf("the path holds a NUL byte")
	case len(p) > maxPath:
		return badf("the path is longer than %d bytes", maxPath)
	case p[0] == '~' && p != "~" && p[1] != '/':
		return badf("only ~/ is known, not the home directory of another user").hinted(`write an absolute path, or "./` + p + `" for a file of that name in the workspace`)
	case len(p) >= 2 && p[1] == ':' && isLetter(p[0]) && (len(p) == 2 || p[2] != '/'):
		return badf("a drive letter must be followed by a slash").hinted(`write "C:/folder" with forward slashes, or "./` + p + `"`)
	}
	return checkDots(p)
}

// checkDots accepts ".." only in front of a relative path: elsewhere its meaning
// would depend on links, and a rule would name another place than it seems to.
func checkDots(p string) *problem {
	rest := p
	if formOf(p) == relativePath {
		for {
			cut, ok := strings.CutPrefix(rest, "./")
			if !ok {
				cut, ok = strings.CutPrefix(rest, "../")
			}
			if !ok {
				break
			}
			rest = strings.TrimLeft(cut, "/")
		}
		if rest == ".." {
			return nil
		}
	}
	if climbs(rest) {
		return badf(`".." is only allowed at the start of a relative path`).hinted("write the path that is meant")
	}
	return nil
}

// checkLiteralPath accepts an absolute path, or one in the home directory, without wildcards.
func checkLiteralPath(p string) (string, *problem) {
	if bad := checkPathText(p); bad != nil {
		return p, bad
	}
	if formOf(p) == relativePath {
		return p, badf("the path is relative").hinted("write an absolute path, or one that starts with ~/")
	}
	if HasMeta(p) {
		return p, badf("wildcards are not allowed here").hinted("list each path")
	}
	return p, nil
}

// checkWorkspace accepts any path; it is taken as it is, without wildcards. The empty
// string is what a Policy has that nobody filled in.
func checkWorkspace(p string) (string, *problem) {
	if p == "" {
		return ".", nil
	}
	if strings.ContainsRune(p, 0) {
		return p, badf("the path holds a NUL byte")
	}
	return p, nil
}
