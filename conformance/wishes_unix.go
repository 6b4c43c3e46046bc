//go:build unix

package conformance

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// mostWishes bounds what is tried, as a policy may have long lists.
const mostWishes = 2000

// wish is one thing to try inside: a file or folder that is there outside.
type wish struct {
	path     string
	shown    string // for people, without the account's name
	write    bool
	dir      bool
	sure     bool // the account may do it outside, also without a capability
	dev, ino uint64
}

func (w wish) operation() qsandbox.Operation {
	if w.write {
		return qsandbox.OpWrite
	}
	return qsandbox.OpRead
}

// wishes are what the policy speaks of: its own paths, the credentials that are there,
// the home, the workspace, and what no policy should have open. Of patterns it is files
// that they name; see named.
func (v *verifying) wishes(p policy.Policy, ws string, o *own) (out []wish) {
	home := v.h.HomeDir()
	paths := []string{filepath.Join(ws, "own.txt"), ws, home, "/etc", "/usr", "/etc/hostname", filepath.Join(home, ".bashrc"), filepath.Join(home, ".profile")}
	for _, list := range [][]string{p.Filesystem.DenyRead, p.Filesystem.DenyWrite, p.Filesystem.Readable, p.Filesystem.Writable} {
		for _, e := range list {
			if policy.HasMeta(e) {
				paths = o.pattern(paths, named(e, home, ws))
				continue
			}
			paths = append(paths, at(policy.Unescape(e), home, ws))
		}
	}
	for _, c := range policy.Credentials() {
		switch {
		case !c.For(v.h.GOOS):
		case c.Kind == "glob":
			paths = append(paths, named(c.Path, home, ws)...)
		default:
			paths = append(paths, at(c.Path, home, ws))
		}
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		for _, write := range []bool{false, true} {
			w, ok := look(path, write, v.h.User.UID)
			if !ok {
				o.untried++ // it is not there, or is neither a file nor a folder
				break
			}
			w.shown = short(path, home)
			if len(out) < mostWishes {
				out = append(out, w)
			}
		}
	}
	return out
}

// pattern takes the files of one pattern, or counts it.
func (o *own) pattern(paths, files []string) []string {
	if len(files) == 0 {
		o.untried++
	} else {
		o.patterns++
	}
	return append(paths, files...)
}

// at makes an entry of a policy a path.
func at(entry, home, ws string) string {
	switch {
	case entry == "~" || strings.HasPrefix(entry, "~/"):
		return filepath.Join(home, entry[1:])
	case filepath.IsAbs(entry):
		return filepath.Clean(entry)
	}
	return filepath.Join(ws, entry)
}

// short writes the home as people do.
func short(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home); ok && home != "/" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// look asks the host what is at a path. Nothing is opened.
func look(path string, write bool, uid int) (w wish, ok bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return w, false
	}
	st, known := info.Sys().(*syscall.Stat_t)
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !known {
		return w, false
	}
	return wish{path: path, write: write, dir: info.IsDir(), sure: mayAlone(real, info, write, uid), dev: uint64(st.Dev), ino: st.Ino}, true
}

// mayAlone tells whether an account may do it by the modes alone, without a capability
// and without a group: a command inside has none of root's.
func mayAlone(real string, info fs.FileInfo, write bool, uid int) bool {
	want := fs.FileMode(4)
	switch {
	case write && info.IsDir():
		want = 3
	case write:
		want = 2
	case info.IsDir():
		want = 5
	}
	if !grants(info, want, uid) {
		return false
	}
	for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
		up, err := os.Stat(dir)
		if err != nil || !grants(up, 1, uid) {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

func grants(info fs.FileInfo, want fs.FileMode, uid int) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	mode := info.Mode().Perm()
	if ok && int(st.Uid) == uid {
		mode >>= 6
	}
	return ok && mode&want == want
}
