package store

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// The test binary plays the program that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("STORE_TEST_WRITER"); path != "" {
		writer(path, os.Getenv("STORE_TEST_OP"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writer changes the policy until it is killed, and says what is on the disk for certain.
func writer(path, op string) {
	s := At(host.Real(), path, true)
	fmt.Println("begin")
	for i := 100; ; i++ {
		var err error
		switch op {
		case "migrate":
			_, err = s.Read(bg)
		case "restore":
			_, err = s.Restore(bg, "")
		default:
			var l policy.Layer
			if l, err = policy.ParseAssignments([]string{"mode=strict", "limits.processes=" + strconv.Itoa(i)}); err == nil {
				_, err = s.Set(bg, "set", l, nil)
			}
		}
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("done", i)
	}
}

// TestKilled: SIGKILL at random moments of making, changing, migrating and restoring
// leaves the old policy or the new one, nothing that was said to be done is lost, and it
// is never less than strict.
func TestKilled(t *testing.T) {
	tries := 60
	if os.Getenv("QSANDBOX_LONG") == "1" {
		tries = 1000
	}
	for _, op := range []string{"make", "set", "migrate", "restore"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			done := 0
			for range tries {
				done += kill(t, op)
			}
			t.Logf("%d tries, %d changes done before the kill", tries, done)
		})
	}
}

// kill starts a writer, kills it, and looks at what is left.
func kill(t *testing.T, op string) (done int) {
	t.Helper()
	dir, err := os.MkdirTemp(private(t), "k")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s := At(host.Real(), filepath.Join(dir, "policy.db"), true)
	prepare(t, s, op)
	cmd := osexec.Command(os.Args[0])
	cmd.Env = []string{"STORE_TEST_WRITER=" + s.path, "STORE_TEST_OP=" + op}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // it is about to start
	time.Sleep(time.Duration(rand.Int64N(int64(60 * time.Millisecond))))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	last := 0
	for lines.Scan() {
		if n, ok := strings.CutPrefix(lines.Text(), "done "); ok {
			last, _ = strconv.Atoi(n)
		} else {
			t.Errorf("%s: %s", op, lines.Text())
		}
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
	look(t, s, op, last)
	return max(0, last-99)
}

// prepare puts in place what there is before the kill.
func prepare(t *testing.T, s *Store, op string) {
	t.Helper()
	switch op {
	case "make":
		return
	case "set", "restore":
		if _, err := s.Set(bg, "set", assign(t, "mode=strict"), nil); err != nil {
			t.Fatal(err)
		}
		if op == "restore" {
			if _, err := s.Backup(bg, ""); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(s.path, 2000); err != nil {
				t.Fatal(err)
			}
			for _, end := range sides {
				_ = os.Remove(s.path + end)
			}
		}
	case "migrate":
		exec(t, s.path, settings, `INSERT INTO settings VALUES('sandbox_policy', '{"mode":"strict","windows":{"sandbox":{"mode":"read-only"}}}')`)
	}
}

// look reads what is left, as the next run would.
func look(t *testing.T, s *Store, op string, last int) {
	t.Helper()
	snap, found, serr := snapshot.Load(host.Real(), s.path)
	if serr == nil && found && !strings.Contains(string(snap.Policy), `"mode":"strict"`) {
		t.Errorf("%s: the snapshot that is left has %s", op, snap.Policy)
	}
	resp, err := s.Read(bg)
	if op == "restore" && last == 0 && err != nil { // killed before it was done: still damaged, and an error
		if _, err = s.Restore(bg, ""); err == nil {
			resp, err = s.Read(bg)
		}
	}
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	if !resp.Found {
		if op != "make" || last != 0 {
			t.Fatalf("%s: the policy is lost (last done: %d)", op, last)
		}
		return
	}
	if !strings.Contains(string(resp.Policy), `"mode":"strict"`) {
		t.Errorf("%s: what is left is %s", op, resp.Policy)
	}
	l, _, err := policy.ParseStored(resp.Policy)
	if err != nil {
		t.Fatal(err)
	}
	if last > 0 && (op == "make" || op == "set") && (l.Limits.Processes == nil || *l.Limits.Processes < last) {
		t.Errorf("%s: %d was done, and what is left is %s", op, last, resp.Policy)
	}
	if op == "migrate" && *l.WindowsMode != policy.ReadOnly {
		t.Errorf("migrate: %s", resp.Policy)
	}
}

// mounted runs f in a mount namespace of its own, with a small tmpfs at the directory
// that it gets. The thread ends with it.
func mounted(t *testing.T, size string, f func(dir string) error) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a mount in a namespace of its own")
	}
	dir := t.TempDir()
	result := make(chan error, 1)
	go func() { result <- inNamespace(dir, size, f) }()
	if err := <-result; err != nil {
		if err == errNoNamespace {
			t.Skip(err)
		}
		t.Fatal(err)
	}
}

