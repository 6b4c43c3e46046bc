package host

import (
	"cmp"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// Our listing says what package os says, of every type and for many batches.
func TestListingIsThatOfOS(t *testing.T) {
	dir := t.TempDir()
	for i := range 700 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%0*d-\xff", 1+i%200, i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Mkdir(filepath.Join(dir, "dir"), 0o700)
	_ = os.Symlink("nowhere", filepath.Join(dir, "link"))
	_ = unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600)
	l, err := net.Listen("unix", filepath.Join(dir, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, d := range []string{dir, "/dev", "/proc/self", "/", t.TempDir()} {
		want, _ := os.ReadDir(d)
		got, err := readDir(d)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
		if len(got) != len(want) {
			t.Fatalf("%s: %d entries, os says %d", d, len(got), len(want))
		}
		for i := range want {
			if got[i].Name() != want[i].Name() || got[i].Type() != want[i].Type() || got[i].IsDir() != want[i].IsDir() {
				t.Errorf("%s: %q %v, os says %q %v", d, got[i].Name(), got[i].Type(), want[i].Name(), want[i].Type())
			}
		}
		list, err := names(d)
		if err != nil || len(list) != len(want) {
			t.Errorf("%s: %d names, os says %d (%v)", d, len(list), len(want), err)
		}
	}
	info, err := must(readDir(dir))[0].Info()
	if err != nil || info.Name() == "" {
		t.Error(info, err)
	}
}

func TestListingOfWhatIsNoDirectory(t *testing.T) {
	dir := t.TempDir()
	_ = unix.Mkfifo(dir+"/fifo", 0o600)
	for _, p := range []string{dir + "/fifo", dir + "/missing", "/dev/null"} {
		if _, err := readDir(p); err == nil {
			t.Errorf("%s was listed", p)
		}
		if _, err := names(p); err == nil {
			t.Errorf("%s was listed", p)
		}
	}
}

func must(list []fs.DirEntry, err error) []fs.DirEntry {
	if err != nil {
		panic(err)
	}
	return list
}
