package backendtest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// UserName is the ordinary user that tests make when they run as root.
const UserName = "qsandbox-test"

// AsOrdinaryUser runs the tests of this binary again as an ordinary user, which
// is made if need be. Skips of the run are logged, its failures are ours.
func AsOrdinaryUser(t *testing.T, skip string, more ...string) {
	NeedRoot(t)
	uid, gid := ordinaryUser(t)
	dir, err := os.MkdirTemp(base, "user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, dir) })
	home := filepath.Join(dir, "account")
	for _, d := range []string{dir, home} {
		_ = os.Mkdir(d, 0o755)
		if err := os.Chown(d, uid, gid); err != nil {
			t.Fatal(err)
		}
		_ = os.Chmod(d, 0o755)
	}
	binary := filepath.Join(base, "user.test")
	copyBinary(t, binary)
	args := append([]string{"-test.v", "-test.skip=" + skip, "-test.timeout=" + remaining(t).String()}, more...)
	cmd := exec.Command(binary, args...)
	cmd.Dir = workDir(t)
	cmd.Env = []string{"HOME=" + home, "USER=" + UserName, "SHELL=/bin/sh", "LANG=C.UTF-8", baseEnv + "=" + dir,
		"PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"QSANDBOX_REQUIRE=" + os.Getenv("QSANDBOX_REQUIRE"), "QSANDBOX_LONG=" + os.Getenv("QSANDBOX_LONG"), secondEnv + "=" + os.Getenv(secondEnv)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), Groups: []uint32{}}}
	out, err := cmd.CombinedOutput()
	showRun(t, string(out))
	if err != nil {
		t.Errorf("the tests as %s failed: %v", UserName, err)
	}
}

// showRun shows failures in full and skips by their reason.
func showRun(t *testing.T, out string) {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "--- SKIP") || strings.Contains(line, "--- FAIL") {
			t.Log(strings.TrimRight(line, "\n"))
		}
	}
	if strings.Contains(out, "FAIL") || strings.Contains(out, "panic:") {
		t.Log(failures(out))
	}
}

// failures leaves out the lines of tests that pass.
func failures(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		s := strings.TrimSpace(line)
		if strings.HasPrefix(s, "=== ") || strings.HasPrefix(s, "--- PASS") || strings.HasPrefix(s, "--- SKIP") {
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

// makeUser makes the ordinary user unless it is there.
func makeUser() error {
	if exec.Command("id", "-u", UserName).Run() == nil {
		return nil
	}
	msg, err := exec.Command("useradd", "--create-home", "--home-dir", "/var/lib/"+UserName, "--shell", "/bin/sh", UserName).CombinedOutput()
	if err != nil {
		return fmt.Errorf("useradd: %w: %s", err, msg)
	}
	return nil
}

func ordinaryUser(t *testing.T) (uid, gid int) {
	t.Helper()
	if err := makeUser(); err != nil {
		Missing(t, "useradd", "cannot make an ordinary user: "+err.Error())
	}
	u, err := exec.Command("id", "-u", UserName).Output()
	if err != nil {
		t.Fatal(err)
	}
	g, err := exec.Command("id", "-g", UserName).Output()
	if err != nil {
		t.Fatal(err)
	}
	return number(t, u), number(t, g)
}

func number(t *testing.T, b []byte) int {
	t.Helper()
	n := 0
	for _, c := range strings.TrimSpace(string(b)) {
		n = 10*n + int(c-'0')
	}
	return n
}

// copyBinary copies this test binary to where every user can run it.
func copyBinary(t *testing.T, to string) {
	t.Helper()
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

func remaining(t *testing.T) time.Duration {
	if d, ok := t.Deadline(); ok {
		return time.Until(d).Truncate(time.Second)
	}
	return 10 * time.Minute
}

func workDir(t *testing.T) string {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return wd
}