var errNoNamespace = fmt.Errorf("no mount namespace can be made here")

func inNamespace(dir, size string, f func(string) error) error {
	runtime.LockOSThread() // and never unlock it: the thread goes with the goroutine
	if unix.Unshare(unix.CLONE_FS|unix.CLONE_NEWNS) != nil || unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") != nil {
		return errNoNamespace
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size+",mode=0700"); err != nil {
		return err
	}
	return f(dir)
}

// TestFullDisk: on a disk that is full the policy is still read, a change is an error, and
// a migration holds for the call alone.
func TestFullDisk(t *testing.T) {
	for _, c := range []struct{ name, value string }{
		{"current", `{"version":1,"mode":"strict","autoFallback":"manual"}`},
		{"to migrate", `{"mode":"strict","autoFallback":"retry"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			mounted(t, "300k", func(dir string) error {
				s := At(host.Real(), filepath.Join(dir, "policy.db"), true)
				exec(t, s.path, settings, `INSERT INTO settings VALUES('sandbox_policy', `+quote(c.value)+`)`)
				fill, err := os.Create(filepath.Join(dir, "fill"))
				if err != nil {
					return err
				}
				_, err = io.Copy(fill, zeros{})
				fill.Close()
				if err == nil {
					return fmt.Errorf("the disk does not fill up")
				}
				resp, err := s.Read(bg)
				if err != nil || !strings.Contains(string(resp.Policy), `"mode":"strict"`) || strings.Contains(c.value, "version") != (resp.Unsaved == "") {
					return fmt.Errorf("read: %+v %v", resp, err)
				}
				if _, err := s.Set(bg, "set", assign(t, "mode=compat", "docker.image="+strings.Repeat("x", 20000)), nil); fault.CodeOf(err) != fault.StoreFailed {
					return fmt.Errorf("set: %v", err)
				}
				if got := raw(t, s); got != c.value {
					return fmt.Errorf("left is %s", got)
				}
				// With room again all goes on.
				if err := os.Remove(fill.Name()); err != nil {
					return err
				}
				if _, err := s.Set(bg, "set", assign(t, "limits.processes=64"), nil); err != nil {
					return err
				}
				if got := raw(t, s); !strings.Contains(got, "strict") || !strings.Contains(got, "64") {
					return fmt.Errorf("then stored is %s", got)
				}
				return nil
			})
		})
	}
}

// TestFullDiskMakesNothing: a first policy on a full disk leaves nothing half done.
func TestFullDiskMakesNothing(t *testing.T) {
	mounted(t, "40k", func(dir string) error {
		s := At(host.Real(), filepath.Join(dir, "q", "policy.db"), true)
		if _, err := s.Set(bg, "set", assign(t, "mode=strict"), nil); fault.CodeOf(err) != fault.StoreFailed {
			return fmt.Errorf("set: %v", err)
		}
		if resp, err := s.Read(bg); err != nil || resp.Found {
			return fmt.Errorf("%+v %v", resp, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "q", "*")); len(left) != 0 {
			return fmt.Errorf("left behind: %q", left)
		}
		return nil
	})
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// TestReadOnlyDisk: the policy is read from a disk that cannot be written, whatever its
// journal was; a change is an error; a log that nobody can apply is an error, too.
func TestReadOnlyDisk(t *testing.T) {
	for _, c := range []struct {
		name, value string
		wal         bool
	}{
		{"rollback journal", `{"version":1,"mode":"strict","autoFallback":"manual"}`, false},
		{"write-ahead log", `{"version":1,"mode":"strict","autoFallback":"manual"}`, true},
		{"to migrate", `{"mode":"strict"}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			mounted(t, "2m", func(dir string) error {
				s := At(host.Real(), filepath.Join(dir, "policy.db"), true)
				exec(t, s.path, settings, `INSERT INTO settings VALUES('sandbox_policy', `+quote(c.value)+`)`)
				if c.wal {
					exec(t, s.path, `PRAGMA journal_mode=WAL`)
				}
				if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
					return err
				}
				resp, err := s.Read(bg)
				if err != nil || !strings.Contains(string(resp.Policy), `"mode":"strict"`) || strings.Contains(c.value, "version") != (resp.Unsaved == "") {
					return fmt.Errorf("read: %+v %v", resp, err)
				}
				if _, err := s.Set(bg, "set", assign(t, "mode=compat"), nil); fault.CodeOf(err) != fault.StoreFailed {
					return fmt.Errorf("set: %v", err)
				}
				return nil
			})
		})
	}
	t.Run("with a log", func(t *testing.T) {
		mounted(t, "2m", func(dir string) error {
			s := At(host.Real(), filepath.Join(dir, "policy.db"), true)
			other := filepath.Join(dir, "other.db")
			exec(t, other, settings, `PRAGMA journal_mode=WAL`)
			exec(t, s.path, settings, `INSERT INTO settings VALUES('sandbox_policy', '{"version":1,"mode":"compat","autoFallback":"manual"}')`, `PRAGMA journal_mode=WAL`)
			spit(t, s.path+"-wal", "what it says cannot be told")
			if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
				return err
			}
			if resp, err := s.Read(bg); err == nil {
				return fmt.Errorf("the log was not looked at: %+v", resp)
			}
			return nil
		})
	})
}

