//go:build darwin || linux

package launch

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/keeper"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
)

// The test binary plays the keeper, and a launcher that can be killed.
func TestMain(m *testing.M) {
	if os.Args[0] == keeper.Name {
		keeper.Main()
	}
	if dir := os.Getenv("LAUNCH_AND_HANG"); dir != "" {
		k, err := startKept(context.Background(), wrappedPlan(dir, "sh", "-c", "echo up; sleep 300"), Options{})
		if err != nil {
			os.Exit(3)
		}
		_, _ = io.Copy(os.Stdout, k.proc.Stdout)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// wrapper stands for sandbox-exec: it reads the same options, shows what it was
// given, and executes the command. It keeps nothing from anybody.
const wrapper = `#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
  -f) profile=$2; shift 2 ;;
  -D) params="$params $2"; shift 2 ;;
  --) shift; break ;;
  *) echo "sandbox-exec: usage" >&2; exit 64 ;;
  esac
done
grep -q refuse "$profile" && { echo "sandbox-exec: refuse: unbound variable" >&2; exit 65; }
grep -q nested "$profile" && { echo "sandbox-exec: sandbox_apply: Operation not permitted" >&2; exit 71; }
grep -q forbid "$profile" && { echo "sandbox-exec: execvp() of '$1' failed: Operation not permitted" >&2; exit 71; }
[ -e "$1" ] || { echo "sandbox-exec: execvp() of '$1' failed: No such file or directory" >&2; exit 71; }
export PARAMS="$params" PROFILE="$profile"
exec "$@"
`

func wrappedPlan(dir string, argv ...string) *plan.Plan {
	exe, err := exec.LookPath(argv[0])
	if err != nil {
		exe = argv[0]
	}
	return &plan.Plan{Backend: "macos-seatbelt", Exe: exe, Argv: argv, Cwd: "/", Env: []string{"PATH=/usr/bin:/bin"},
		Outer:   &plan.Outer{Program: filepath.Join(dir, "sandbox-exec")},
		Profile: &plan.Profile{Text: "(version 1)\n", Root: filepath.Join(dir, "state"), Tmp: "TMP", Run: "RUN", Dir: "DIR", TTY: "TTY"}}
}

func rig(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sandbox-exec"), []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func outcome(t *testing.T, p *plan.Plan) (Result, string) {
	t.Helper()
	k, err := startKept(context.Background(), p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan string, 1)
	go func() { b, _ := io.ReadAll(k.proc.Stdout); out <- string(b) }()
	r := k.wait()
	return r, <-out
}

func left(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	list, err := os.ReadDir(filepath.Join(dir, "state", "run"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestProfileIsPrivateAndRemoved(t *testing.T) { // MAC-04, LEAK-03
	dir := rig(t)
	r, out := outcome(t, wrappedPlan(dir, "sh", "-c", `for f in "$PROFILE" "${PROFILE%/*}" "$TMPDIR"; do ls -ld "$f" | cut -c1-10; done; cat "$PROFILE"; echo $PARAMS; touch "$TMPDIR/x"; mkdir "$TMPDIR/d" && touch "$TMPDIR/d/f" && chmod 0 "$TMPDIR/d"; ln -s / "$TMPDIR/root"; exit 3`))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if r.Code != 3 || len(lines) != 5 {
		t.Fatalf("%+v %q", r, out)
	}
	if !slices.Equal(lines[:4], []string{"-rw-------", "drwx------", "drwx------", "(version 1)"}) {
		t.Errorf("%q", lines)
	}
	root := filepath.Join(dir, "state", "run")
	for _, want := range []string{"TMP=" + root, "RUN=" + root, "DIR=" + root, "TTY=/dev/null"} {
		if !strings.Contains(lines[4], want) {
			t.Errorf("%q misses %q", lines[4], want)
		}
	}
	if n := left(t, dir); len(n) > 0 {
		t.Errorf("left behind: %v", n)
	}
}

// TestAfterACrash: with the launcher killed, the command is ended, and the next start
// removes what is left.
func TestAfterACrash(t *testing.T) { // FS-07
	dir := rig(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "LAUNCH_AND_HANG="+dir)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(pipe, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	reap(filepath.Join(dir, "state", "run"))
	if n := left(t, dir); len(n) != 2 {
		t.Errorf("what belongs to a living launcher was touched: %v", n)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for until := time.Now().Add(10 * time.Second); len(left(t, dir)) > 0 && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		outcome(t, wrappedPlan(dir, "true"))
	}
	if n := left(t, dir); len(n) > 0 {
		t.Errorf("left behind: %v", n)
	}
}

func TestReapTouchesNothingElse(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "123"), 0o700); err != nil { // no record
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "123"), filepath.Join(dir, "x.lock")); err != nil {
		t.Fatal(err)
	}
	reap(dir)
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("%v", list)
	}
}

func TestRootOfSomebodyElse(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := newRunDir(dir); err == nil {
		t.Error("a directory that others can write was used")
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := newRunDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	d.remove()
}

func TestWhatTheWrapperSays(t *testing.T) {
	for text, want := range map[string]fault.Code{"(refuse)": fault.LaunchFailed, "(nested)": fault.LaunchFailed, "(forbid)": fault.CommandNotExecutable} {
		dir := rig(t)
		p := wrappedPlan(dir, "true")
		p.Profile.Text = text
		_, err := startKept(context.Background(), p, Options{})
		if fault.CodeOf(err) != want {
			t.Errorf("%s: %v", text, err)
		}
		if (text == "(nested)") != Firm(err) && want == fault.LaunchFailed {
			t.Errorf("%s: firm %v: %v", text, Firm(err), err)
		}
		if n := left(t, dir); len(n) > 0 {
			t.Errorf("%s: left behind %v", text, n)
		}
	}
	dir := rig(t)
	if _, err := startKept(context.Background(), wrappedPlan(dir, "/no/such/program"), Options{}); fault.CodeOf(err) != fault.CommandNotFound {
		t.Errorf("%v", err)
	}
	p := wrappedPlan(dir, "true")
	p.TTY, p.Profile.Text = true, "(refuse)"
	if _, err := startKept(context.Background(), p, Options{}); err == nil || !strings.Contains(err.Error(), "unbound variable") {
		t.Errorf("on a terminal: %v", err)
	}
}

// TestNeverWithoutItsProfile: what says that it isolates is not started alone.
func TestNeverWithoutItsProfile(t *testing.T) {
	dir := rig(t)
	mark := filepath.Join(dir, "ran")
	for name, edit := range map[string]func(*plan.Plan){
		"no profile":          func(p *plan.Plan) { p.Profile = nil },
		"no program":          func(p *plan.Plan) { p.Outer = nil },
		"neither":             func(p *plan.Plan) { p.Profile, p.Outer = nil, nil },
		"another user":        func(p *plan.Plan) { p.User.Switch = true },
		"program is missing":  func(p *plan.Plan) { p.Outer.Program = "/no/such/sandbox-exec" },
		"link in a directory": func(p *plan.Plan) { p.Create = []string{filepath.Join(dir, "link", "made")} },
	} {
		if name == "link in a directory" {
			if err := os.Symlink("/tmp", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
		}
		p := wrappedPlan(dir, "touch", mark)
		edit(p)
		if _, err := startKept(context.Background(), p, Options{}); err == nil {
			t.Errorf("%s: started", name)
		}
		if _, err := os.Lstat(mark); err == nil {
			t.Fatalf("%s: the command ran", name)
		}
	}
	p := wrappedPlan(dir, "touch", mark) // the twin
	p.Create = []string{filepath.Join(dir, "a", "b")}
	if r, _ := outcome(t, p); r.Code != 0 {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{mark, filepath.Join(dir, "a", "b")} {
		if _, err := os.Lstat(want); err != nil {
			t.Error(err)
		}
	}
}

func TestDirectPlan(t *testing.T) {
	p := wrappedPlan(t.TempDir(), "sh", "-c", "echo $0 $TMPDIR; kill -TERM $$")
	p.Profile, p.Outer, p.Isolation.Direct = nil, nil, true
	if r, out := outcome(t, p); r.Signal != int(syscall.SIGTERM) || r.Code != 143 || out != "sh\n" {
		t.Errorf("%+v %q", r, out)
	}
	p.Exe, p.Argv = "/no/such/program", []string{"x"}
	if _, err := startKept(context.Background(), p, Options{}); fault.CodeOf(err) != fault.CommandNotFound {
		t.Errorf("%v", err)
	}
	p.Exe = "/etc/passwd"
	if _, err := startKept(context.Background(), p, Options{}); fault.CodeOf(err) != fault.CommandNotExecutable {
		t.Errorf("%v", err)
	}
}

func TestTryKept(t *testing.T) {
	dir := rig(t)
	if err := tryKept(context.Background(), wrappedPlan(dir, "true")); err != nil {
		t.Error(err)
	}
	if err := tryKept(context.Background(), wrappedPlan(dir, "false")); err == nil {
		t.Error("a command that fails was taken for a sandbox that works")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := tryKept(ctx, wrappedPlan(dir, "sleep", "300")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if n := left(t, dir); len(n) > 0 {
		t.Errorf("left behind %v", n)
	}
}
