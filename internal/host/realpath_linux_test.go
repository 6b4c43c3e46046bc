package host

import (
	"os"
	"path/filepath"
	"testing"
)

// The short way and the long way give the same, or the same kind of error.
func TestRealPathAsEvalSymlinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"a/b", "closed/in"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a/file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"l": "a", "a/up": "../a/b", "dead": "nothing", "loop": "loop", "abs": dir + "/a/b"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{
		"", "a", "a/", "a/b", "a//b/.", "a/b/..", "a/../a/file", "a/file", "a/file/", "a/file/x", "missing", "a/missing/x",
		"l", "l/b", "l/..", "l/up", "a/up/..", "dead", "loop", "abs", "abs/..", "closed/in",
	} {
		path := dir + "/" + p
		got, err := realPath(path)
		want, werr := filepath.EvalSymlinks(path)
		if got != want || (err == nil) != (werr == nil) || os.IsNotExist(err) != os.IsNotExist(werr) {
			t.Errorf("%q: %q, %v; want %q, %v", p, got, err, want, werr)
		}
	}
	for _, p := range []string{"/", "/proc/self", "/proc/self/exe", "/proc/self/cwd", "..", "."} {
		got, err := realPath(p)
		want, werr := filepath.EvalSymlinks(p)
		if got != want || (err == nil) != (werr == nil) {
			t.Errorf("%q: %q, %v; want %q, %v", p, got, err, want, werr)
		}
	}
}
