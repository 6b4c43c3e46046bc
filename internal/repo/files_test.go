package repo

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/qiming-sandbox/qsandbox"
)

// skipped are folders that are no part of the repository's text.
var skipped = []string{".git", "bin", "out", "testdata", "node_modules"}

// files gives the slash paths of all files with one of the endings, from the root.
func files(t testing.TB, endings ...string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		rel = filepath.ToSlash(rel)
		if e.IsDir() {
			if slices.Contains(skipped, e.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() {
			return nil
		}
		for _, end := range endings {
			if strings.HasSuffix(rel, end) {
				out = append(out, rel)
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// read gives a file's text. One that is gone since it was listed is empty: several
// people may be at work.
func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		if os.IsNotExist(err) {
			return ""
		}
		t.Fatal(err)
	}
	return string(data)
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil
}

// sources are the Go files that are part of a program or of the library.
func sources(t testing.TB) []string {
	return slices.DeleteFunc(files(t, ".go"), func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}

// packageOf gives the folder of a file, "." for the root.
func packageOf(file string) string { return path.Dir(file) }
