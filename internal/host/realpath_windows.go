package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// errRemote is why a path is not followed.
var errRemote = errors.New("it leads to another machine or a device")

// maxLinks is how many links a path may have, as elsewhere.
const maxLinks = 255

// realPath follows links and junctions, which filepath.EvalSymlinks leaves as they are.
//
// SECURITY: never to another machine. A workspace can name \\server\share in a link or
// in git's files, and the mere look would send that server this user's credentials.
func realPath(path string) (string, error) {
	fail := func(err error) (string, error) { return "", &fs.PathError{Op: "realpath", Path: path, Err: err} }
	p, ok := onDrive(path)
	if !ok {
		return fail(errRemote)
	}
	done, rest := p[:3], strings.Split(p[3:], `\`)
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == "" {
			continue
		}
		next := strings.TrimSuffix(done, `\`) + `\` + part
		fi, err := os.Lstat(next)
		if err != nil {
			return "", err
		}
		if fi.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
			done = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return fail(errors.New("it has a reparse point that is no link"))
		}
		if links++; links > maxLinks {
			return fail(errors.New("too many links"))
		}
		if done, rest, ok = follow(done, target, rest); !ok {
			return fail(errRemote)
		}
	}
	// No link is left; this gives the names as they are on disk.
	return filepath.EvalSymlinks(done)
}

// follow goes on at a link's target.
func follow(dir, target string, rest []string) (done string, left []string, ok bool) {
	if !filepath.IsAbs(target) && !strings.HasPrefix(target, `\`) && !strings.HasPrefix(target, "/") {
		target = strings.TrimSuffix(dir, `\`) + `\` + target
	} else if len(target) > 1 && (target[0] == '\\' || target[0] == '/') && target[1] != '\\' && target[1] != '/' && target[1] != '?' {
		target = dir[:2] + target // from the root of the same drive
	}
	p, ok := onDrive(target)
	if !ok {
		return "", nil, false
	}
	return p[:3], append(strings.Split(p[3:], `\`), rest...), true
}

// onDrive gives a clean absolute path on a drive, or false.
func onDrive(path string) (string, bool) {
	p := strings.ReplaceAll(path, "/", `\`)
	for _, head := range []string{`\\?\`, `\??\`} {
		p = strings.TrimPrefix(p, head)
	}
	if len(p) < 3 || p[1] != ':' || p[2] != '\\' {
		return "", false
	}
	return filepath.Clean(p), true
}
