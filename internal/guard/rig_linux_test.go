package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// rig runs programs under the filter, with and without a Guard.
type rig struct {
	t     *testing.T
	root  string // the writable root, and the working directory
	user  *User  // run as this one (the test is root)
	ns    bool   // in a user and a pid namespace
	cfg   func(*Config)
	stdin *os.File

	mu      sync.Mutex
	denials []Denial
	guard   *Guard // the last one, closed
}

const nobody = 65534

// ways are the identities that a command has: see the product's launch package.
func ways(t *testing.T, f func(t *testing.T, r *rig)) {
	kinds := []struct {
		name string
		user *User
		ns   bool
	}{{"same-user", nil, false}, {"namespace", nil, true}}
	if os.Geteuid() == 0 {
		kinds = append(kinds, []struct {
			name string
			user *User
			ns   bool
		}{{"other-user", &User{UID: nobody, GID: nobody}, false}, {"other-user-namespace", &User{UID: nobody, GID: nobody}, true}}...)
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			if k.ns && !canNamespace() {
				t.Skip("no user namespaces here")
			}
			f(t, newRig(t, k.user, k.ns))
		})
	}
}

var canNamespace = sync.OnceValue(func() bool {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
	return cmd.Run() == nil
})

func newRig(t *testing.T, user *User, ns bool) *rig {
	dir, err := os.MkdirTemp("", "guard")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	os.Chmod(dir, 0o755)
	r := &rig{t: t, root: filepath.Join(dir, "ws"), user: user, ns: ns}
	r.dir("")
	return r
}

// dir makes a directory in the root, owned by the command's user.
func (r *rig) dir(name string) string {
	r.t.Helper()
	path := filepath.Join(r.root, name)
	if err := os.MkdirAll(path, 0o755); err != nil {
		r.t.Fatal(err)
	}
	for p := path; len(p) >= len(r.root); p = filepath.Dir(p) {
		r.own(p)
	}
	return path
}

func (r *rig) file(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.dir(filepath.Dir(name)), filepath.Base(name))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	r.own(path)
	return path
}

func (r *rig) own(path string) {
	if r.user != nil {
		os.Lchown(path, r.user.UID, r.user.GID)
	}
}

// start starts the child and gives the function that lets it go.
func (r *rig) start(cmd *exec.Cmd, o order) (done func()) {
	r.t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "theirs")
	cmd.ExtraFiles = []*os.File{theirs}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	theirs.Close()
	defer unix.Close(fds[0])
	var b [1]byte
	oob := make([]byte, 64)
	unix.SetsockoptTimeval(fds[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 20})
	n, oobn, _, _, err := unix.Recvmsg(fds[0], b[:], oob, unix.MSG_CMSG_CLOEXEC)
	for err == unix.EINTR {
		n, oobn, _, _, err = unix.Recvmsg(fds[0], b[:], oob, unix.MSG_CMSG_CLOEXEC)
	}
	if n != 1 {
		cmd.Process.Kill()
		cmd.Wait()
		r.t.Fatalf("the child did not start: %v %v", err, cmd.Stderr)
	}
	var g *Guard
	if o.Notify {
		g = r.supervise(oob[:oobn])
	}
	unix.Write(fds[0], []byte{1})
	return func() {
		if g == nil {
			return
		}
		if err := g.Close(); err != nil {
			r.t.Error(err)
		}
		r.guard = g
	}
}

func (r *rig) supervise(oob []byte) *Guard {
	r.t.Helper()
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(msgs) != 1 {
		r.t.Fatal("no listener came", err)
	}
	got, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		r.t.Fatal(err)
	}
	cfg := Config{Roots: []string{r.root}, User: r.user, OnDenied: func(d Denial) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.denials = append(r.denials, d)
	}}
	if r.cfg != nil {
		r.cfg(&cfg)
	}
	g, err := Start(os.NewFile(uintptr(got[0]), "listener"), cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	return g
}

// child prepares the command.
func (r *rig) child(o order) *exec.Cmd {
	o.Proc = r.jailed()
	if r.jailed() {
		o.Jail = filepath.Dir(r.root)
	}
	text, _ := json.Marshal(o)
	cmd := exec.Command("/proc/self/exe")
	cmd.Args[0] = os.Args[0]
	cmd.Dir = r.root
	path := "PATH=/usr/bin:/bin:" + os.Getenv("PATH") // where version managers put their shims first, python3 takes half a second to start
	cmd.Env = append(os.Environ(), path, childEnv+"="+string(text), "HOME="+r.root, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	uid, gid := os.Geteuid(), os.Getegid()
	if r.user != nil {
		uid, gid = r.user.UID, r.user.GID
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	a := cmd.SysProcAttr
	if r.jailed() {
		a.Cloneflags = unix.CLONE_NEWNS
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	}
	if r.ns {
		a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		if os.Geteuid() == 0 {
			a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 65536}}
			a.GidMappings = a.UidMappings
			a.GidMappingsEnableSetgroups = true
		}
	}
	return cmd
}

// jailed tells whether the child can have a mount namespace of its own.
func (r *rig) jailed() bool { return r.ns || os.Geteuid() == 0 }

// run runs a program and gives what it printed.
func (r *rig) run(notify bool, args ...string) (out string, err error) {
	r.t.Helper()
	return r.order(order{Notify: notify, Exec: args})
}

func (r *rig) order(o order) (out string, err error) {
	r.t.Helper()
	cmd := r.child(o)
	// A pipe of the command's own user, so that it can be opened again by name.
	out1, in1, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if r.user != nil {
		in1.Chown(r.user.UID, r.user.GID)
	}
	cmd.Stdout, cmd.Stderr = in1, in1
	var b bytes.Buffer
	read := make(chan struct{})
	go func() { b.ReadFrom(out1); out1.Close(); close(read) }()
	if r.stdin != nil {
		cmd.Stdin = r.stdin
	}
	done := r.start(cmd, o)
	in1.Close()
	timer := time.AfterFunc(60*time.Second, func() { cmd.Process.Kill() })
	err = cmd.Wait()
	timer.Stop()
	done()
	<-read
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s", o.Exec, err, b.String())
	}
	return b.String(), err
}

// sh runs a script under the Guard and fails the test if it fails.
func (r *rig) sh(script string) string {
	r.t.Helper()
	out, err := r.run(true, "sh", "-ec", script)
	if err != nil {
		r.t.Errorf("%s\n%v", script, err)
	}
	return out
}

// refused tells whether a denial by a row was told of.
func (r *rig) refused(rule string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.denials, func(d Denial) bool { return d.Rule == rule })
}

func (r *rig) rules() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, d := range r.denials {
		out = append(out, fmt.Sprintf("%s %s %s", d.Op, strings.TrimPrefix(d.Path, r.root), d.Rule))
	}
	return strings.Join(out, "; ")
}
