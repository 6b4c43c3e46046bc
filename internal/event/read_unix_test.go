//go:build unix

package event

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// drain reads what is there now.
func drain(t *testing.T, r *Reader) (runs []string) {
	t.Helper()
	for {
		e, err := r.Next()
		if err == io.EOF {
			return runs
		}
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, e.Run)
	}
}

// Every line is read once and in order, while the log is written and set aside, and by a
// reader that goes on from a position.
func TestReaderMissesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := &Log{path: path, size: 2 << 10, keep: 1000}
	follower, err := Read(path, Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Close()
	var at Position
	var followed, resumed, want []string
	for i := range 300 {
		run := fmt.Sprint(i)
		want = append(want, run)
		if err := l.Write(sample(run)); err != nil {
			t.Fatal(err)
		}
		if i%7 == 0 {
			followed = append(followed, drain(t, follower)...)
		}
		if i%31 == 0 || i == 299 {
			r, err := Read(path, at)
			if err != nil || r.Lost() {
				t.Fatal(err, r.Lost())
			}
			resumed = append(resumed, drain(t, r)...)
			at = r.Position()
			r.Close()
		}
	}
	followed = append(followed, drain(t, follower)...)
	if !slices.Equal(followed, want) {
		t.Errorf("followed %q", followed)
	}
	if !slices.Equal(resumed, want) {
		t.Errorf("resumed %q", resumed)
	}
	if files, _ := filepath.Glob(path + "*"); len(files) < 10 {
		t.Errorf("it was not set aside: %q", files)
	}
}

// A position whose file is gone is said to be lost; what is there is read.
func TestReaderTellsALoss(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := &Log{path: path, size: 1 << 10, keep: 1}
	if err := l.Write(sample("first")); err != nil {
		t.Fatal(err)
	}
	r, _ := Read(path, Position{})
	drain(t, r)
	at := r.Position()
	r.Close()
	for i := range 100 {
		if err := l.Write(sample(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Read(path, at)
	if err != nil || !r.Lost() {
		t.Fatal(err, "no loss")
	}
	defer r.Close()
	if got := drain(t, r); len(got) == 0 || got[len(got)-1] != "99" {
		t.Errorf("%q", got)
	}
}

// Torn, overlong and foreign lines are skipped; what is no file is not opened.
func TestReaderStandsAnything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	good, _ := Line(sample("good"))
	text := `{"version":1,"event":"exec` + "\n" + good + strings.Repeat("x", 3*maxLine) + "\n" + good + "\x00\xff\n[]\n" + good + good[:20]
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Read(path, Position{})
	if err != nil {
		t.Fatal(err)
	}
	if got := drain(t, r); len(got) != 3 {
		t.Errorf("%q", got)
	}
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	fmt.Fprint(f, good[20:]) // the rest of the last line
	f.Close()
	if got := drain(t, r); len(got) != 1 {
		t.Errorf("the rest: %q", got)
	}
	r.Close()
	other := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(other, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Read(other, Position{}); err == nil {
		t.Error("a FIFO was opened")
	}
	if err := os.Symlink(path, other+".link"); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(other+".link", Position{}); err == nil {
		t.Error("a link was followed")
	}
}
