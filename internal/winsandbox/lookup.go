package winsandbox

import (
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// LookUp finds the file of a program. A name with a separator is taken from the
// directory to start in; any other from the absolute directories of PATH, with the
// endings of PATHEXT.
//
// SECURITY: unlike CreateProcess it does not look in the directory to start in, nor in
// that of the helper: a file of the workspace must not pass for a system program.
func LookUp(name, cwd string, env []string, isFile func(string) bool) (string, error) {
	if strings.IndexByte(name, 0) >= 0 {
		return "", fault.New(fault.UsageInvalid, "run", name, "a name cannot contain a NUL byte")
	}
	plain := strings.ReplaceAll(name, "/", `\`)
	if strings.ContainsAny(plain, `\:`) {
		p := plain
		if !hasDrive(plain) {
			if strings.HasPrefix(plain, `\`) {
				return "", fault.New(fault.CommandNotFound, "execute", name, "name a program by a path with a drive letter, or by a path from the directory to start in")
			}
			p = strings.TrimSuffix(cwd, `\`) + `\` + plain
		}
		p, err := CleanPath("program", p)
		if err != nil {
			return "", err
		}
		if f, ok := withEnding(p, env, isFile); ok {
			return f, nil
		}
		return "", fault.New(fault.CommandNotFound, "execute", name, "there is no such file")
	}
	for _, dir := range strings.Split(value(env, "PATH"), ";") {
		dir = strings.Trim(dir, `" `)
		if clean, err := CleanPath("PATH", dir); err == nil && plain != "" {
			if f, ok := withEnding(strings.TrimSuffix(clean, `\`)+`\`+plain, env, isFile); ok {
				return f, nil
			}
		}
	}
	return "", fault.New(fault.CommandNotFound, "execute", name, "not found in PATH; the directory to start in is not searched, write .\\"+name+" for a program there")
}

// withEnding tries a path as it is when it has an ending, then with those of PATHEXT.
//
// SECURITY: each candidate must be spelt as it is on disk. Windows drops a dot or space at
// the end: "x.bat " would start a batch file that CommandLine does not take for one
// (CVE-2024-43402), and "nul.exe" is a device that is always there.
func withEnding(p string, env []string, isFile func(string) bool) (string, bool) {
	there := func(p string) bool {
		clean, err := CleanPath("program", p)
		return err == nil && clean == p && isFile(p)
	}
	if strings.Contains(p[strings.LastIndexByte(p, '\\'):], ".") && there(p) {
		return p, true
	}
	ext := value(env, "PATHEXT")
	if ext == "" {
		ext = ".COM;.EXE;.BAT;.CMD"
	}
	for _, e := range strings.Split(ext, ";") {
		if strings.HasPrefix(e, ".") && there(p+fold(e)) {
			return p + fold(e), true
		}
	}
	return "", false
}

func value(env []string, key string) string {
	for _, kv := range env {
		if k, v, _ := strings.Cut(kv, "="); strings.EqualFold(k, key) {
			return v
		}
	}
	return ""
}