// TestOwnerAndMode: what others may write decides about no policy.
func TestOwnerAndMode(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give files away")
	}
	good := `{"version":1,"mode":"compat","autoFallback":"manual"}`
	for name, spoil := range map[string]func(s *Store) error{
		"file writable by all":      func(s *Store) error { return os.Chmod(s.path, 0o666) },
		"file writable by group":    func(s *Store) error { return os.Chmod(s.path, 0o660) },
		"directory writable by all": func(s *Store) error { return os.Chmod(filepath.Dir(s.path), 0o777) },
		"file of another":           func(s *Store) error { return os.Chown(s.path, 12345, 0) },
		"directory of another":      func(s *Store) error { return os.Chown(filepath.Dir(s.path), 12345, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			s := desktop(t, good)
			if _, err := s.Read(bg); err != nil { // the control, which also makes a snapshot
				t.Fatal(err)
			}
			if err := spoil(s); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Read(bg); fault.CodeOf(err) != fault.StoreFailed {
				t.Errorf("read: %v", err)
			}
			if _, _, err := snapshot.Load(host.Real(), s.path); fault.CodeOf(err) != fault.StoreFailed {
				t.Errorf("snapshot: %v", err)
			}
			if _, err := s.Set(bg, "set", assign(t, "mode=strict"), nil); fault.CodeOf(err) != fault.StoreFailed || raw(t, s) != good {
				t.Errorf("set: %v", err)
			}
		})
	}
}
