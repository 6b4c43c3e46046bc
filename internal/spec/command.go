package spec

import (
	"path/filepath"
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// command finds the program to run, as the command's own PATH has it.
func (b *binder) command() error {
	argv := b.cmd.Argv
	if len(argv) == 0 && b.cmd.Ask {
		return nil
	}
	if len(argv) == 0 || argv[0] == "" {
		return fault.New(fault.UsageInvalid, "run", "", "no command was given")
	}
	for _, a := range argv {
		if strings.IndexByte(a, 0) >= 0 {
			return fault.New(fault.UsageInvalid, "run", argv[0], "an argument cannot contain a NUL byte")
		}
	}
	b.s.Argv = argv
	exe, err := b.lookup(argv[0])
	if err != nil {
		return err
	}
	b.s.Exe = exe
	return nil
}

func (b *binder) lookup(name string) (string, error) {
	if strings.ContainsRune(name, '/') || b.h.GOOS == "windows" && strings.ContainsRune(name, '\\') {
		p := name
		if !filepath.IsAbs(p) {
			p = filepath.Join(b.s.Cwd, p)
		}
		switch p, a := b.spelled(p); a {
		case yes:
			return p, nil
		case no:
			return "", fault.New(fault.CommandNotExecutable, "execute", name, "it is there but cannot be executed: a directory, not an executable file, or hidden by the policy")
		}
		return "", fault.New(fault.CommandNotFound, "execute", name, "there is no such file inside the sandbox")
	}
	found := missing
	for _, dir := range filepath.SplitList(b.lookupEnv("PATH")) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(b.s.Cwd, dir)
		}
		switch p, a := b.spelled(filepath.Join(dir, name)); a {
		case yes:
			return p, nil
		case no:
			found = no
		}
	}
	if found == no {
		return "", fault.New(fault.CommandNotExecutable, "execute", name, "a file of that name in PATH cannot be executed")
	}
	return "", fault.New(fault.CommandNotFound, "execute", name, "not found in the PATH of the sandbox")
}

// spelled asks for a path and, on Windows, for the path with each ending of PATHEXT.
func (b *binder) spelled(p string) (string, answer) {
	best := b.executable(p)
	if b.h.GOOS != "windows" || best == yes {
		return p, best
	}
	list := b.lookupEnv("PATHEXT")
	if list == "" {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	for _, ext := range strings.Split(list, ";") {
		if a := b.executable(p + strings.ToLower(ext)); a == yes {
			return p + strings.ToLower(ext), yes
		} else if a == no {
			best = no
		}
	}
	return p, best
}

// lookupEnv gives a variable of the command; on Windows letter case does not count.
func (b *binder) lookupEnv(key string) string {
	for _, kv := range b.s.Env {
		k, v, _ := strings.Cut(kv, "=")
		if k == key || b.h.GOOS == "windows" && strings.EqualFold(k, key) {
			return v
		}
	}
	return ""
}

type answer uint8

const (
	missing answer = iota
	no
	yes
)

// executable tells whether the command could execute a path: it is there for
// the host, the policy shows it, and a mode bit is set. On Windows a missing
// extension is left to the helper.
func (b *binder) executable(p string) answer {
	real, isMissing, err := realPath(b.h, p)
	if err != nil || isMissing {
		return missing
	}
	st, err := b.h.Lstat(real)
	if err != nil {
		return missing
	}
	if v := Decide(b.s, Query{Op: OpRead, Path: real}); !v.Allowed && b.h.GOOS != "windows" { // there nothing keeps it from being started (FS-03)
		if v.Absent {
			return missing
		}
		return no
	}
	if st.IsDir() || b.h.GOOS != "windows" && st.Mode.Perm()&0o111 == 0 {
		return no
	}
	return yes
}
