package backendtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/launch"
)

// baseEnv hands the base directory to a test binary that runs as another user.
const baseEnv = "QSANDBOX_TEST_BASE"

// secondEnv makes every sandbox start the portable way, as on arm64.
const secondEnv = "QSANDBOX_TEST_SECOND"

// base is where this process makes its directories; set by Main.
var base string

// Options are what differs between packages that use Main.
type Options struct {
	Home bool // HOME is a directory of the test's own, with a few false credentials
}

// Main is a TestMain: it plays the roles that tests ask of their own binary,
// makes the base directory and removes it at the end.
//
// The base lies outside /tmp and /var/tmp, which are private inside a sandbox,
// and can be read by every user.
func Main(m *testing.M, opt Options) int {
	launch.EverySecondStart = os.Getenv(secondEnv) == "1"
	if role := os.Getenv(roleEnv); role != "" {
		return play(role)
	}
	unix.Umask(0o022)
	if base = os.Getenv(baseEnv); base == "" {
		dir, err := makeBase()
		if err != nil {
			fmt.Fprintln(os.Stderr, "no place for test directories:", err)
			return 2
		}
		base = dir
		defer os.RemoveAll(dir)
	}
	if opt.Home {
		if err := makeHome(filepath.Join(base, "home"), ".ssh", ".aws"); err != nil {
			fmt.Fprintln(os.Stderr, "home of decoys:", err)
			return 2
		}
		os.Setenv("HOME", filepath.Join(base, "home"))
		os.Unsetenv("XDG_CACHE_HOME")
	} else {
		os.Setenv("XDG_CACHE_HOME", filepath.Join(base, "cache"))
	}
	for _, k := range []string{"SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "GOFLAGS"} {
		os.Unsetenv(k)
	}
	os.Setenv("HOST_SECRET", Secret)
	if os.Geteuid() == 0 {
		_ = makeUser() // now, as accounts are read once; a test that needs it says why it failed
	}
	stop := bystander()
	defer stop()
	return m.Run()
}

// bystander is a process of the host with a secret in its environment and its arguments.
func bystander() (stop func()) {
	cmd := exec.Command("/bin/bash", "-c", "read x", "ARG-"+Secret)
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return func() {}
	}
	return func() { in.Close(); _ = cmd.Wait() }
}

// Secret is what no command may get to see.
const Secret = "TOP-SECRET-9f2c"

// Base is the directory of this process's fixtures.
func Base() string { return base }

func makeBase() (string, error) {
	var last error
	for _, parent := range []string{"/srv", "/var/lib", os.Getenv("HOME"), "."} {
		if parent == "" {
			continue
		}
		dir, err := os.MkdirTemp(parent, "qsandbox-test-")
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		if err == nil {
			err = os.Chmod(dir, 0o755)
		}
		if err == nil {
			return filepath.EvalSymlinks(dir)
		}
		last = err
	}
	return "", last
}
