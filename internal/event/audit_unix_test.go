//go:build unix

package event

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary plays the other processes that write to the same log.
func TestMain(m *testing.M) {
	if path := os.Getenv("EVENT_TEST_WRITER"); path != "" {
		l := &Log{path: path, size: 64 << 10, keep: 1000}
		for i := range 500 {
			if err := l.Write(sample(fmt.Sprintf("%d-%d", os.Getpid(), i))); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func sample(run string) Event {
	return Event{Version: 1, Time: time.Now(), Name: ExecuteStart, Run: run, Backend: "linux-native", Mode: "compat",
		Fields: map[string]string{"program": "make", "workspace": "/home/u/project"}}
}

// lines reads all files of a log.
func lines(t *testing.T, path string) []Event {
	t.Helper()
	files, _ := filepath.Glob(path + "*")
	var out []Event
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			var e Event
			if err := json.Unmarshal(s.Bytes(), &e); err != nil {
				t.Fatalf("%s: %q: %v", name, s.Text(), err)
			}
			out = append(out, e)
		}
	}
	return out
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	st, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Mode().Perm()
}

func TestAuditIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "qsandbox", "audit.jsonl")
	sink, err := AuditLog(path)
	if err != nil {
		t.Fatal(err)
	}
	sink(sample("a"))
	if m := mode(t, path); m != 0o600 {
		t.Errorf("file has mode %o", m)
	}
	if m := mode(t, filepath.Dir(path)); m != 0o700 {
		t.Errorf("directory has mode %o", m)
	}
	if got := lines(t, path); len(got) != 1 || got[0].Run != "a" || got[0].Fields["program"] != "make" {
		t.Errorf("%+v", got)
	}
	if first, second := Audit(path), Audit(path); first != second {
		t.Error("a log is opened twice in one process")
	}
}

// FS-10: what stands in the way is never followed, waited for or changed.
func TestAuditRefuses(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("keep"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(string) error{
		"link":     func(p string) error { return os.Symlink(target, p) },
		"dangling": func(p string) error { return os.Symlink(filepath.Join(dir, "none"), p) },
		"fifo":     func(p string) error { return unix.Mkfifo(p, 0o600) },
		"dir":      func(p string) error { return os.Mkdir(p, 0o700) },
		"socket":   func(p string) error { return unix.Mknod(p, unix.S_IFSOCK|0o600, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name+".jsonl")
			if err := make(path); err != nil {
				t.Skip(err)
			}
			if name == "fifo" { // with a reader the open succeeds
				r, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer unix.Close(r)
			}
			if _, err := AuditLog(path); err == nil {
				t.Error("it was opened")
			}
			if err := Audit(path).Write(sample("x")); err == nil {
				t.Error("it was written")
			}
		})
	}
	if data, _ := os.ReadFile(target); string(data) != "keep" {
		t.Errorf("the target of a link now holds %q", data)
	}
	if _, err := os.Lstat(filepath.Join(dir, "none")); err == nil {
		t.Error("a dangling link was followed")
	}
	// A FIFO that nobody reads does not block either.
	lonely := filepath.Join(dir, "lonely.jsonl")
	if err := unix.Mkfifo(lonely, 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() { done <- Audit(lonely).Write(sample("x")) }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("it was written")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the open blocks")
	}
}

// A file that others could read, or that is swapped for something else while it is open.
func TestAuditIsLookedAfter(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	l := Audit(path)
	if err := l.Write(sample("1")); err != nil {
		t.Fatal(err)
	}
	if m := mode(t, path); m != 0o600 {
		t.Errorf("file has mode %o", m)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Write(sample("2")); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, path); len(got) != 1 || got[0].Run != "2" {
		t.Errorf("after the file was removed: %+v", got)
	}
	other := filepath.Join(dir, "other")
	os.Remove(path)
	if err := os.Symlink(other, path); err != nil {
		t.Fatal(err)
	}
	if err := l.Write(sample("3")); err == nil {
		t.Error("a link that took the log's place was written to")
	}
	if _, err := os.Lstat(other); err == nil {
		t.Error("… and followed")
	}
}

func TestAuditRotates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := &Log{path: path, size: 4 << 10, keep: 3}
	for i := range 200 {
		if err := l.Write(sample(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(path + "*")
	if len(files) != 4 {
		t.Fatalf("%q", files)
	}
	for _, f := range files {
		if st, _ := os.Stat(f); st.Size() > 5<<10 || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %d bytes, %o", f, st.Size(), st.Mode().Perm())
		}
	}
	got := lines(t, path)
	if last := lines(t, path+"x"); len(last) != 0 || len(got) < 60 {
		t.Errorf("%d lines are left", len(got))
	}
}

// Several processes, and goroutines, at once: nothing is lost and no line is torn,
// while the log is set aside again and again.
func TestAuditManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "EVENT_TEST_WRITER="+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	l := &Log{path: path, size: 64 << 10, keep: 1000}
	for g := range 4 {
		all.Go(func() {
			for i := range 200 {
				if err := l.Write(sample(fmt.Sprintf("g%d-%d", g, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, e := range lines(t, path) {
		if seen[e.Run] {
			t.Errorf("%s is there twice", e.Run)
		}
		seen[e.Run] = true
	}
	if want := 4*500 + 4*200; len(seen) != want {
		t.Errorf("%d of %d events are there", len(seen), want)
	}
	if files, _ := filepath.Glob(path + "*"); len(files) < 4 {
		t.Errorf("it was not set aside: %q", files)
	}
}

// What comes from inside shows nothing on a terminal, and a line has an end (OBS-05).
func TestLinesAreEscapedAndBounded(t *testing.T) {
	e := sample("x")
	e.Fields = map[string]string{"path": "/ws/\x1b]0;t\a\n\u009b31m\u202e\x7f\xff\U000e0001<b>é中", "long": strings.Repeat("é", 1<<20)}
	b, err := appendLine(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 20<<10 || strings.Count(string(b), "\n") != 1 || strings.ContainsAny(string(b), "\x1b\a\u009b\u202e\x7f<\U000e0001") {
		t.Errorf("%d bytes: %.300q", len(b), b)
	}
	var got Event
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if want := "/ws/\x1b]0;t\a\n\u009b31m\u202e\x7f\ufffd\U000e0001<b>é中"; got.Fields["path"] != want {
		t.Errorf("got %q, want %q", got.Fields["path"], want)
	}
	if len(e.Fields["long"]) != 2<<20 {
		t.Error("the caller's map was changed")
	}
}

func BenchmarkWrite(b *testing.B) {
	l := &Log{path: filepath.Join(b.TempDir(), "audit.jsonl"), size: DefaultSize, keep: DefaultKeep}
	e := sample("0123456789abcdef")
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Write(e); err != nil {
			b.Fatal(err)
		}
	}
}

// The first event of a process.
func BenchmarkFirstWrite(b *testing.B) {
	path := filepath.Join(b.TempDir(), "audit.jsonl")
	e := sample("0123456789abcdef")
	for b.Loop() {
		l := &Log{path: path, size: DefaultSize, keep: DefaultKeep}
		if err := l.Write(e); err != nil {
			b.Fatal(err)
		}
		l.close()
	}
}
