//go:build linux

package protect

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// otherFS gives a folder on another file system than dir, or skips.
func otherFS(t *testing.T, dir string) string {
	shm, err := os.MkdirTemp("/dev/shm", "qsandbox-protect-")
	if err != nil {
		t.Skip("no second file system: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(shm) })
	var a, b syscall.Stat_t
	if syscall.Stat(dir, &a) != nil || syscall.Stat(shm, &b) != nil || a.Dev == b.Dev {
		t.Skip("/dev/shm is the same file system")
	}
	return shm
}

// hostile makes entries that a careless mover would trip over.
var hostile = map[string]func(t *testing.T, path string){
	"file":     func(t *testing.T, p string) { must(t, os.WriteFile(p, []byte("x"), 0o755)) },
	"mode 0":   func(t *testing.T, p string) { must(t, os.WriteFile(p, []byte("x"), 0)) },
	"pipe":     func(t *testing.T, p string) { must(t, syscall.Mkfifo(p, 0o644)) },
	"link":     func(t *testing.T, p string) { must(t, os.Symlink("/etc/passwd", p)) },
	"dangling": func(t *testing.T, p string) { must(t, os.Symlink("nowhere", p)) },
	"folder": func(t *testing.T, p string) {
		must(t, os.MkdirAll(p+"/a/b", 0o755))
		must(t, os.WriteFile(p+"/a/b/c", []byte("x"), 0o644))
		must(t, os.Symlink("/etc", p+"/a/etc"))
		must(t, syscall.Mkfifo(p+"/pipe", 0o644))
	},
	"folder of mode 0": func(t *testing.T, p string) {
		must(t, os.MkdirAll(p+"/a", 0o755))
		must(t, os.Chmod(p, 0))
	},
	"deep": func(t *testing.T, p string) {
		must(t, os.Mkdir(p, 0o755))
		fd, err := syscall.Open(p, syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
		must(t, err)
		for range 300 {
			name := strings.Repeat("d", 200)
			must(t, syscall.Mkdirat(fd, name, 0o755))
			next, err := syscall.Openat(fd, name, syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
			must(t, err)
			syscall.Close(fd)
			fd = next
		}
		syscall.Close(fd)
	},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func kind(path string) string {
	fi, err := os.Lstat(path)
	if err != nil {
		return "gone"
	}
	return fi.Mode().Type().String()
}

func TestQuarantineAndRestore(t *testing.T) {
	for name, make := range hostile {
		for _, far := range []bool{false, true} {
			label := name
			if far {
				label += ", other file system"
			}
			t.Run(label, func(t *testing.T) {
				base := t.TempDir()
				state := filepath.Join(base, "state")
				if far {
					state = filepath.Join(otherFS(t, base), "state")
				}
				from := filepath.Join(base, "ws", "it's -n\nodd\xff")
				must(t, os.Mkdir(filepath.Dir(from), 0o755))
				make(t, from)
				was := kind(from)
				m, err := Quarantine(Violation{Path: from, Name: "x"}, state, "run-1")
				must(t, err)
				if kind(from) != "gone" || kind(m.To) != was {
					t.Fatalf("not moved: %s there, %s at %q", kind(from), kind(m.To), m.To)
				}
				out, err := exec.Command("sh", "-c", m.Restore).CombinedOutput()
				if err != nil || kind(from) != was {
					t.Errorf("restore with %s: %v %s: %s", m.Restore, err, out, kind(from))
				}
				if was == fs.ModeDir.String() {
					os.Chmod(from, 0o755) // for the cleaning up
				}
				if left, _ := os.ReadDir(filepath.Dir(from)); len(left) != 1 {
					t.Errorf("left in the workspace: %v", left)
				}
			})
		}
	}
}

// TestQuarantineFollowsNoLink swaps a folder on the way for a link.
func TestQuarantineFollowsNoLink(t *testing.T) {
	base := t.TempDir()
	must(t, os.MkdirAll(base+"/out", 0o755))
	must(t, os.WriteFile(base+"/out/config", []byte("keep"), 0o644))
	must(t, os.Mkdir(base+"/ws", 0o755))
	must(t, os.Symlink("../out", base+"/ws/sub"))
	if m, err := Quarantine(Violation{Path: base + "/ws/sub/config"}, base+"/state", "r"); err == nil {
		t.Errorf("a file outside was moved: %+v", m)
	}
	if _, err := Quarantine(Violation{Path: base + "/ws/none"}, base+"/state", "r"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is gone: %v", err)
	}
	if left, _ := os.ReadDir(base + "/state/quarantine/r"); len(left) != 0 {
		t.Errorf("a failed move left %v", left)
	}
	for _, id := range []string{"", "../x", ".x", "a/b", strings.Repeat("a", 200)} {
		if _, err := Quarantine(Violation{Path: base + "/out/config"}, base+"/state", id); err == nil {
			t.Errorf("run id %q was taken", id)
		}
	}
	must(t, os.Mkdir(base+"/open", 0o777))
	must(t, os.Chmod(base+"/open", 0o777))
	must(t, os.MkdirAll(base+"/open/quarantine", 0o777))
	must(t, os.Mkdir(base+"/open/quarantine/r", 0o777))
	must(t, os.Chmod(base+"/open/quarantine/r", 0o777))
	if _, err := Quarantine(Violation{Path: base + "/out/config"}, base+"/open", "r"); err == nil {
		t.Error("a state directory that anybody can write was used")
	}
}

// TestQuarantineIsBounded keeps what is too large to be copied, under a harmless name.
func TestQuarantineIsBounded(t *testing.T) {
	base := t.TempDir()
	state := otherFS(t, base)
	from := base + "/.vscode"
	must(t, os.Mkdir(from, 0o755))
	f, err := os.Create(from + "/big")
	must(t, err)
	must(t, f.Truncate(copyBytes+1))
	f.Close()
	m, err := Quarantine(Violation{Path: from}, state, "r")
	must(t, err)
	if !m.InPlace || kind(from) != "gone" || filepath.Dir(m.To) != base {
		t.Errorf("%+v", m)
	}
	if left, _ := os.ReadDir(state + "/quarantine/r"); len(left) != 1 {
		t.Errorf("the half copy was left: %v", left)
	}
	out, err := exec.Command("sh", "-c", m.Restore).CombinedOutput()
	if err != nil || kind(from+"/big") == "gone" {
		t.Errorf("%s: %v %s", m.Restore, err, out)
	}
}

// TestRestoreQuotesAnyName runs the command with each shell that is there.
func TestRestoreQuotesAnyName(t *testing.T) {
	var shells [][]string
	for _, s := range [][]string{{"dash"}, {"bash"}, {"busybox", "sh"}, {"zsh"}, {"ksh"}} {
		if _, err := exec.LookPath(s[0]); err == nil {
			shells = append(shells, s)
		}
	}
	if len(shells) == 0 {
		t.Skip("no shell")
	}
	base := t.TempDir()
	to := filepath.Join(base, "to")
	odd := "'\"\\$`%-*?[]~!#&;|<>(){} \n\t\r\x1b\x07\x7f\xff\xc3é0c\u202e"
	seed := rand.Uint64()
	t.Log("seed ", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 120 {
		name := "\n"
		for range r.IntN(20) {
			if i%2 == 0 {
				name += string(byte(1 + r.IntN(255)))
			} else {
				name += odd[r.IntN(len(odd)):][:1]
			}
		}
		if i%3 == 0 {
			name = name[1:] + "-é" // often a name that can be shown
		}
		name = strings.ReplaceAll(name, "/", "_")
		from := filepath.Join(base, name)
		sh := shells[r.IntN(len(shells))]
		must(t, os.WriteFile(to, nil, 0o644))
		cmd := restoreCommand(to, from)
		if strings.ContainsAny(cmd, "\x1b\x07\x7f\n\r") {
			t.Fatalf("control characters in %q", cmd)
		}
		out, err := exec.Command(sh[0], append(sh[1:], "-c", cmd)...).CombinedOutput()
		if err != nil || kind(from) == "gone" {
			t.Fatalf("%v: %s: %v %s", sh, cmd, err, out)
		}
		os.Remove(from)
	}
}
